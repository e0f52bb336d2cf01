#include "weir/pg/harm_meter.h"

#include <algorithm>
#include <charconv>

#include "weir/pg/session.h"
#include "weir/pg/sql.h"
#include "weir/sys/thread.h"

namespace weir::pg {
namespace {

// The columns of sql/harm/counters.sql, then of statements.sql.
constexpr std::array<std::string_view, 10> kCounters = {
    "pg_tup_returned", "pg_tup_fetched", "pg_blks_read", "pg_blks_hit",      "pg_temp_files",
    "pg_temp_bytes",   "pg_deadlocks",   "wal_bytes",    "statements_calls", "statements_ms"};
// Samples come fast at first, so that short runs have some.
constexpr sys::Duration kFirstInterval = std::chrono::milliseconds(25);
// Before 15, counters travel to a collector process, and its answers are up to 0.5 s old.
constexpr int kSharedMemoryStatistics = 150000;
constexpr sys::Duration kCollectorDelay = std::chrono::milliseconds(1000);
constexpr int kTotalExecTime = 130000;
// pg_buffercache gives a row of about 100 bytes per buffer; what does not fit into kWorkMem would
// go through a temporary file: harm of our own. 1,048,576 buffers are 8 GiB.
constexpr int64_t kMostBuffers = 1 << 20;
constexpr std::string_view kWorkMem = "192MB";
constexpr std::string_view kStatementTimeout = "8s";  // The meter itself waits for 10.
constexpr const char* kConnectTimeout = "10";         // Seconds, whatever the URL says.

std::optional<int64_t> Integer(const std::optional<std::string>& text) {
  int64_t value = 0;
  if (!text) return std::nullopt;
  const auto parsed = std::from_chars(text->data(), text->data() + text->size(), value);
  if (parsed.ec != std::errc()) return std::nullopt;
  return value;
}

void Raise(std::optional<int64_t>& most, const std::optional<int64_t>& value) {
  if (value) most = std::max(most.value_or(0), *value);
}

std::string Replaced(std::string_view sql, std::string_view token, std::string_view value) {
  std::string text(sql);
  for (size_t at = 0; (at = text.find(token, at)) != text.npos; at += value.size()) {
    text.replace(at, token.size(), value);
  }
  return text;
}

}  // namespace

HarmMeter::HarmMeter(HarmOptions options, sys::Clock& clock, const sys::Stop& stop)
    : options_(std::move(options)),
      clock_(clock),
      stop_(stop),
      session_prefix_(fmt::format("weir/{}/", options_.run_id)) {}

std::unique_ptr<HarmMeter> HarmMeter::Start(HarmOptions options, sys::Clock& clock,
                                            const sys::Stop& stop) {
  std::unique_ptr<HarmMeter> meter(new HarmMeter(std::move(options), clock, stop));
  meter->ReadFirst();
  auto sampler = sys::StartThread([self = meter.get()] { self->Run(); });
  if (sampler.ok()) {
    meter->sampler_ = std::move(sampler).value();
  } else {
    meter->sample_failure_ = sampler.error().message;
  }
  return meter;
}

HarmMeter::~HarmMeter() {
  finished_.Ask();
  if (sampler_.joinable()) sampler_.join();
}

Status HarmMeter::Connect() {
  if (connection_ && connection_->is_alive()) return Ok();
  if (connection_ && connection_->fell_silent()) {
    return Fail(Code::kUnavailable, "the source gave the meter no answer within {} ms",
                sys::Millis(options_.reply_bound));
  }
  Target target = options_.target;
  target.Set("connect_timeout", kConnectTimeout);
  target.Set("application_name", session_prefix_ + "harm");  // Whatever the user's URL says.
  WEIR_TRY(connection_, Connection::Open(std::move(target), session_prefix_ + "harm", stop_,
                                         options_.reply_bound));
  return Ok();
}

// All is read once to fill the session's caches, and that is flushed: what reading costs stands
// before the difference, not in it.
void HarmMeter::ReadFirst() {
  const std::lock_guard lock(mutex_);
  Status done = Connect();
  if (done.ok()) done = Sample();
  if (done.ok()) done = ReadCounters(first_);
  if (done.ok()) {
    ReadStatements(first_);
    first_buffers_ = ReadBuffers();
    done = FlushStatistics(*connection_);
  }
  if (done.ok()) {
    ReadStatements(first_);
    done = ReadCounters(first_);
  }
  first_read_ = done.ok();
  if (!done.ok()) AbsentCounters(done.error().message);
}

void HarmMeter::ReadLast() {
  const std::lock_guard lock(mutex_);
  if (stop_.asked()) return AbsentCounters("the run was stopped");
  if (!first_read_) return;  // Nothing to subtract from: the reason is known.
  Status done = Connect();
  if (done.ok() && connection_->server_version() < kSharedMemoryStatistics) {
    clock_.Wait(kCollectorDelay, stop_);
  }
  if (done.ok()) done = ReadCounters(last_);
  if (!done.ok()) return AbsentCounters(done.error().message);
  ReadStatements(last_);
  last_buffers_ = ReadBuffers();
}

Status HarmMeter::ReadCounters(Counters& counters) {
  WEIR_DO(connection_->Exec("SELECT pg_catalog.pg_stat_clear_snapshot()"));
  WEIR_TRY(const Row row, connection_->QueryRow(sql::kHarmCounters));
  for (size_t i = 0; i < kFirstStatementCounter; ++i) counters[i] = Integer(row.at(i));
  if (row.at(kFirstStatementCounter) == "off") {
    for (size_t i = 0; i < kDatabaseCounters; ++i) Absent(kCounters[i], "track_counts is off");
  }
  return Ok();
}

Status HarmMeter::PrepareStatementsSql() {
  if (!statements_sql_.empty()) return Ok();
  WEIR_TRY(const std::string schema, ExtensionSchema("pg_stat_statements"));
  const bool old = connection_->server_version() < kTotalExecTime;
  statements_sql_ = Replaced(Replaced(sql::kHarmStatements, "$SCHEMA", schema), "$TIME",
                             old ? "total_time" : "total_exec_time");
  return Ok();
}

void HarmMeter::ReadStatements(Counters& counters) {
  if (absent_.contains("statements_calls")) return;
  const auto read = [&]() -> Result<Row> {
    WEIR_DO(PrepareStatementsSql());
    return connection_->QueryRow(statements_sql_);
  };
  const auto row = read();
  for (size_t i = 0; i < 2; ++i) {
    if (row.ok()) {
      counters[kFirstStatementCounter + i] = Integer(row.value().at(i));
    } else {
      Absent(kCounters[kFirstStatementCounter + i], row.error().message);
    }
  }
}

std::optional<HarmMeter::Buffers> HarmMeter::ReadBuffers() {
  if (absent_.contains("buffers_evicted")) return std::nullopt;
  const auto read = [&]() -> Result<Buffers> {
    WEIR_TRY(const std::string schema, ExtensionSchema("pg_buffercache"));
    WEIR_TRY(const Row row, connection_->QueryRow(sql::kHarmBufferCount));
    const int64_t count = Integer(row.at(0)).value_or(0);
    if (count > kMostBuffers) {
      return Fail(Code::kInvalid, "a look at {} shared buffers would itself do harm", count);
    }
    WEIR_TRY(const Rows rows, QueryWithRoom(Replaced(sql::kHarmBuffers, "$SCHEMA", schema),
                                            {options_.table}));
    Buffers buffers;
    for (const Row& relation : rows) {
      buffers.emplace(relation.at(0).value_or(""), Integer(relation.at(1)).value_or(0));
    }
    return buffers;
  };
  auto buffers = read();
  if (buffers.ok()) return std::move(buffers).value();
  Absent("buffers_evicted", buffers.error().message);
  return std::nullopt;
}

Result<std::string> HarmMeter::ExtensionSchema(const std::string& extension) {
  WEIR_TRY(const Rows rows, connection_->Query(sql::kHarmExtensionSchema, {extension}));
  if (rows.empty()) {
    return Fail(Code::kNotFound, "extension {} is not in this database", extension);
  }
  return connection_->QuoteName(rows[0].at(0).value_or(""));
}

// One query in a transaction of its own, with memory enough to need no temporary file.
Result<Rows> HarmMeter::QueryWithRoom(const std::string& sql,
                                      const std::vector<std::optional<std::string>>& parameters) {
  WEIR_DO(connection_->Exec(
      fmt::format("BEGIN READ ONLY; SET LOCAL work_mem = '{}'; SET LOCAL statement_timeout = '{}'",
                  kWorkMem, kStatementTimeout)));
  auto rows = connection_->Query(sql, parameters);
  WEIR_DO(connection_->Exec("ROLLBACK"));
  return rows;
}

Status HarmMeter::Sample() {
  WEIR_TRY(const Row row, connection_->QueryRow(sql::kHarmSample, {session_prefix_}));
  Raise(connections_max_, Integer(row.at(0)));
  Raise(xmin_age_max_, Integer(row.at(1)));
  standbys_max_ = std::max(standbys_max_, Integer(row.at(2)).value_or(0));
  Raise(lag_max_bytes_, Integer(row.at(3)));
  return Ok();
}

void HarmMeter::SampleNow() {
  const std::lock_guard lock(mutex_);
  if (!connection_ || !connection_->is_alive() || stop_.asked()) return;
  const Status done = Sample();
  if (!done.ok()) sample_failure_ = done.error().message;
}

void HarmMeter::Run() {
  sys::Duration interval = std::min(kFirstInterval, options_.sample_interval);
  while (!stop_.asked()) {
    clock_.Wait(interval, finished_);
    if (finished_.asked()) return;
    SampleNow();
    interval = std::min(interval * 2, options_.sample_interval);
  }
}

HarmReport HarmMeter::Finish(std::optional<sys::Duration> snapshot_hold,
                             std::optional<sys::Duration> longest_statement) {
  finished_.Ask();
  if (sampler_.joinable()) sampler_.join();
  ReadLast();
  HarmReport report;
  ReportCounters(report);
  ReportBuffers(report);
  ReportSamples(report);
  const auto report_or = [&](const char* metric, std::optional<sys::Duration> value,
                             const char* reason) {
    if (!value) return Absent(metric, reason);
    report.metrics.push_back({metric, sys::Millis(*value)});
  };
  report_or("snapshot_hold_ms", snapshot_hold, "no snapshot was held");
  report_or("longest_statement_ms", longest_statement, "no COPY was begun");
  for (const auto& [metric, reason] : absent_) {
    report.absent_reasons.push_back(fmt::format("{}: {}", metric, reason));
  }
  return report;
}

void HarmMeter::Absent(std::string_view metric, std::string reason) {
  absent_.emplace(metric, std::move(reason));
}

void HarmMeter::AbsentCounters(const std::string& reason) {
  for (const std::string_view metric : kCounters) Absent(metric, reason);
  Absent("buffers_evicted", reason);
}

void HarmMeter::ReportCounters(HarmReport& report) {
  for (size_t i = 0; i < kCounterCount; ++i) {
    if (absent_.contains(kCounters[i])) continue;
    if (!first_[i] || !last_[i]) {
      Absent(kCounters[i], kCounters[i] == "wal_bytes" ? "the source is a standby and writes none"
                                                       : "the server does not tell");
    } else if (*last_[i] < *first_[i]) {
      Absent(kCounters[i], "the counter was reset during the run");
    } else {
      report.metrics.push_back({std::string(kCounters[i]), *last_[i] - *first_[i]});
    }
  }
}

void HarmMeter::ReportBuffers(HarmReport& report) {
  if (absent_.contains("buffers_evicted")) return;
  int64_t evicted = 0;
  for (const auto& [relation, before] : *first_buffers_) {
    const auto now = last_buffers_->find(relation);
    evicted += std::max<int64_t>(0, before - (now == last_buffers_->end() ? 0 : now->second));
  }
  report.metrics.push_back({"buffers_evicted", evicted});
}

void HarmMeter::ReportSamples(HarmReport& report) {
  const auto report_or = [&](std::string_view metric, std::optional<int64_t> value,
                             const char* reason) {
    if (value) {
      report.metrics.push_back({std::string(metric), *value});
    } else {
      Absent(metric, sample_failure_.empty() ? reason : sample_failure_);
    }
  };
  const std::lock_guard lock(mutex_);
  if (!connections_max_ && sample_failure_.empty()) {
    sample_failure_ = absent_.contains("pg_tup_returned") ? absent_.find("pg_tup_returned")->second
                                                          : "no sample was taken";
  }
  report_or("connections_max", connections_max_, "");
  report_or("xmin_age_max", xmin_age_max_, "no snapshot of this run was seen");
  report_or("replication_lag_max_bytes", lag_max_bytes_,
            standbys_max_ == 0 ? "no standby is connected"
                               : "where the standbys are needs the role pg_monitor");
}

}  // namespace weir::pg
