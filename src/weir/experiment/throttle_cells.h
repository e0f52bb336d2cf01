#pragma once
// The throttle ladder: what pausing between batches costs, and what it spares the source.
#include <vector>

#include "weir/experiment/extract_cells.h"

namespace weir::experiment {

struct ThrottleOptions {
  int64_t rows = kContentItemsRows;  ///< Of content_items.
  bool contended = false;  ///< pgbench writes to another database of the server all the while.
};

/// content_items through `weir run`, mode full, profile balanced: throttle_50 (50 ms for every
/// batch_size rows) and throttle_0, beside raw_copy. `bench` must outlive the groups.
/// Errors: kUsage when `contended` on a server that is not private; kNotFound without pgbench.
Result<std::vector<Group>> ThrottleGroups(const ThrottleOptions& options, const Bench& bench,
                                          const SeedShown& seed_shown);

/// What pausing must not change, and what it must.
std::vector<TargetLine> ThrottleTargets(const Measurements& measurements);

}  // namespace weir::experiment
