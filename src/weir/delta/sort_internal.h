#pragma once
// Sorting rows of one range in place, by pointers that carry a prefix.
#include <span>

#include "weir/delta/record_internal.h"

namespace weir::delta {

/// Where a record is, and eight bytes of its row that order like it.
struct SortEntry {
  uint64_t prefix;
  const uint8_t* record;
};

/// Puts the entries in the order of their rows: by their prefixes with a radix sort that passes
/// over bytes that all share, then runs of equal prefixes by comparing rows. Sets the prefixes.
///
/// `spare` has as many entries. Returns the one of the two that holds the result.
/// Cost: linear in the entries while prefixes tell rows apart.
std::span<SortEntry> SortByRow(std::span<SortEntry> entries, std::span<SortEntry> spare);

/// Past the last entry with the same row as the first. Requires: sorted by SortByRow, not empty.
size_t CountSame(std::span<const SortEntry> sorted);

}  // namespace weir::delta
