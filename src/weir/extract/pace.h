#pragma once
// Pace: how long an export rests between what it receives.
#include <cstdint>

#include "weir/sys/clock.h"

namespace weir::extract {

/// Row-proportional rest: throttle_ms per `batch_size` rows, however the rows are batched. A rest
/// per batch would cost more the smaller the batches are, for the same harm done to the source.
struct ThrottlePace {
  int64_t throttle_ms = 0;
  int64_t batch_size = 10'000;  ///< Rows; the profile's, on COPY too.

  /// Rest owed after `rows` rows: throttle_ms × 1000 × rows / batch_size microseconds.
  sys::Duration RestAfter(int64_t rows) const {
    return std::chrono::microseconds(throttle_ms * 1000 * rows / batch_size);
  }
};

/// When to try an export again after the source went away in the middle of it.
struct RetryPolicy {
  int64_t max_retries = 0;
  int64_t backoff_ms = 2000;

  /// Pause before retry number `attempt`, counted from 1: doubling, 60 s at most.
  sys::Duration PauseBefore(int64_t attempt) const;
};

}  // namespace weir::extract
