#pragma once
// The limited ladder: the 18 indexes in a control group that holds a part of what legacy works in,
// with swap for the rest.
#include <memory>
#include <string>
#include <vector>

#include "weir/experiment/hydrate_bench.h"
#include "weir/experiment/rung_cells.h"
#include "weir/experiment/tpch_files.h"

namespace weir::experiment {

/// What a cell was seen to hold at most, as pressure counts it: memory in use, and swap.
int64_t WorkingSetBytes(const Cell& cell);

/// The memory of a group at a pressure: working set / pressure, and never so little that auto could
/// not have its least --memory and the margin.
int64_t LimitAt(int64_t working_set_bytes, double pressure);

/// What a program that bounds itself may use in a group of `limit_bytes`: all but a sixteenth, and
/// 16 MiB at least. The margin is for what the kernel charges to a group beside anonymous memory:
/// page tables (2 MiB per GiB), stacks, requests to the disk, and the page cache of what is being
/// read, which is reclaimed, but only while there is some to reclaim.
int64_t MemoryWithin(int64_t limit_bytes);

/// The swap of limited cells, in the bench folder.
std::string SwapPath(const HydrateBench& bench);

/// First legacy and auto without a limit, each in a group of its own, then at every limit the rungs
/// (legacy, auto, paged_spill, paged_lz4, paged_pageout where none are named), and a probe of the
/// disk; they take turns. A limit follows from the first trial of legacy without one. Those that
/// bound themselves get --memory MemoryWithin(limit); the others have swap alone. Swap is on while
/// such a cell runs.
/// Errors: of CheckLimitPlace.
Result<Group> LimitedGroup(const HydrateOptions& options, const HydrateBench& bench,
                           const std::shared_ptr<TpchFiles>& files);

/// What auto must reach under a limit; nothing when there is no such cell.
std::vector<TargetLine> LimitedTargets(const Rungs& rungs);

}  // namespace weir::experiment
