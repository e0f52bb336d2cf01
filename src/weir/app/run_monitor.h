#pragma once
// RunMonitor: what a hydration was seen to take of the machine while it ran.
#include <mutex>
#include <thread>

#include "weir/hydrate/engine.h"
#include "weir/sys/process.h"
#include "weir/sys/stop.h"

namespace weir::app {

/// What was seen so far, over all moments that were looked at.
struct RunFigures {
  int64_t peak_anonymous_bytes = 0;
  /// The most by which memory held and memory charged were apart, either way.
  int64_t ledger_gap_bytes = 0;
  /// Of the seconds since the start, that with the least processor time; 0 before the first.
  double fewest_busy_cores = 0;
  /// Time in which as many pages were on their way to the spill device as ever.
  sys::Duration spill_pinned{0};
};

/// Looks every ten milliseconds, on a thread of its own, for as long as it lives: the kernel keeps
/// no peak of memory without the files that are mapped.
///
/// Threads: figures() any. The engine must outlive it.
class RunMonitor {
 public:
  RunMonitor(const hydrate::Engine& engine, sys::Clock& clock);
  ~RunMonitor();
  RunMonitor(const RunMonitor&) = delete;
  RunMonitor& operator=(const RunMonitor&) = delete;

  RunFigures figures();  ///< Looks first: this moment is among them.

 private:
  void Run();
  void Look();
  void NoteCores(const sys::ProcessUsage& usage, sys::Duration now);

  const hydrate::Engine& engine_;
  sys::Clock& clock_;
  sys::Stop done_;
  std::mutex mutex_;  // Guards all below but the thread.
  RunFigures figures_;
  int64_t most_in_flight_ = 0;
  sys::Duration last_look_;
  sys::Duration second_began_;
  int64_t cpu_micros_then_;
  bool had_a_second_ = false;
  std::thread thread_;
};

}  // namespace weir::app
