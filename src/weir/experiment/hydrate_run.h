#pragma once
// HydrateRun: `weir hydrate` run once as its own process, and what it printed as a cell.
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "weir/experiment/hydrate_bench.h"
#include "weir/experiment/object_times.h"

namespace weir::experiment {

/// The command line of one run.
struct HydrateCall {
  std::string batcher;
  std::string sql_path;
  int64_t memory_bytes = 0;        ///< Of --memory; 0: no bound.
  int workers = 2;
  int concurrency = 1;
  ProbeCounts probes;
  bool rehydrate = false;          ///< As HydrateOptions has it.
  std::vector<std::string> flags;  ///< Others, say "--spill-threads", "4".
  std::string group_path;          ///< As sys::ChildOptions has it.
};

/// Texts, say of all objects in the order of their statements, as one of 16 hex digits.
std::string OneDigest(const std::vector<std::string>& texts);

/// False for batchers that have no bound of their own: a --memory beside them is an error.
bool KnowsBound(std::string_view batcher);

/// The call as the settings of a cell hold it: without paths, M for the memory, and without what
/// is a column of the cell.
std::string CommandText(const HydrateCall& call);

struct HydrateRun {
  Cell cell;
  std::vector<ObjectTime> objects;
};

/// With `rehydrate`, first one that is killed after some objects, in no group, and not timed.
/// Errors: of RunChild; kCorrupt when what it printed is not what weir hydrate --json prints;
///         kInvalid when an object has not hydrated.
Result<HydrateRun> RunHydrate(const HydrateCall& call, const HydrateBench& bench);

/// Reads what weir hydrate --json printed. Keys that are not there leave out their columns.
Result<HydrateRun> ReadHydrateOutput(std::string_view text);

/// Why a rung under pressure tells nothing, for the key "void"; empty when it does: its own way to
/// spill took no byte. That way is swap for legacy and paged_pageout, extents for the others.
std::string_view VoidReason(std::string_view batcher, const Cell& cell);

/// A variant of these parameters that is a run of `call`, whose objects are recorded. `measure`
/// completes the call (files, memory), gives it to `run`, and may add to the cell.
using RunCall = std::function<Result<Cell>(const HydrateCall& call)>;
using MeasureCall = std::function<Result<Cell>(HydrateCall call, const RunCall& run)>;
Variant HydrateVariant(Cell parameters, const HydrateCall& call, const HydrateBench& bench,
                       MeasureCall measure);

/// The same of one rung of a ladder at a pressure, with what the options say. 0: none.
Variant PressureVariant(const HydrateOptions& options, std::string_view kind,
                        const std::string& rung, double pressure, const HydrateBench& bench,
                        MeasureCall measure);

/// What all cells of hydrate ladders say of themselves.
Cell HydrateParameters(const HydrateOptions& options, std::string_view kind,
                       std::string_view rung);

/// A call with what the options say; the rest is the caller's.
HydrateCall CallOf(const HydrateOptions& options, std::string_view batcher);

}  // namespace weir::experiment
