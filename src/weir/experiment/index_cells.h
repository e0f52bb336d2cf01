#pragma once
// The ladder of the 18 indexes: without a bound, and within --memory.
#include <memory>
#include <vector>

#include "weir/experiment/hydrate_bench.h"
#include "weir/experiment/rung_cells.h"
#include "weir/experiment/tpch_files.h"

namespace weir::experiment {

/// Every rung at every pressure that it knows. Rungs, where none are named: legacy, auto, paged,
/// paged_lz4. At a pressure below 1 --memory is what legacy held without a bound / pressure, where
/// it is among them; else the bytes of all indexes / pressure.
Group IndexGroup(const HydrateOptions& options, const HydrateBench& bench,
                 const std::shared_ptr<TpchFiles>& files);

/// What auto must reach beside legacy, within its memory; nothing when there is no such cell.
/// `rungs`: of hydrate ladders.
std::vector<TargetLine> IndexTargets(const Rungs& rungs);

}  // namespace weir::experiment
