#include "weir/app/run_monitor.h"

#include <algorithm>
#include <cstdlib>
#include <utility>

#include "weir/sys/accounting.h"
#include "weir/sys/thread.h"

namespace weir::app {
namespace {

constexpr sys::Duration kBetweenLooks = std::chrono::milliseconds(10);
constexpr sys::Duration kSecond = std::chrono::seconds(1);

int64_t CpuMicros(const sys::ProcessUsage& usage) {
  return usage.user_micros + usage.system_micros;
}

}  // namespace

RunMonitor::RunMonitor(const hydrate::Engine& engine, sys::Clock& clock)
    : engine_(engine),
      clock_(clock),
      last_look_(sys::SteadyNow()),
      second_began_(last_look_),
      cpu_micros_then_(CpuMicros(sys::ReadProcessUsage())) {
  // Without a thread the figures are those of the moments at which they are asked for.
  if (auto started = sys::StartThread([this] { Run(); }); started.ok()) {
    thread_ = std::move(started).value();
  }
}

RunMonitor::~RunMonitor() {
  done_.Ask();
  if (thread_.joinable()) thread_.join();
}

RunFigures RunMonitor::figures() {
  const std::lock_guard lock(mutex_);
  Look();
  return figures_;
}

void RunMonitor::Run() {
  while (!done_.asked()) {
    {
      const std::lock_guard lock(mutex_);
      Look();
    }
    clock_.Wait(kBetweenLooks, done_);
  }
}

void RunMonitor::Look() {
  const sys::ActivityScope activity(sys::Activity::kOther);
  const sys::Duration now = sys::SteadyNow();
  const sys::Duration passed = now - std::exchange(last_look_, now);
  const sys::ProcessUsage usage = sys::ReadProcessUsage();
  const int64_t charged = engine_.budget().used_bytes();
  const int64_t in_flight = engine_.counters().spill_in_flight;
  figures_.peak_anonymous_bytes = std::max(figures_.peak_anonymous_bytes, usage.anonymous_bytes);
  figures_.ledger_gap_bytes =
      std::max(figures_.ledger_gap_bytes, std::abs(usage.anonymous_bytes - charged));
  if (in_flight > most_in_flight_) {
    most_in_flight_ = in_flight;
    figures_.spill_pinned = sys::Duration{0};
  }
  if (in_flight > 0 && in_flight == most_in_flight_) figures_.spill_pinned += passed;
  NoteCores(usage, now);
}

void RunMonitor::NoteCores(const sys::ProcessUsage& usage, sys::Duration now) {
  if (now - second_began_ < kSecond) return;
  const double spent = static_cast<double>(CpuMicros(usage) - cpu_micros_then_) / 1e6;
  const double cores = spent / sys::Seconds(now - second_began_);
  figures_.fewest_busy_cores =
      had_a_second_ ? std::min(figures_.fewest_busy_cores, cores) : cores;
  had_a_second_ = true;
  second_began_ = now;
  cpu_micros_then_ = CpuMicros(usage);
}

}  // namespace weir::app
