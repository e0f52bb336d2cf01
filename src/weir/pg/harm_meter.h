#pragma once
// HarmMeter: what a run cost its source, by the server's own counters and by looks while it ran.
#include <array>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "weir/pg/connection.h"
#include "weir/sys/clock.h"
#include "weir/sys/stop.h"

namespace weir::pg {

struct HarmMetric {
  std::string metric;
  int64_t delta = 0;
};

/// What was measured, and why the rest was not. A zero is a metric; what cannot be read is absent.
struct HarmReport {
  std::vector<HarmMetric> metrics;
  std::vector<std::string> absent_reasons;  ///< "wal_bytes: the source is a standby ...".
};

/// How long a run waits for an answer to its meter.
inline constexpr sys::Duration kMeterReplyBound = std::chrono::seconds(10);

struct HarmOptions {
  Target target;
  std::string run_id;  ///< Sessions named weir/<run_id>/... are this run's.
  std::string table;   ///< Being read, as TableName::Display() prints it; empty for a query.
  sys::Duration sample_interval = std::chrono::seconds(1);
  sys::Duration reply_bound = kMeterReplyBound;  ///< A silent source is not asked again.
};

/// Measures one run through one session of its own, weir/<run id>/harm.
///
/// Metrics, from Start() to Finish():
///   pg_tup_returned, pg_tup_fetched,
///   pg_blks_read, pg_blks_hit,
///   pg_temp_files, pg_temp_bytes,
///   pg_deadlocks                 of the whole database
///   wal_bytes                    written by the whole server
///   statements_calls, _ms        of this user in this database, from pg_stat_statements
///   buffers_evicted              shared buffers lost by relations that are not being read: the sum
///                                over those that have fewer than before, from pg_buffercache
///   xmin_age_max                 transactions begun since this run's oldest snapshot was taken
///   connections_max              sessions of this run at once, the meter's included
///   replication_lag_max_bytes    from the server's end of WAL to the slowest standby's replay
///   snapshot_hold_ms,
///   longest_statement_ms         as the exporter says; absent where it had none
/// Cost:    Start() 10 ms, a sample under 1 ms. Samples and counters come from functions, not
///          tables: the meter adds about 30 tuples to pg_tup_returned. It holds no snapshot.
/// Errors:  none: whatever fails makes metrics absent.
/// Threads: one at a time, but SampleNow() from any.
class HarmMeter {
 public:
  /// Reads the counters and begins to sample. `clock` must really wait; it and `stop` must outlive
  /// the meter.
  static std::unique_ptr<HarmMeter> Start(HarmOptions options, sys::Clock& clock,
                                          const sys::Stop& stop);
  ~HarmMeter();
  HarmMeter(const HarmMeter&) = delete;
  HarmMeter& operator=(const HarmMeter&) = delete;

  /// Takes a sample that begins now; one being taken is waited for. Worth a call just before a
  /// snapshot is let go, when it is oldest.
  void SampleNow();

  /// Ends sampling and reads the counters again. To be called once, after the exporting sessions
  /// flushed theirs (FlushStatistics, then the end of the transaction) or, before version 15, were
  /// closed. Once `stop` was asked for, nothing more is read.
  HarmReport Finish(std::optional<sys::Duration> snapshot_hold,
                    std::optional<sys::Duration> longest_statement);

 private:
  static constexpr size_t kCounterCount = 10;
  static constexpr size_t kDatabaseCounters = 7;
  static constexpr size_t kFirstStatementCounter = 8;
  using Counters = std::array<std::optional<int64_t>, kCounterCount>;
  using Buffers = std::map<std::string, int64_t>;  // Count by relation.

  HarmMeter(HarmOptions options, sys::Clock& clock, const sys::Stop& stop);
  Status Connect();
  void ReadFirst();
  void ReadLast();
  Status ReadCounters(Counters& counters);
  Status PrepareStatementsSql();
  void ReadStatements(Counters& counters);
  std::optional<Buffers> ReadBuffers();
  Result<std::string> ExtensionSchema(const std::string& extension);
  Result<Rows> QueryWithRoom(const std::string& sql,
                             const std::vector<std::optional<std::string>>& parameters);
  Status Sample();
  void Run();
  void Absent(std::string_view metric, std::string reason);
  void AbsentCounters(const std::string& reason);
  void ReportCounters(HarmReport& report);
  void ReportBuffers(HarmReport& report);
  void ReportSamples(HarmReport& report);

  const HarmOptions options_;
  sys::Clock& clock_;
  const sys::Stop& stop_;
  const std::string session_prefix_;

  std::mutex mutex_;  // Guards what follows, up to the line.
  std::unique_ptr<Connection> connection_;
  std::optional<int64_t> xmin_age_max_;
  std::optional<int64_t> connections_max_;
  std::optional<int64_t> lag_max_bytes_;
  int64_t standbys_max_ = 0;
  std::string sample_failure_;
  // ----
  std::string statements_sql_;
  bool first_read_ = false;
  Counters first_{};
  Counters last_{};
  std::optional<Buffers> first_buffers_;
  std::optional<Buffers> last_buffers_;
  std::map<std::string, std::string, std::less<>> absent_;  // Reason by metric; the first stays.

  sys::Stop finished_;
  std::thread sampler_;
};

}  // namespace weir::pg
