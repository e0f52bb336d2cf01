#pragma once
// Mailbox: what threads leave for one that takes it all at once.
#include <condition_variable>
#include <functional>
#include <mutex>
#include <optional>
#include <vector>

#include "weir/sys/clock.h"

namespace weir::serve {

/// Threads: Post() any; Take() one.
template <typename Letter>
class Mailbox {
 public:
  void Post(Letter letter) {
    bool first = false;
    {
      const std::lock_guard lock(mutex_);
      first = letters_.empty();
      letters_.push_back(std::move(letter));
    }
    if (first) arrived_.notify_one();
  }
  /// Waits until something is there or SteadyNow() is `until`; empty then.
  std::vector<Letter> Take(sys::Duration until) {
    std::unique_lock lock(mutex_);
    const sys::Duration left = until - sys::SteadyNow();
    // A wait of more than this may end early: whoever asks looks at the time anyway.
    constexpr sys::Duration kMost = std::chrono::hours(1);
    if (letters_.empty() && left > sys::Duration{0}) {
      arrived_.wait_for(lock, std::min(left, kMost), [&] { return !letters_.empty(); });
    }
    return std::exchange(letters_, {});
  }

 private:
  std::mutex mutex_;
  std::condition_variable arrived_;
  std::vector<Letter> letters_;
};

}  // namespace weir::serve
