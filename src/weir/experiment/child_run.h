#pragma once
// ChildRun: a program run once as its own process, with what it took.
#include <string>
#include <vector>

#include "weir/experiment/cell.h"
#include "weir/sys/child.h"
#include "weir/sys/clock.h"
#include "weir/sys/stop.h"

namespace weir::experiment {

struct ChildCommand {
  std::vector<std::string> argv;         ///< argv[0] is the program's full path.
  std::vector<std::string> environment;  ///< "NAME=value", over what this process has.
  std::string folder;                    ///< Where it runs, and keeps its output until it ended.
  bool discard_output = false;           ///< Its stdout goes to /dev/null.
  std::string group_path;                ///< As sys::ChildOptions has it.
  int exit_code = 0;                     ///< That it has to end with; 128 + n: of signal n.
};

struct ChildRun {
  sys::Duration wall{0};  ///< By this process's clock, from before the fork to after its end.
  sys::ChildUsage usage;
  std::string output;     ///< Its stdout, unless discarded.

  /// wall_s, utime_s, stime_s, peak_rss_bytes, major_faults.
  Cell AsCell() const;
};

/// Runs `command` to its end, which must be its exit code.
/// Errors: kCancelled when `stop` was asked for: the child got SIGTERM, then SIGKILL after a bound.
///         After another exit code, what weir's codes mean (2 kUnavailable, 3 kCorrupt, else
///         kInvalid), with the end of its stderr.
Result<ChildRun> RunChild(const ChildCommand& command, sys::Clock& clock, const sys::Stop& stop);

/// The path of the program that this process runs.
std::string ThisProgram();

}  // namespace weir::experiment
