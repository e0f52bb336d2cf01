#pragma once
// Sweeps: one setting of the pool varied, all else alike, beside what the seed measured of it.
#include <memory>
#include <string>
#include <vector>

#include "weir/experiment/hydrate_bench.h"
#include "weir/experiment/rung_cells.h"
#include "weir/experiment/tpch_files.h"

namespace weir::experiment {

/// threads, eager, codec, fraction, malloc.
const std::vector<std::string>& SweepNames();

/// threads   spill threads 1, 2, 4, 8 under help and block, with 2, 8 and 16 workers
/// eager     idle spill threads store pages ahead of need, or not
/// codec     pages are compressed when spilled, or not
/// fraction  the pool's share of --memory: 0.05 and 0.85
/// malloc    a heap object for each chunk, or the pool's pages; nothing spills
///
/// Of the 18 indexes, by auto and by paged_spill or paged_lz4, at a pressure of 4 (fraction: 0.5,
/// as the share is what bounds there), with legacy at the same number of workers.
/// Requires: `name` is one of SweepNames().
Group SweepGroup(const std::string& name, const HydrateOptions& options, const HydrateBench& bench,
                 const std::shared_ptr<TpchFiles>& files);

/// The sweeps of which there are cells, each beside the seed's figure. One has a limit: under help
/// the processor seconds must not depend on the number of spill threads.
std::vector<TargetLine> SweepTargets(const Rungs& rungs);

}  // namespace weir::experiment
