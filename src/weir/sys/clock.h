#pragma once
// Clock: the only way to learn the time or to wait. Real for programs, manual for tests. SteadyNow
//        is for code that only measures itself.
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <string>

#include "weir/sys/stop.h"

namespace weir::sys {

using Duration = std::chrono::nanoseconds;

/// CLOCK_MONOTONIC, for spans that are only reported and for the ends of system calls' waits. What
/// decides how a run goes takes a Clock instead.
Duration SteadyNow();

/// Time, seen and spent.
///
/// Threads: any.
class Clock {
 public:
  virtual ~Clock() = default;

  /// Since an arbitrary start; never goes back.
  virtual Duration Now() = 0;
  /// Milliseconds since 1970-01-01 UTC.
  virtual int64_t WallMillis() = 0;
  /// Waits for `duration` or until `stop` is asked for. Returns the time waited.
  virtual Duration Wait(Duration duration, const Stop& stop) = 0;
};

/// CLOCK_MONOTONIC and CLOCK_REALTIME.
class RealClock final : public Clock {
 public:
  Duration Now() override;
  int64_t WallMillis() override;
  Duration Wait(Duration duration, const Stop& stop) override;
};

/// Stands still except when waited on or advanced: tests see exact durations without waiting.
class ManualClock final : public Clock {
 public:
  Duration Now() override;
  int64_t WallMillis() override;
  Duration Wait(Duration duration, const Stop& stop) override;
  void Advance(Duration duration);

 private:
  std::mutex mutex_;
  Duration now_{0};
};

/// "2026-11-30T11:15:35.123Z" for milliseconds since 1970 UTC.
std::string FormatUtc(int64_t wall_millis);

inline int64_t Millis(Duration duration) {
  return std::chrono::duration_cast<std::chrono::milliseconds>(duration).count();
}
inline double Seconds(Duration duration) { return std::chrono::duration<double>(duration).count(); }

}  // namespace weir::sys
