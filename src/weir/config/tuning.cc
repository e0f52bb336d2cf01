#include "weir/config/tuning_internal.h"

namespace weir::config {
namespace {

// PostgreSQL counts its time-outs in milliseconds of 32 bits.
constexpr int64_t kMaxTimeoutSeconds = 2'147'483;
constexpr int64_t kMaxPauseMs = 3'600'000;  // An hour.

struct NumberKey {
  std::string_view name;
  int64_t least;
  int64_t most;
  std::optional<int64_t> TuningWritten::*field;
};

constexpr NumberKey kNumberKeys[] = {
    {"batch_size", 1, 10'000'000, &TuningWritten::batch_size},
    {"batch_size_memory_mb", 1, kMaxMegabytes, &TuningWritten::batch_size_memory_mb},
    {"throttle_ms", 0, kMaxPauseMs, &TuningWritten::throttle_ms},
    {"statement_timeout_s", 0, kMaxTimeoutSeconds, &TuningWritten::statement_timeout_s},
    {"lock_timeout_s", 0, kMaxTimeoutSeconds, &TuningWritten::lock_timeout_s},
    {"max_retries", 0, 1000, &TuningWritten::max_retries},
    {"retry_backoff_ms", 0, kMaxPauseMs, &TuningWritten::retry_backoff_ms},
    {"memory_threshold_mb", 0, kMaxMegabytes, &TuningWritten::memory_threshold_mb},
    {"max_value_mb", 0, 1024, &TuningWritten::max_value_mb},  // PostgreSQL's own limit is 1 GB.
    {"max_batch_memory_mb", 1, kMaxMegabytes, &TuningWritten::max_batch_memory_mb},
};

constexpr Profile kProfiles[] = {Profile::kFast, Profile::kBalanced, Profile::kSafe};
constexpr Word kProfileWords[] = {{"fast"}, {"balanced"}, {"safe"}};
constexpr OnBatchMemoryExceeded kReactions[] = {OnBatchMemoryExceeded::kWarn,
                                                OnBatchMemoryExceeded::kFail,
                                                OnBatchMemoryExceeded::kAutoShrink};
constexpr Word kReactionWords[] = {{"warn"}, {"fail"}, {"auto_shrink"}};

void Lay(const TuningWritten& written, Tuning& over) {
  const auto set = [](const auto& from, auto& to) {
    if (from.has_value()) to = *from;
  };
  if (written.batch_size.has_value()) over.batch_size_memory_mb.reset();
  if (written.batch_size_memory_mb.has_value()) {
    over.batch_size = ProfileDefaults(over.profile).batch_size;
  }
  set(written.batch_size, over.batch_size);
  set(written.batch_size_memory_mb, over.batch_size_memory_mb);
  set(written.throttle_ms, over.throttle_ms);
  set(written.statement_timeout_s, over.statement_timeout_s);
  set(written.lock_timeout_s, over.lock_timeout_s);
  set(written.max_retries, over.max_retries);
  set(written.retry_backoff_ms, over.retry_backoff_ms);
  set(written.memory_threshold_mb, over.memory_threshold_mb);
  set(written.max_value_mb, over.max_value_mb);
  set(written.max_batch_memory_mb, over.max_batch_memory_mb);
  set(written.on_batch_memory_exceeded, over.on_batch_memory_exceeded);
}

}  // namespace

std::string_view ProfileName(Profile profile) {
  return kProfileWords[static_cast<size_t>(profile)].text;
}

std::optional<Profile> ParseProfile(std::string_view name) {
  for (const Profile profile : kProfiles) {
    if (ProfileName(profile) == name) return profile;
  }
  return std::nullopt;
}

Tuning ProfileDefaults(Profile profile) {
  Tuning tuning;  // Its own defaults are those of balanced.
  tuning.profile = profile;
  if (profile == Profile::kFast) {
    tuning.batch_size = 50'000;
    tuning.batch_size_memory_mb = 64;
    tuning.statement_timeout_s = 0;
    tuning.lock_timeout_s = 0;
    tuning.max_retries = 1;
    tuning.retry_backoff_ms = 1000;
    tuning.memory_threshold_mb = 0;
  }
  if (profile == Profile::kSafe) {
    tuning.batch_size = 2000;
    tuning.batch_size_memory_mb.reset();
    tuning.statement_timeout_s = 120;
    tuning.lock_timeout_s = 10;
    tuning.max_retries = 10;
    tuning.retry_backoff_ms = 5000;
    tuning.memory_threshold_mb = 2048;
  }
  return tuning;
}

Result<TuningWritten> ReadTuning(const Block& parent) {
  TuningWritten written;
  WEIR_TRY(const auto block, parent.Inner("tuning", kTuningBlock));
  if (!block.has_value()) return written;
  WEIR_TRY(const auto profile, block->OneOf("profile", kProfileWords));
  if (profile.has_value()) written.profile = kProfiles[*profile];
  for (const NumberKey& key : kNumberKeys) {
    WEIR_TRY(written.*key.field, block->Number(key.name, key.least, key.most));
  }
  if (written.batch_size.has_value() && written.batch_size_memory_mb.has_value()) {
    return block->Wrong("batch_size_memory_mb", "batch_size is written too; keep one of the two");
  }
  WEIR_TRY(const auto reaction, block->OneOf("on_batch_memory_exceeded", kReactionWords));
  if (reaction.has_value()) written.on_batch_memory_exceeded = kReactions[*reaction];
  WEIR_DO(block->Switch("adaptive"));
  WEIR_TRY(const auto floor, block->Number("min_parallel", 1, 1024));
  if (floor.value_or(1) > 1) return block->NotYet("min_parallel", std::to_string(*floor), "1");
  return written;
}

Tuning Overlay(Profile fallback, const TuningWritten& source, const TuningWritten& own) {
  Tuning tuning = ProfileDefaults(own.profile.value_or(source.profile.value_or(fallback)));
  Lay(source, tuning);
  Lay(own, tuning);
  return tuning;
}

}  // namespace weir::config
