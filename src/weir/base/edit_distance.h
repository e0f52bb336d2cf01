#pragma once
// EditDistance: how far a wrong word is from a known one.
#include <cstddef>
#include <string_view>

namespace weir {

/// Insertions, deletions, changes and swaps of neighbours that lead from one text to the other,
/// case ignored. Cost: O(|a| * |b|).
size_t EditDistance(std::string_view a, std::string_view b);

}  // namespace weir
