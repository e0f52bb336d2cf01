#pragma once
// What a hydration says of itself: a table, or one JSON object.
#include <optional>
#include <string>
#include <vector>

#include "weir/app/hydrate_options.h"
#include "weir/app/run_monitor.h"
#include "weir/hydrate/engine.h"
#include "weir/hydrate/probe.h"
#include "weir/sys/accounting.h"
#include "weir/sys/process.h"

namespace weir::app {

/// What was asked of an index once it was hydrated, and what it said.
struct IndexAnswer {
  std::string index;
  std::optional<std::string> digest;
  std::optional<std::string> content_hash;
};

/// Probes of one index; none of an order that was not asked for.
struct ProbeAnswers {
  std::string index;
  std::optional<hydrate::ProbeResult> sorted;
  std::optional<hydrate::ProbeResult> random;
};

/// All that is told beside the engine's own state.
struct HydrationReport {
  std::vector<IndexAnswer> answers;
  ProbeAnswers probes;
  sys::ProcessUsage usage;      ///< When all was hydrated.
  sys::Accounting accounting;   ///< The same.
  RunFigures figures;           ///< The same.
  mem::PoolCounters pool;       ///< The same: asking has the pool at work too.
};

/// Objects with stage, rows, time and why they failed.
std::string StatusText(const std::vector<hydrate::ObjectStatus>& statuses);

/// One line while objects hydrate: those at work, their rows, how far they are, how long to go.
std::string HydrationProgressText(const std::vector<hydrate::ObjectStatus>& statuses,
                                  sys::Duration now);

/// Everything: objects, times, memory, pool, settings.
std::string HydrationJson(const hydrate::Engine& engine, const HydrationReport& report,
                          const std::vector<Setting>& settings);

/// A line for each answer and for each order of probes.
std::string AnswersText(const HydrationReport& report);

}  // namespace weir::app
