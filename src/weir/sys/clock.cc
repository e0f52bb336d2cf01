#include "weir/sys/clock.h"

#include <fmt/format.h>

#include <algorithm>
#include <ctime>

namespace weir::sys {

Duration SteadyNow() { return std::chrono::steady_clock::now().time_since_epoch(); }

Duration RealClock::Now() { return SteadyNow(); }

int64_t RealClock::WallMillis() {
  return std::chrono::duration_cast<std::chrono::milliseconds>(
             std::chrono::system_clock::now().time_since_epoch())
      .count();
}

Duration RealClock::Wait(Duration duration, const Stop& stop) {
  const Duration start = Now();
  stop.WaitFor(duration);
  return Now() - start;
}

Duration ManualClock::Now() {
  const std::lock_guard lock(mutex_);
  return now_;
}

int64_t ManualClock::WallMillis() { return Millis(Now()); }

Duration ManualClock::Wait(Duration duration, const Stop& stop) {
  if (stop.asked()) return Duration{0};
  Advance(duration);
  return duration;
}

void ManualClock::Advance(Duration duration) {
  const std::lock_guard lock(mutex_);
  now_ += std::max(duration, Duration{0});
}

std::string FormatUtc(int64_t wall_millis) {
  int64_t seconds = wall_millis / 1000;
  int64_t millis = wall_millis % 1000;
  if (millis < 0) {
    millis += 1000;
    seconds -= 1;
  }
  const std::time_t time = seconds;
  std::tm utc{};
  gmtime_r(&time, &utc);
  return fmt::format("{:04}-{:02}-{:02}T{:02}:{:02}:{:02}.{:03}Z", utc.tm_year + 1900,
                     utc.tm_mon + 1, utc.tm_mday, utc.tm_hour, utc.tm_min, utc.tm_sec, millis);
}

}  // namespace weir::sys
