#pragma once
// The hydrate ladders: what building indexes over TPC-H costs, by batcher, memory and settings.
#include <vector>

#include "weir/experiment/hydrate_bench.h"
#include "weir/experiment/rung_cells.h"

namespace weir::experiment {

/// All ladders that the options ask for: limited, the peer, sweeps; with none of these the 18
/// indexes at some pressures. `weir hydrate` runs on a snapshot in Parquet that was written before,
/// a process for each cell; each ladder is one group, so that its rungs take turns. Writes
/// objects.csv beside the cells.
///
/// Errors: kUsage when a setting of the environment would change what is measured, or a limit needs
///         what this process does not have; kNotFound without the peer.
Result<std::vector<Group>> HydrateGroups(const HydrateOptions& options, const HydrateBench& bench);

/// What the ladders of which there are cells must reach.
std::vector<TargetLine> HydrateTargets(const Measurements& measurements);

}  // namespace weir::experiment
