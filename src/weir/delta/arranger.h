#pragma once
// Arranger: rows from the workers that read them to the shards that keep them.
#include <memory>
#include <string_view>
#include <vector>

#include "weir/delta/batcher.h"
#include "weir/delta/ladder_batcher.h"
#include "weir/delta/snapshot_sorter.h"
#include "weir/mem/block_allocator.h"

namespace weir::delta {

/// The variants of docs/decisions/legacy-batcher.md and range-sort.md.
enum class BatcherKind : uint8_t {
  kSnapshot,  ///< Sorts the snapshot once; ours.
  kLegacy,    ///< A ladder in the heap; what ratios are to.
  kPaged,     ///< A ladder over the pool's pages.
};

std::string_view BatcherName(BatcherKind kind);

struct ArrangerOptions {
  BatcherKind kind = BatcherKind::kSnapshot;
  int worker_count = 1;
  Time as_of = 0;
  SnapshotOptions snapshot;
  LadderOptions ladder;
};

/// Takes the updates of one arrangement from as many workers as it has shards. Every worker calls,
/// in this order and from its own thread: Push() and Receive() as often as it likes; Finish(); when
/// all workers have finished, Receive() and Seal() of its own shard; and so on for later times.
/// Until all have finished, all go on receiving: others wait for room in their inboxes.
///
/// A key's shard is ShardOf() it. What is on its way between workers is charged, and bounded: who
/// finds a shard's inbox full takes in what is in its own first.
class Arranger {
 public:
  virtual ~Arranger() = default;

  /// Errors: of Batcher::Push and SnapshotSorter::Push; after one the arranger is of no more use.
  virtual Status Push(int worker, const table::EncodedRows& rows, Time time, Diff diff) = 0;
  /// Takes in what others sent to this worker's shard. Errors: of Batcher::Push.
  virtual Status Receive(int worker) = 0;
  /// Sends what is still held back. Errors: of Batcher::Push.
  virtual Status Finish(int worker) = 0;
  /// Errors: of Batcher::Seal.
  virtual Result<std::unique_ptr<Batch>> Seal(int worker, Frontier upper) = 0;
};

std::unique_ptr<Arranger> NewArranger(const ArrangerOptions& options, mem::Pool& pool,
                                      mem::BlockAllocator& blocks);

}  // namespace weir::delta
