#pragma once
// SnapshotSorter: rows that all came at one time, into sorted batches.
#include <memory>
#include <mutex>
#include <vector>

#include "weir/delta/leaf_batch.h"
#include "weir/sys/stop.h"
#include "weir/table/row_codec.h"

namespace weir::delta {

struct SnapshotOptions {
  int64_t leaf_bytes = 64 << 10;     ///< Of a leaf's page.
  int64_t staging_bytes = 64 << 10;  ///< Of the pages in which rows wait, one per range and lane.
  int64_t range_bytes = 1 << 20;     ///< What a range is to hold: it is sorted within the cache.
  int64_t expected_bytes = 0;        ///< Of all rows; 0 when nobody knows.
  const sys::Stop* stop = nullptr;   ///< Looked at from range to range; null: nobody stops it.
  int sorter_count = 1;              ///< That share the pool at the same time.
};

/// The shard that a key belongs to. All arrangements spread keys alike.
int ShardOf(Bytes key, int shard_count);

/// Rows are copied once into pages by shard and range of keys, and once more, when all are there,
/// range by range from the sorted pages into the leaves of the shard's batch. Both copies go
/// through memory from start to end; sorting itself only touches a range that fits into the cache.
///
/// Rows that come in order go straight into leaves, for as long as they do.
///
/// Threads: each lane one; Seal() of different shards any, after all lanes were closed.
class SnapshotSorter {
 public:
  /// All rows are at `time`.
  SnapshotSorter(mem::Pool& pool, SnapshotOptions options, Time time, int shard_count,
                 int lane_count);
  ~SnapshotSorter();

  /// Rows from lane `lane`, one thread's way in.
  /// Errors: of mem::Pool::New and mem::Page::Read; after one the sorter is of no more use.
  Status Push(int lane, const table::EncodedRows& rows);
  /// No rows will follow in this lane.
  Status Close(int lane);

  /// All rows of one shard, each as often as it was pushed. Once per shard.
  Result<std::unique_ptr<LeafBatch>> Seal(int shard, Description description);

 private:
  class Lane;

  bool HasRoomForRuns() const;
  Result<std::shared_ptr<const class RangePartition>> RangesFor(const class StagedRows& rows,
                                                                int64_t bytes);
  Result<std::unique_ptr<LeafBatch>> MergeAll(std::vector<std::unique_ptr<LeafBatch>> parts,
                                              Description description) const;

  mem::Pool& pool_;
  const SnapshotOptions options_;
  const Time time_;
  const int shard_count_;
  std::vector<std::unique_ptr<Lane>> lanes_;
  // ---- guarded by mutex_; once set, the same for all lanes
  std::mutex mutex_;
  std::shared_ptr<const RangePartition> partition_;
};

}  // namespace weir::delta
