#pragma once
// RangeSort: ranges of rows, sorted one after the other into a batch.
#include <memory>
#include <vector>

#include "weir/delta/partition_internal.h"
#include "weir/delta/snapshot_sorter.h"
#include "weir/delta/sort_internal.h"
#include "weir/delta/staged_rows_internal.h"

namespace weir::delta {

/// Ranges for rows of which these are some, `expected_bytes` of all rows to be spread over them,
/// with `pages_per_range` being filled at a time.
/// Errors: of mem::Pool::New and mem::Page::Read. Requires: `rows` is closed and not empty.
Result<std::shared_ptr<const RangePartition>> ChooseRanges(const StagedRows& rows,
                                                           mem::Pool& pool,
                                                           const SnapshotOptions& options,
                                                           int64_t expected_bytes,
                                                           int64_t pages_per_range);

/// Threads: one.
class RangeSort {
 public:
  /// `shard_count` of them may be at work at once.
  RangeSort(mem::Pool& pool, const SnapshotOptions& options, int shard_count, Time time)
      : pool_(pool),
        options_(options),
        shard_count_(shard_count),
        time_(time),
        builder_(pool, options.leaf_bytes, kLeafDepth) {}

  /// Requires: the range comes after the last one, and is closed.
  Status Add(StagedRows range);
  Result<std::unique_ptr<LeafBatch>> Finish(Description description) {
    return builder_.Finish(description);
  }

 private:
  static constexpr int kLeafDepth = 1;

  Status AddAtOnce(const StagedRows& range);
  Status AddInParts(StagedRows range);
  Status AddByMerging(StagedRows range);
  Status Reserve(int64_t rows);
  Status Emit(std::span<const SortEntry> sorted);

  mem::Pool& pool_;
  const SnapshotOptions& options_;
  const int shard_count_;
  const Time time_;
  LeafBatchBuilder builder_;
  mem::OpenPage entries_page_;
  mem::OpenPage spare_page_;
  std::span<SortEntry> entries_;
  std::span<SortEntry> spare_;
};

}  // namespace weir::delta
