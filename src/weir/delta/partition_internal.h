#pragma once
// RangePartition: which of many ranges of rows a row falls into.
#include <span>
#include <vector>

#include "weir/delta/record_internal.h"

namespace weir::delta {

/// Ranges of about the same size, by a sample of the rows.
///
/// A row's place is that of its prefix (eight bytes behind the bytes that all of the sample share)
/// among buckets of equal width, some of which make up a range: one subtraction, one shift and one
/// look into a table.
///
/// Threads: any, once made.
class RangePartition {
 public:
  /// `sample` is put in order. Requires: at least one row; range_count from 1 to kMostRanges.
  RangePartition(std::span<Bytes> sample, int range_count);

  static constexpr int kMostRanges = 4096;

  int range_count() const { return range_count_; }
  /// From 0 up, rising with the rows. Requires: as Prefix().
  int Of(const uint8_t* row, int64_t size) const {
    uint64_t prefix;
    if (shared_.empty()) [[likely]] {
      prefix = Prefix(row, size);
    } else {
      const int side = Compare(row, size);
      if (side != 0) return side < 0 ? 0 : range_count_ - 1;
      prefix = PrefixBehindShared(row, size);
    }
    if (prefix <= least_) return 0;
    const uint64_t bucket = (prefix - least_) >> shift_;
    return range_of_[bucket < range_of_.size() ? bucket : range_of_.size() - 1];
  }

 private:
  static constexpr int kBucketBits = 13;

  // Negative, 0, positive: the row comes before, among or after those that begin as all of the
  // sample do.
  int Compare(const uint8_t* row, int64_t size) const;
  uint64_t PrefixBehindShared(const uint8_t* row, int64_t size) const;

  std::vector<uint8_t> shared_;
  uint64_t least_ = 0;
  int shift_ = 0;
  std::vector<uint16_t> range_of_;
  int range_count_ = 1;
};

}  // namespace weir::delta
