#include <algorithm>
#include <bit>

#include "weir/base/assert.h"
#include "weir/delta/partition_internal.h"

namespace weir::delta {
namespace {

size_t SharedBytes(Bytes a, Bytes b) {
  const auto differ = std::mismatch(a.begin(), a.end(), b.begin(), b.end());
  return static_cast<size_t>(differ.first - a.begin());
}

// As Prefix(), of rows without slack.
uint64_t PrefixOf(Bytes row) {
  uint8_t bytes[8] = {};
  std::memcpy(bytes, row.data(), std::min<size_t>(row.size(), 8));
  uint64_t prefix;
  std::memcpy(&prefix, bytes, sizeof prefix);
  return __builtin_bswap64(prefix);
}

}  // namespace

RangePartition::RangePartition(std::span<Bytes> sample, int range_count) {
  WEIR_ASSERT(!sample.empty() && range_count >= 1 && range_count <= kMostRanges);
  std::sort(sample.begin(), sample.end(),
            [](Bytes a, Bytes b) { return CompareRows(a, b) < 0; });
  const size_t shared = SharedBytes(sample.front(), sample.back());
  shared_.assign(sample.front().begin(), sample.front().begin() + static_cast<int64_t>(shared));
  least_ = PrefixOf(sample.front().subspan(shared));
  const uint64_t span = PrefixOf(sample.back().subspan(shared)) - least_;
  shift_ = std::max(0, static_cast<int>(std::bit_width(span)) - kBucketBits);
  const size_t buckets = (span >> shift_) + 1;
  // A bucket belongs to the range of the sample's row in the middle of it.
  range_of_.resize(buckets);
  size_t at = 0;
  uint16_t last = 0;
  for (size_t bucket = 0; bucket < buckets; ++bucket) {
    const size_t begin = at;
    while (at < sample.size() &&
           (PrefixOf(sample[at].subspan(shared)) - least_) >> shift_ <= bucket) {
      ++at;
    }
    const size_t middle = (begin + at) / 2;
    const auto range = static_cast<uint16_t>(middle * static_cast<size_t>(range_count) /
                                             (sample.size() + 1));
    last = std::max(last, range);
    range_of_[bucket] = last;
  }
  range_count_ = last + 1;
}

int RangePartition::Compare(const uint8_t* row, int64_t size) const {
  const auto length = static_cast<int64_t>(shared_.size());
  if (length == 0) return 0;  // There may be no address to compare with.
  const int order =
      std::memcmp(row, shared_.data(), static_cast<size_t>(std::min(size, length)));
  return order != 0 ? order : size < length ? -1 : 0;
}

uint64_t RangePartition::PrefixBehindShared(const uint8_t* row, int64_t size) const {
  const auto length = static_cast<int64_t>(shared_.size());
  return Prefix(row + length, size - length);
}

}  // namespace weir::delta
