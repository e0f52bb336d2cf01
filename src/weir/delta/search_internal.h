#pragma once
// Searching what is in order.
#include <algorithm>
#include <cstdint>

namespace weir::delta {

/// The first place in [from, end) of which `before` does not hold; `end` when it holds of all.
///
/// Cost:     twice the logarithm of how far that place is from `from`.
/// Requires: `before` holds of all places up to some one, and of none after that.
template <typename Before>
int64_t FirstNotBefore(int64_t from, int64_t end, Before before) {
  int64_t step = 1;
  while (from + step <= end && before(from + step - 1)) {
    from += step;
    step *= 2;
  }
  int64_t high = std::min(from + step - 1, end);
  while (from < high) {
    const int64_t middle = from + (high - from) / 2;
    if (before(middle)) {
      from = middle + 1;
    } else {
      high = middle;
    }
  }
  return from;
}

}  // namespace weir::delta
