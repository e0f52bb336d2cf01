#include <algorithm>
#include <array>

#include "weir/delta/sort_internal.h"

namespace weir::delta {
namespace {

constexpr int kRadix = 256;

bool RowBefore(const SortEntry& a, const SortEntry& b) {
  return CompareRows(Record::At(a.record).bytes(), Record::At(b.record).bytes()) < 0;
}

// Bytes at the start of all rows alike, by the first eight.
int64_t SetPrefixes(std::span<SortEntry> entries) {
  uint64_t differing = 0;
  for (SortEntry& entry : entries) {
    const Record record = Record::At(entry.record);
    entry.prefix = Prefix(record.row, record.size);
    differing |= entry.prefix ^ entries.front().prefix;
  }
  return differing == 0 ? 8 : __builtin_clzll(differing) / 8;
}

// From bytes that all rows have in common on.
void MovePrefixes(std::span<SortEntry> entries, int64_t shared) {
  for (SortEntry& entry : entries) {
    const Record record = Record::At(entry.record);
    entry.prefix = record.size <= shared ? 0 : Prefix(record.row + shared, record.size - shared);
  }
}

using Histogram = std::array<uint32_t, kRadix>;

void CountBytes(std::span<const SortEntry> entries, std::array<Histogram, 8>& counts) {
  for (Histogram& each : counts) each.fill(0);
  for (const SortEntry& entry : entries) {
    for (size_t byte = 0; byte < 8; ++byte) ++counts[byte][entry.prefix >> (8 * byte) & 0xff];
  }
}

void Scatter(std::span<const SortEntry> from, std::span<SortEntry> to, Histogram& counts,
             size_t byte) {
  uint32_t place = 0;
  for (uint32_t& count : counts) place += std::exchange(count, place);
  for (const SortEntry& entry : from) to[counts[entry.prefix >> (8 * byte) & 0xff]++] = entry;
}

std::span<SortEntry> RadixSort(std::span<SortEntry> entries, std::span<SortEntry> spare) {
  std::array<Histogram, 8> counts;
  CountBytes(entries, counts);
  for (size_t byte = 0; byte < 8; ++byte) {
    const uint8_t first = static_cast<uint8_t>(entries.front().prefix >> (8 * byte));
    if (counts[byte][first] == entries.size()) continue;
    Scatter(entries, spare, counts[byte], byte);
    std::swap(entries, spare);
  }
  return entries;
}

}  // namespace

std::span<SortEntry> SortByRow(std::span<SortEntry> entries, std::span<SortEntry> spare) {
  constexpr size_t kFewEntries = 64;  // Below, a histogram costs more than comparing.
  if (entries.empty()) return entries;
  const int64_t shared = SetPrefixes(entries);
  if (shared > 0) MovePrefixes(entries, shared);
  const auto before = [](const SortEntry& a, const SortEntry& b) { return a.prefix < b.prefix; };
  if (entries.size() < kFewEntries) {
    std::sort(entries.begin(), entries.end(), before);
  } else {
    entries = RadixSort(entries, spare.first(entries.size()));
  }
  for (auto begin = entries.begin(); begin != entries.end();) {
    auto end = begin + 1;
    while (end != entries.end() && end->prefix == begin->prefix) ++end;
    if (end - begin > 1) std::sort(begin, end, RowBefore);
    begin = end;
  }
  return entries;
}

size_t CountSame(std::span<const SortEntry> sorted) {
  const Bytes row = Record::At(sorted.front().record).bytes();
  size_t count = 1;
  while (count < sorted.size() && sorted[count].prefix == sorted.front().prefix &&
         CompareRows(row, Record::At(sorted[count].record).bytes()) == 0) {
    ++count;
  }
  return count;
}

}  // namespace weir::delta
