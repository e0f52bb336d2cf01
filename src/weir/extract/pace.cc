#include "weir/extract/pace.h"

#include <algorithm>

namespace weir::extract {

sys::Duration RetryPolicy::PauseBefore(int64_t attempt) const {
  constexpr int64_t kMostMillis = 60'000;
  int64_t pause_ms = std::min(backoff_ms, kMostMillis);
  for (int64_t doubled = 1; doubled < attempt && pause_ms < kMostMillis; ++doubled) pause_ms *= 2;
  return std::chrono::milliseconds(std::min(pause_ms, kMostMillis));
}

}  // namespace weir::extract
