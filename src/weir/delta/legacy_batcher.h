#pragma once
// LegacyBatcher: the batcher that others are measured against.
#include <memory>
#include <vector>

#include "weir/delta/batcher.h"
#include "weir/mem/block_allocator.h"

namespace weir::delta {

/// A geometric ladder of merges over columnar chunks, as Materialize built arrangements before its
/// pager ("columnation"; docs/decisions/legacy-batcher.md): rows are handles of 24 bytes, of which
/// short ones hold the bytes and others point into an arena; updates are sorted in buffers, copied
/// into chunks of 64 KiB of handles, and copied again by each merge and by the build of the batch.
/// All of it is charged, none of it can be evicted: under pressure the kernel swaps.
class LegacyBatcher final : public Batcher {
 public:
  explicit LegacyBatcher(mem::BlockAllocator& blocks);
  ~LegacyBatcher() override;

  Status Push(const table::EncodedRows& rows, Time time, Diff diff) override;
  Result<std::unique_ptr<Batch>> Seal(Frontier upper) override;

 private:
  struct Chain {
    std::vector<std::unique_ptr<class LegacyChunk>> chunks;
    int64_t updates = 0;
  };
  class Input;

  std::unique_ptr<LegacyChunk> NewChunk();
  void Recycle(std::unique_ptr<LegacyChunk> chunk);
  void FlushBuffer();
  void Append(Chain& chain, const struct LegacyUpdate& update, Diff diff);
  void PushChain(Chain chain);
  void MergeLastTwo();
  void Split(Chain all, Frontier upper, Chain& shipped);
  std::unique_ptr<Batch> Build(const Chain& shipped, Description description);

  mem::BlockAllocator& blocks_;
  std::vector<std::unique_ptr<LegacyChunk>> recycled_;
  std::unique_ptr<LegacyChunk> buffer_;  // Being filled, not sorted.
  std::vector<Chain> chains_;            // Each more than twice as heavy as the one after it.
  Frontier lower_ = Time{0};
};

}  // namespace weir::delta
