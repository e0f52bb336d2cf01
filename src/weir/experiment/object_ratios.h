#pragma once
// ObjectRatios: how each object of a hydrate ladder fares beside the same object on legacy.
#include "weir/experiment/cell_store.h"

namespace weir::experiment {

/// Objects that legacy hydrates this fast (seconds, its median) are left out: what they take is
/// mostly not theirs.
inline constexpr double kSmallObjectSeconds = 0.5;

/// The measurements, with what follows from their objects added to the cells of hydrate ladders:
///
///   objects_compared            objects that are not small on legacy
///   geomean_ratio, median_ratio   of their hydration times divided by legacy's of the same trial
///   large_geomean_ratio, ...      the same of large ones alone: the slowest quarter on legacy of
///                                 those compared, rounded up
///
/// Legacy is that of the same kind, scale factor, order, workers and concurrency; under a limit the
/// one under the same limit, else the one without a bound. Cells without such a legacy, or whose
/// objects are all small, get nothing.
Measurements WithObjectRatios(Measurements measurements);

}  // namespace weir::experiment
