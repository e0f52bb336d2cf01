#pragma once
// Compare: two bench folders side by side, as ratios of medians.
#include <string>

#include "weir/experiment/cell_store.h"

namespace weir::experiment {

/// A table with a line per rung that both have under the same settings: medians of wall time and
/// peak memory of a and b, and b divided by a; then the rungs that only one of them has.
///
/// Errors: kInvalid when a rung that both have was measured under different settings, each named
///         with both values; or when they have no rung in common.
Result<std::string> CompareText(const Measurements& a, const Measurements& b);

}  // namespace weir::experiment
