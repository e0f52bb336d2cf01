#pragma once
// SnapshotSorter: rows that all came at one time, into one sorted batch.
#include <memory>
#include <string>
#include <vector>

#include "weir/delta/leaf_batch.h"
#include "weir/table/row_codec.h"

namespace weir::delta {

struct SnapshotOptions {
  int64_t leaf_bytes = 128 << 10;    ///< Of a leaf's page.
  int64_t staging_bytes = 64 << 10;  ///< Of the pages in which rows wait, one per range.
  int64_t range_bytes = 1 << 20;     ///< What a range is to hold: it is sorted within the cache.
  int64_t expected_bytes = 0;        ///< Of all rows; 0 when nobody knows.
};

/// Rows are copied once into pages by range of keys, and once more, when all are there, range by
/// range from the sorted pages into the leaves. Both copies go through memory from start to end;
/// sorting itself only touches a range that fits into the cache.
///
/// While rows come in order they go straight into leaves.
///
/// Threads: one.
class SnapshotSorter {
 public:
  SnapshotSorter(mem::Pool& pool, SnapshotOptions options);
  ~SnapshotSorter();

  /// Errors: of mem::Pool::New; rows before the one that found no room are in.
  Status Push(const table::EncodedRows& rows);
  int64_t row_count() const { return row_count_; }
  int64_t row_bytes() const { return row_bytes_; }

  /// All rows at `time`, each as often as it was pushed. The sorter is of no more use.
  Result<std::unique_ptr<LeafBatch>> Seal(Time time, Description description);

 private:
  class Sealer;

  Status Stage(Bytes row, int32_t key_size);
  Status ChooseRanges();
  Result<std::vector<class StagedRows>> Distribute(StagedRows rows, int64_t expected_bytes);
  Result<std::vector<std::string>> SampleOf(const StagedRows& rows) const;

  mem::Pool& pool_;
  const SnapshotOptions options_;
  int64_t row_count_ = 0;
  int64_t row_bytes_ = 0;
  std::unique_ptr<class RangePartition> partition_;  // Null until there is a sample.
  std::vector<StagedRows> ranges_;                    // One until then.
};

}  // namespace weir::delta
