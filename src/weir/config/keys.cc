#include <algorithm>

#include <fmt/format.h>

#include "weir/base/edit_distance.h"
#include "weir/config/keys_internal.h"

namespace weir::config {
namespace {

using enum Support;

constexpr Key kRootKeys[] = {
    {"source", kNow},
    {"exports", kNow},
    {"notifications", kLater},
    {"parallel_exports", kOffOnly},
    {"parallel_export_processes", kOffOnly},
    {"load", kLater},
    {"snapshot", kLater},
    {"max_snapshot_age", kLater},
};

constexpr Key kSourceKeys[] = {
    {"type", kNow},        {"url", kNow},      {"url_env", kNow},
    {"url_file", kNow},    {"host", kNow},     {"port", kNow},
    {"user", kNow},        {"database", kNow}, {"password", kNow},
    {"password_env", kNow}, {"environment", kNow}, {"tuning", kNow},
    {"tls", kNow},         {"mongo", kElsewhere},
};

constexpr Key kTlsKeys[] = {
    {"mode", kNow},
    {"ca_file", kNow},
    {"accept_invalid_certs", kOffOnly},
    {"accept_invalid_hostnames", kOffOnly},
};

constexpr Key kExportKeys[] = {
    {"name", kNow},
    {"query", kNow},
    {"query_file", kNow},
    {"table", kNow},
    {"tables", kLater},
    {"mode", kNow},
    {"cursor_column", kLater},
    {"cursor_fallback_column", kLater},
    {"incremental_cursor_mode", kLater},
    {"chunk_column", kLater},
    {"chunk_size", kLater},
    {"chunk_size_memory_mb", kLater},
    {"chunk_count", kLater},
    {"chunk_by_days", kLater},
    {"chunk_by_key", kLater},
    {"chunk_dense", kOffOnly},
    {"parallel", kNow},
    {"chunk_checkpoint", kOffOnly},
    {"chunk_max_attempts", kLater},
    {"keyset_incremental", kOffOnly},
    {"wave", kLater},
    {"parallel_safe", kOffOnly},
    {"source_group", kLater},
    {"reconcile_required", kOffOnly},
    {"time_column", kLater},
    {"time_column_type", kLater},
    {"days_window", kLater},
    {"partition_by", kLater},
    {"partition_granularity", kLater},
    {"format", kNow},
    {"compression", kNow},
    {"compression_level", kNow},
    {"compression_profile", kNow},
    {"skip_empty", kNow},
    {"max_file_size", kNow},
    {"destination", kNow},
    {"verify", kLater},
    {"meta_columns", kLater},
    {"quality", kLater},
    {"tuning", kNow},
    {"columns", kLater},
    {"target", kLater},
    {"load", kLater},
    {"on_schema_drift", kLater},
    {"shape_drift_warn_factor", kLater},
    {"parquet", kNow},
    {"cdc", kLater},
    {"read", kNow},
    {"slices", kLater},
};

constexpr Key kParquetKeys[] = {
    {"row_group_strategy", kNow},
    {"row_group_rows", kNow},
    {"target_row_group_mb", kNow},
    {"max_row_group_mb", kNow},
};

constexpr Key kDestinationKeys[] = {
    {"type", kNow},
    {"path", kNow},
    {"bucket", kLater},
    {"prefix", kLater},
    {"region", kLater},
    {"endpoint", kLater},
    {"credentials_file", kLater},
    {"access_key_env", kLater},
    {"secret_key_env", kLater},
    {"session_token_env", kLater},
    {"aws_profile", kLater},
    {"account_name", kLater},
    {"account_key_env", kLater},
    {"sas_token_env", kLater},
    {"allow_anonymous", kOffOnly},
};

constexpr Key kTuningKeys[] = {
    {"profile", kNow},
    {"batch_size", kNow},
    {"batch_size_memory_mb", kNow},
    {"throttle_ms", kNow},
    {"statement_timeout_s", kNow},
    {"lock_timeout_s", kNow},
    {"max_retries", kNow},
    {"retry_backoff_ms", kNow},
    {"memory_threshold_mb", kNow},
    {"adaptive", kOffOnly},
    {"min_parallel", kNow},
    {"max_value_mb", kNow},
    {"max_batch_memory_mb", kNow},
    {"on_batch_memory_exceeded", kNow},
    {"pace", kLater},
};

}  // namespace

const BlockKind kRootBlock = {"the top of the file", kRootKeys};
const BlockKind kSourceBlock = {"source", kSourceKeys};
const BlockKind kTlsBlock = {"tls", kTlsKeys};
const BlockKind kExportBlock = {"exports", kExportKeys};
const BlockKind kParquetBlock = {"parquet", kParquetKeys};
const BlockKind kDestinationBlock = {"destination", kDestinationKeys};
const BlockKind kTuningBlock = {"tuning", kTuningKeys};

std::span<const BlockKind* const> BlockKinds() {
  static constexpr const BlockKind* kKinds[] = {
      &kRootBlock,        &kSourceBlock, &kExportBlock, &kTuningBlock,
      &kDestinationBlock, &kTlsBlock,    &kParquetBlock};
  return kKinds;
}

std::string_view NearestKey(const BlockKind& kind, std::string_view name) {
  return std::min_element(kind.keys.begin(), kind.keys.end(),
                          [&](const Key& a, const Key& b) {
                            return EditDistance(a.name, name) < EditDistance(b.name, name);
                          })
      ->name;
}

std::string Hint(const BlockKind& kind, std::string_view name) {
  for (const BlockKind* other : BlockKinds()) {
    const auto same = [&](const Key& key) { return key.name == name; };
    if (std::none_of(other->keys.begin(), other->keys.end(), same)) continue;
    return other == &kRootBlock ? "it belongs at the top of the file"
                                : fmt::format("it belongs in '{}'", other->name);
  }
  const std::string_view nearest = NearestKey(kind, name);
  if (EditDistance(nearest, name) * 2 <= nearest.size()) {
    return fmt::format("did you mean '{}'?", nearest);
  }
  return fmt::format("the nearest known key is '{}'", nearest);
}

}  // namespace weir::config
