#pragma once
// LadderBatcher: a geometric ladder of merges over pages of the pool.
#include <memory>
#include <vector>

#include "weir/delta/batcher.h"
#include "weir/delta/leaf_batch.h"

namespace weir::delta {

struct LadderOptions {
  int64_t chunk_bytes = 2 << 20;  ///< What is sorted at once, and the leaves of chains.
};

/// Updates are sorted a chunk at a time; each chunk is a chain, and two chains become one when the
/// younger has grown to half of the older. All of it can be evicted but the chunk being filled.
///
/// Threads: one.
class LadderBatcher final : public Batcher {
 public:
  /// `lower`: where its first batch begins.
  LadderBatcher(mem::Pool& pool, LadderOptions options, Frontier lower = Time{0});
  ~LadderBatcher() override;

  Status Push(const table::EncodedRows& rows, Time time, Diff diff) override;
  /// As Push(), of one update; table::kRowSlack bytes after its row are readable.
  Status Add(const Update& update);
  Result<std::unique_ptr<Batch>> Seal(Frontier upper) override;
  /// As Seal(): all batches of this batcher are in leaves.
  Result<std::unique_ptr<LeafBatch>> SealLeaves(Frontier upper);

 private:
  struct Chain {
    std::unique_ptr<LeafBatch> updates;
    Time last_time = 0;  // No update is later.
    int depth = 0;       // Merges behind it.
  };

  Status Flush();
  Status PushChain(Chain chain);
  Status MergeLastTwo();
  Result<std::unique_ptr<LeafBatch>> Split(Chain all, Description description);
  std::unique_ptr<LeafBatchBuilder> NewBuilder(int depth) const;

  mem::Pool& pool_;
  const LadderOptions options_;
  std::unique_ptr<class UpdateBuffer> buffer_;
  std::vector<Chain> chains_;  // Each more than twice as heavy as the one after it.
  Frontier lower_;
};

}  // namespace weir::delta
