#pragma once
// What a hydration says of itself: a table, or one JSON object.
#include <string>
#include <vector>

#include "weir/hydrate/engine.h"

namespace weir::app {

/// One knob, as it was set.
struct Setting {
  std::string name;
  std::string value;
  std::string default_value;
  bool given = false;  ///< On the command line.
};

/// Objects with stage, rows, time and why they failed.
std::string StatusText(const std::vector<hydrate::ObjectStatus>& statuses);

/// One line while objects hydrate: those at work, their rows, how far they are, how long to go.
std::string HydrationProgressText(const std::vector<hydrate::ObjectStatus>& statuses,
                                  sys::Duration now);

/// Everything: objects (with digests by name where there are any), times, memory, pool, settings.
/// `peak_anonymous_bytes`: of this process, as far as was seen.
std::string HydrationJson(const hydrate::Engine& engine, const hydrate::BuildTimes& times,
                          const std::vector<std::pair<std::string, std::string>>& digests,
                          const std::vector<Setting>& settings, int64_t peak_anonymous_bytes);

}  // namespace weir::app
