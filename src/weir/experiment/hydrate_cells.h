#pragma once
// The hydrate ladder: what building the 18 indexes of TPC-H costs, by batcher and memory.
#include <string>
#include <vector>

#include "weir/experiment/ladder.h"
#include "weir/experiment/rung_cells.h"
#include "weir/sys/clock.h"
#include "weir/sys/files.h"

namespace weir::experiment {

struct HydrateOptions {
  double scale_factor = 1;
  bool shuffled = true;  ///< Rows of the snapshot in a random order, not by their keys.
  std::vector<std::string> rungs = {"legacy", "auto"};  ///< Values of weir hydrate --batcher.
  /// Bytes of all indexes divided by --memory; 0: no bound. Legacy knows none: only its 0 counts.
  std::vector<double> pressures = {0};
  int workers = 2;
  int concurrency = 1;
};

/// What the cells need from around them; must outlive the groups.
struct HydrateBench {
  std::string folder;   ///< Where the snapshot is kept, for another run to find.
  std::string scratch;  ///< Where programs run.
  sys::Files& files;
  sys::Clock& clock;
  const sys::Stop& stop;
};

/// `weir hydrate` on a snapshot in Parquet that was written before, a process for each cell; one
/// group, so that rungs and pressures take turns. Writes objects.csv beside the cells.
std::vector<Group> HydrateGroups(const HydrateOptions& options, const HydrateBench& bench);

/// What auto must reach beside legacy, within its memory, with the same indexes.
std::vector<TargetLine> HydrateTargets(const Measurements& measurements);

}  // namespace weir::experiment
