#pragma once
// HydrateBench: what all hydrate ladders are told, and what they need from around them.
#include <string>
#include <vector>

#include "weir/experiment/cell_store.h"
#include "weir/experiment/ladder.h"
#include "weir/sys/clock.h"
#include "weir/sys/files.h"
#include "weir/sys/stop.h"

namespace weir::experiment {

/// Probes of the largest index afterwards, so that nobody wins by postponing work; 0: none.
struct ProbeCounts {
  int64_t sorted = 1'000'000;
  int64_t random = 10'000;
};

struct HydrateOptions {
  double scale_factor = 1;
  bool shuffled = true;  ///< Rows of the snapshot in a random order, not by their keys.
  int workers = 2;
  int concurrency = 1;   ///< Objects that hydrate at a time; 0: what fits.
  ProbeCounts probes;
  bool rehydrate = false;  ///< Before each run the same was begun, and killed half way.
  /// Values of weir hydrate --batcher; none: those that the targets name.
  std::vector<std::string> rungs;
  /// 0: no bound; rungs that know none have only this. Below 1: what legacy held without one /
  /// --memory, as pressure is measured. Else: bytes of all indexes / --memory.
  std::vector<double> pressures = {0, 0.9, 4, 8, 16};
  /// Working set of legacy / memory of a control group with swap on. Needs root.
  std::vector<double> limits;
  std::string duckdb_python;        ///< An interpreter with the module duckdb; empty: no peer.
  std::vector<std::string> sweeps;  ///< Of SweepNames().
};

/// Must outlive the groups.
struct HydrateBench {
  std::string folder;   ///< Where the snapshot is kept, for another run to find.
  std::string scratch;  ///< Where programs run and spill.
  sys::Files& files;
  sys::Clock& clock;
  const sys::Stop& stop;
  const CellStore& store;  ///< Where the cells go; some need to know what others gave.
};

}  // namespace weir::experiment
