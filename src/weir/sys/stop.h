#pragma once
// Stop: a request to end early that threads can ask about, wait on, and poll with file descriptors.
#include <atomic>
#include <chrono>

#include "weir/base/result.h"

namespace weir::sys {

/// One request to stop, made at most once and never taken back.
///
/// Threads: any. Ask() is also safe in a signal handler.
class Stop {
 public:
  Stop();
  ~Stop();
  Stop(const Stop&) = delete;
  Stop& operator=(const Stop&) = delete;

  /// Asks everyone who watches to end; remembers the first reason (a signal number, or 0).
  void Ask(int signal = 0);

  bool asked() const { return asked_.load(std::memory_order_acquire); }
  /// Errors: kCancelled once Ask() was called.
  Status Check() const {
    return asked() ? Status(Fail(Code::kCancelled, "stopped on request")) : Ok();
  }
  /// The signal that asked, 0 for none.
  int signal() const { return signal_.load(std::memory_order_acquire); }
  /// Becomes readable when Ask() was called: for poll(2). Owned by this object.
  int fd() const { return event_fd_; }
  /// Returns after `duration`, or as soon as Ask() was called.
  void WaitFor(std::chrono::nanoseconds duration) const;

 private:
  std::atomic<bool> asked_{false};
  std::atomic<int> signal_{0};
  int event_fd_;
};

/// Routes SIGINT, SIGTERM and SIGHUP to `stop` until destroyed. A second signal ends the process at
/// once. A SIGHUP that is ignored (nohup) stays so. At most one may be alive.
class SignalStop {
 public:
  explicit SignalStop(Stop& stop);
  ~SignalStop();
  SignalStop(const SignalStop&) = delete;
  SignalStop& operator=(const SignalStop&) = delete;
};

}  // namespace weir::sys
