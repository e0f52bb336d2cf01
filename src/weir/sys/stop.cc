#include "weir/sys/stop.h"

#include <poll.h>
#include <signal.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>

#include "weir/base/assert.h"
#include "weir/sys/clock.h"

namespace weir::sys {
namespace {

std::atomic<Stop*> signal_target{nullptr};

void OnSignal(int signal) {
  Stop* stop = signal_target.load();
  if (stop == nullptr || stop->asked()) _exit(128 + signal);
  stop->Ask(signal);
}

void SetHandler(void (*handler)(int)) {
  struct sigaction action {};
  action.sa_handler = handler;
  sigemptyset(&action.sa_mask);
  action.sa_flags = SA_RESTART;
  sigaction(SIGINT, &action, nullptr);
  sigaction(SIGTERM, &action, nullptr);
  struct sigaction hang_up {};
  sigaction(SIGHUP, nullptr, &hang_up);
  if (hang_up.sa_handler != SIG_IGN) sigaction(SIGHUP, &action, nullptr);  // Else: nohup.
}

}  // namespace

Stop::Stop() : event_fd_(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) { WEIR_ASSERT(event_fd_ >= 0); }

Stop::~Stop() { close(event_fd_); }

void Stop::Ask(int signal) {
  int none = 0;
  signal_.compare_exchange_strong(none, signal);
  asked_.store(true, std::memory_order_release);
  const uint64_t one = 1;
  // The counter only has to become non-zero; a full one already is.
  [[maybe_unused]] const ssize_t written = write(event_fd_, &one, sizeof one);
}

void Stop::WaitFor(std::chrono::nanoseconds duration) const {
  const Duration end = SteadyNow() + duration;
  while (!asked()) {
    const Duration left = end - SteadyNow();
    if (left.count() <= 0) return;
    const timespec timeout{left.count() / 1'000'000'000, left.count() % 1'000'000'000};
    pollfd watched{event_fd_, POLLIN, 0};
    ppoll(&watched, 1, &timeout, nullptr);
  }
}

SignalStop::SignalStop(Stop& stop) {
  Stop* none = nullptr;
  WEIR_ASSERT(signal_target.compare_exchange_strong(none, &stop));
  SetHandler(OnSignal);
}

SignalStop::~SignalStop() {
  SetHandler(SIG_DFL);
  signal_target.store(nullptr);
}

}  // namespace weir::sys
