#pragma once
// The `tuning` block: what a file wrote, and how that lies over a profile's defaults.
#include <optional>

#include "weir/config/block_internal.h"
#include "weir/config/config.h"

namespace weir::config {

/// The fields that one `tuning` block wrote.
struct TuningWritten {
  std::optional<Profile> profile;
  std::optional<int64_t> batch_size;
  std::optional<int64_t> batch_size_memory_mb;
  std::optional<int64_t> throttle_ms;
  std::optional<int64_t> statement_timeout_s;
  std::optional<int64_t> lock_timeout_s;
  std::optional<int64_t> max_retries;
  std::optional<int64_t> retry_backoff_ms;
  std::optional<int64_t> memory_threshold_mb;
  std::optional<int64_t> max_value_mb;
  std::optional<int64_t> max_batch_memory_mb;
  std::optional<OnBatchMemoryExceeded> on_batch_memory_exceeded;
};

/// Reads `parent`'s key `tuning`; nothing written when it is absent.
Result<TuningWritten> ReadTuning(const Block& parent);

/// The profile's defaults, under `source`, under `own`. The profile is own's, else source's, else
/// `fallback`. A batch_size drops the ceiling in bytes that lies below it, and the other way round.
Tuning Overlay(Profile fallback, const TuningWritten& source, const TuningWritten& own);

}  // namespace weir::config
