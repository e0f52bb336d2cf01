#include "weir/pg/harm_meter.h"

#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>

#include "tests/support/copy_stream.h"
#include "tests/support/folder.h"
#include "tests/support/postgres.h"
#include "weir/pg/session.h"

namespace weir::pg {
namespace {

using std::chrono::milliseconds;

std::optional<int64_t> Find(const HarmReport& report, std::string_view metric) {
  for (const HarmMetric& found : report.metrics) {
    if (found.metric == metric) return found.delta;
  }
  return std::nullopt;
}

std::string All(const HarmReport& report) {
  std::string text;
  for (const HarmMetric& found : report.metrics) {
    text += fmt::format("{} = {}\n", found.metric, found.delta);
  }
  for (const std::string& reason : report.absent_reasons) text += reason + "\n";
  return text;
}

bool Says(const HarmReport& report, std::string_view reason) {
  const auto& reasons = report.absent_reasons;
  return std::find(reasons.begin(), reasons.end(), reason) != reasons.end();
}

HarmOptions For(const std::string& url, const std::string& table) {
  return {.target = Target::Parse(url).value(), .run_id = "r1", .table = table};
}

std::unique_ptr<Connection> Open(const std::string& url, const sys::Stop& stop) {
  return Connection::Open(Target::Parse(url).value(), "weir/r1/t", stop).value();
}

// Reads a table to its end in a transaction of its own, as an export does.
int64_t Export(Connection& connection, const std::string& table) {
  EXPECT_TRUE(BeginReadOnly(connection, Isolation::kRepeatableRead,
                            {.application_name = "weir/r1/t"})
                  .ok());
  EXPECT_TRUE(connection.StartCopyOut("COPY " + table + " TO STDOUT (FORMAT binary)").ok());
  int64_t pieces = 0;
  test::CopyReader reader(connection);
  while (!reader.Next().value().empty()) ++pieces;
  EXPECT_TRUE(FlushStatistics(connection).ok());
  EXPECT_TRUE(connection.Exec("COMMIT").ok());
  return pieces;
}

TEST(HarmMeter, CountsTheExportAndHardlyItself) {
  test::Database db;
  sys::RealClock clock;
  const sys::Stop never;
  db.Exec("CREATE TABLE big AS SELECT n, n * 7 AS m FROM generate_series(1, 200000) AS n");
  db.Exec("VACUUM (FREEZE, ANALYZE) big");
  const int64_t pages = std::stoll(db.Text("SELECT pg_relation_size('big') / 8192"));
  db.Exec("SELECT pg_stat_force_next_flush()");

  auto meter = HarmMeter::Start(For(db.url(), "big"), clock, never);
  auto connection = Open(db.url(), never);
  EXPECT_GE(Export(*connection, "big"), 200'000);
  const HarmReport report = meter->Finish(milliseconds(120), milliseconds(100));

  const int64_t returned = Find(report, "pg_tup_returned").value_or(-1);
  EXPECT_GE(returned, 200'000) << All(report);
  EXPECT_LE(returned, 200'500) << All(report);
  const int64_t blocks = Find(report, "pg_blks_read").value_or(-1) +
                         Find(report, "pg_blks_hit").value_or(-1);
  EXPECT_GE(blocks, pages) << All(report);
  EXPECT_LE(blocks, pages + 500) << All(report);
  EXPECT_EQ(Find(report, "pg_temp_files"), 0);
  EXPECT_EQ(Find(report, "pg_temp_bytes"), 0);
  EXPECT_EQ(Find(report, "pg_deadlocks"), 0);
  EXPECT_TRUE(Find(report, "wal_bytes").has_value());
  EXPECT_EQ(Find(report, "snapshot_hold_ms"), 120);
  EXPECT_EQ(Find(report, "longest_statement_ms"), 100);
  EXPECT_TRUE(Says(report, "replication_lag_max_bytes: no standby is connected")) << All(report);
  EXPECT_TRUE(Says(report, "buffers_evicted: extension pg_buffercache is not in this database"));
  EXPECT_TRUE(
      Says(report, "statements_calls: extension pg_stat_statements is not in this database"));
}

TEST(HarmMeter, CountsWhatASpillLeaves) {
  test::Database db;
  sys::RealClock clock;
  const sys::Stop never;
  auto connection = Open(db.url(), never);
  auto meter = HarmMeter::Start(For(db.url(), ""), clock, never);
  ASSERT_TRUE(connection
                  ->Exec("SET work_mem = '64kB'; SELECT pg_stat_force_next_flush(); "
                         "CREATE TABLE sorted AS "
                         "SELECT n FROM generate_series(1, 50000) AS n ORDER BY n % 1000")
                  .ok());
  const HarmReport report = meter->Finish({}, {});
  EXPECT_GT(Find(report, "pg_temp_files").value_or(0), 0) << All(report);
  EXPECT_GT(Find(report, "pg_temp_bytes").value_or(0), 100'000) << All(report);
  EXPECT_GT(Find(report, "wal_bytes").value_or(0), 100'000) << All(report);
}

TEST(HarmMeter, SeesTheOldestSnapshotAndTheSessionsOfItsRun) {
  test::Database db;
  sys::RealClock clock;
  const sys::Stop never;
  auto meter = HarmMeter::Start(For(db.url(), ""), clock, never);
  auto one = Open(db.url(), never);
  auto two = Open(db.url(), never);
  const auto other = Connection::Open(Target::Parse(db.url()).value(), "weir/r10/t", never);
  ASSERT_TRUE(one->Exec("BEGIN ISOLATION LEVEL REPEATABLE READ; SELECT 1").ok());
  for (int i = 0; i < 20; ++i) db.Text("SELECT txid_current()");
  meter->SampleNow();
  ASSERT_TRUE(one->Exec("COMMIT").ok());
  const HarmReport report = meter->Finish({}, {});
  EXPECT_GE(Find(report, "xmin_age_max").value_or(-1), 20) << All(report);
  EXPECT_LT(Find(report, "xmin_age_max").value_or(-1), 200) << All(report);
  EXPECT_EQ(Find(report, "connections_max"), 3) << All(report);
}

TEST(HarmMeter, SamplesByItselfAndHoldsNoSnapshot) {
  test::Database db;
  sys::RealClock clock;
  const sys::Stop never;
  auto meter = HarmMeter::Start(For(db.url(), ""), clock, never);
  // A sample is a statement of the meter's session: wait until the server has seen a later one.
  const std::string mine =
      "FROM pg_stat_activity WHERE application_name = 'weir/r1/harm' AND datname = '" + db.name() +
      "'";
  const std::string first = db.Text("SELECT query_start " + mine);
  while (db.Text("SELECT query_start " + mine) == first) {
  }
  EXPECT_EQ(db.Text("SELECT count(*) " + mine), "1");
  while (db.Text("SELECT state " + mine) != "idle") {
  }
  EXPECT_EQ(db.Text("SELECT xact_start " + mine + " AND state = 'idle' UNION ALL SELECT NULL"), "");
  meter.reset();
}

TEST(HarmMeter, ReadsStatementsAndBuffersWhereItCan) {
  LocalServerOptions options;
  options.durable = false;
  options.settings = {{"shared_preload_libraries", "pg_stat_statements"},
                      {"shared_buffers", "8MB"},
                      {"autovacuum", "off"}};
  auto started = LocalServer::Start(options);
  ASSERT_TRUE(started.ok()) << started.error().message;
  const std::string url = started.value()->url();
  sys::RealClock clock;
  const sys::Stop never;
  auto connection = Open(url, never);
  ASSERT_TRUE(connection
                  ->Exec("CREATE SCHEMA \"Odd\"; CREATE EXTENSION pg_buffercache; "
                         "CREATE EXTENSION pg_stat_statements SCHEMA \"Odd\"")
                  .ok());
  // Each below a quarter of shared_buffers, so that a scan of it uses all of them.
  for (const char* table : {"warm", "a", "b", "c", "d", "e"}) {
    const std::string create = fmt::format(
        "CREATE TABLE {0} AS SELECT repeat('x', 100) FROM generate_series(1, 12000); "
        "VACUUM (FREEZE, ANALYZE) {0}",
        table);
    for (size_t at = 0; at < create.size();) {  // VACUUM must be sent alone.
      const size_t end = std::min(create.find(';', at), create.size());
      ASSERT_TRUE(connection->Exec(create.substr(at, end - at)).ok());
      at = end + 1;
    }
  }
  ASSERT_TRUE(connection->Exec("SELECT count(*) FROM warm").ok());

  auto idle = HarmMeter::Start(For(url, "a"), clock, never);
  HarmReport report = idle->Finish({}, {});
  EXPECT_EQ(Find(report, "buffers_evicted"), 0) << All(report);
  EXPECT_EQ(Find(report, "pg_temp_files"), 0) << All(report);

  auto meter = HarmMeter::Start(For(url, "a"), clock, never);
  for (const char* table : {"a", "b", "c", "d", "e"}) Export(*connection, table);
  report = meter->Finish({}, {});
  EXPECT_GT(Find(report, "buffers_evicted").value_or(0), 50) << All(report);
  EXPECT_GE(Find(report, "statements_calls").value_or(0), 5) << All(report);
  EXPECT_GE(Find(report, "statements_ms").value_or(0), 1) << All(report);
}

// Copies a running server into `folder`, in the shape that LocalServer takes up, as its standby.
void MakeStandby(const LocalServer& primary, const std::string& folder) {
  std::filesystem::create_directory(folder);
  std::filesystem::permissions(folder, std::filesystem::perms(0700));
  std::ofstream(folder + "/lock").close();
  sys::ChildOptions copy;
  copy.argv = {FindServerPrograms().value() + "/pg_basebackup",
               "--pgdata=" + folder + "/data",
               "--dbname=" + primary.url(),
               "--write-recovery-conf",
               "--checkpoint=fast",
               "--no-sync"};
  copy.folder = folder;
  copy.output_path = folder + "/copy_log";
  if (geteuid() == 0) {
    copy.user = sys::FindUser("postgres").value();
    ASSERT_EQ(chown(folder.c_str(), copy.user->uid, copy.user->gid), 0);
  }
  auto child = sys::Child::Start(copy);
  ASSERT_TRUE(child.ok()) << child.error().message;
  ASSERT_EQ(child.value()->Wait(), 0);
}

TEST(HarmMeter, MeasuresHowFarAStandbyLagsAndReadsFromOne) {
  LocalServerOptions options;
  options.durable = false;
  auto primary = LocalServer::Start(options);
  ASSERT_TRUE(primary.ok()) << primary.error().message;
  const test::TempFolder folder;
  std::filesystem::permissions(folder.path(), std::filesystem::perms(0755));
  options.folder = folder.Path("standby");
  MakeStandby(*primary.value(), options.folder);
  auto standby = LocalServer::Start(options);
  ASSERT_TRUE(standby.ok()) << standby.error().message;

  sys::RealClock clock;
  const sys::Stop never;
  const std::string url = primary.value()->url();
  auto connection = Open(url, never);
  const auto replaying = [&] {
    return connection->QueryRow("SELECT max(replay_lsn) FROM pg_stat_replication").value()[0];
  };
  while (!replaying()) {
  }
  const auto replica = Open(standby.value()->url(), never);
  ASSERT_TRUE(replica->Exec("SELECT pg_wal_replay_pause()").ok());
  // Asked for is not yet done: what comes before the pause would still be replayed.
  while (replica->QueryRow("SELECT pg_get_wal_replay_pause_state()").value()[0] != "paused") {
  }
  auto meter = HarmMeter::Start(For(url, ""), clock, never);
  // Lag is counted from what is written; an asynchronous commit leaves that for later.
  ASSERT_TRUE(connection
                  ->Exec("SET synchronous_commit = on; "
                         "CREATE TABLE t AS SELECT generate_series(1, 20000)")
                  .ok());
  meter->SampleNow();
  HarmReport report = meter->Finish({}, {});
  EXPECT_GT(Find(report, "replication_lag_max_bytes").value_or(0), 500'000) << All(report);
  EXPECT_GT(Find(report, "wal_bytes").value_or(0), 500'000) << All(report);

  report = HarmMeter::Start(For(standby.value()->url(), ""), clock, never)->Finish({}, {});
  EXPECT_TRUE(Says(report, "wal_bytes: the source is a standby and writes none")) << All(report);
  EXPECT_TRUE(Find(report, "pg_tup_returned").has_value()) << All(report);
}

TEST(HarmMeter, SaysWhyWhenNothingCanBeRead) {
  sys::RealClock clock;
  const sys::Stop never;
  auto meter = HarmMeter::Start(For("postgresql://u:secret@127.0.0.1:1/db", "t"), clock, never);
  meter->SampleNow();
  const HarmReport report = meter->Finish(milliseconds(5), milliseconds(6));
  EXPECT_EQ(report.metrics.size(), 2U) << All(report);
  EXPECT_EQ(report.absent_reasons.size(), 14U) << All(report);
  EXPECT_NE(All(report).find("wal_bytes: cannot connect"), std::string::npos) << All(report);
  EXPECT_EQ(All(report).find("secret"), std::string::npos) << All(report);
}

TEST(HarmMeter, AStoppedRunKeepsItsSamplesAndReadsNoMore) {
  test::Database db;
  sys::RealClock clock;
  sys::Stop stop;
  auto meter = HarmMeter::Start(For(db.url(), ""), clock, stop);
  stop.Ask();
  const HarmReport report = meter->Finish({}, {});
  EXPECT_TRUE(Says(report, "pg_tup_returned: the run was stopped")) << All(report);
  EXPECT_EQ(Find(report, "connections_max"), 1) << All(report);
}

// What does not hang on track_counts is measured all the same.
TEST(HarmMeter, WithoutTrackCountsTheRestIsMeasured) {
  LocalServerOptions options;
  options.durable = false;
  options.meters = true;
  options.settings = {{"track_counts", "off"}};
  const auto server = LocalServer::Start(options).value();
  sys::RealClock clock;
  const sys::Stop never;
  const auto meter = HarmMeter::Start(For(server->url(), ""), clock, never);
  const auto connection = Open(server->url(), never);
  ASSERT_TRUE(connection
                  ->Exec("SET synchronous_commit = on; "
                         "CREATE TABLE t AS SELECT generate_series(1, 20000)")
                  .ok());
  const HarmReport report = meter->Finish({}, {});
  EXPECT_TRUE(Says(report, "pg_tup_returned: track_counts is off")) << All(report);
  EXPECT_GT(Find(report, "wal_bytes").value_or(0), 500'000) << All(report);
  EXPECT_TRUE(Find(report, "statements_calls").has_value()) << All(report);
  EXPECT_TRUE(Find(report, "buffers_evicted").has_value()) << All(report);
}

TEST(HarmMeter, AResetDuringTheRunIsNoNegativeHarm) {
  test::Database db;
  sys::RealClock clock;
  const sys::Stop never;
  db.Exec("CREATE TABLE t AS SELECT generate_series(1, 10000)");
  db.Text("SELECT pg_stat_force_next_flush()");
  auto meter = HarmMeter::Start(For(db.url(), ""), clock, never);
  db.Text("SELECT pg_stat_reset()");
  const HarmReport report = meter->Finish({}, {});
  EXPECT_TRUE(Says(report, "pg_blks_hit: the counter was reset during the run")) << All(report);
}

TEST(HarmMeter, NeedsNoRightsForTheCountersAndSaysWhatDoes) {
  test::Database db;
  sys::RealClock clock;
  const sys::Stop never;
  db.Exec("CREATE EXTENSION pg_buffercache");
  const std::string role = db.name() + "_reader";
  db.Exec("CREATE ROLE " + role + " LOGIN");
  Target target = Target::Parse(db.url()).value();
  target.Set("user", role);
  {
    auto meter = HarmMeter::Start({.target = target, .run_id = "r1", .table = "t"}, clock, never);
    const HarmReport report = meter->Finish({}, {});
    EXPECT_TRUE(Find(report, "pg_tup_returned").has_value()) << All(report);
    EXPECT_TRUE(Find(report, "wal_bytes").has_value()) << All(report);
    EXPECT_EQ(Find(report, "connections_max"), 1) << All(report);
    EXPECT_NE(All(report).find("buffers_evicted: permission denied"), std::string::npos)
        << All(report);
  }
  db.Exec("DROP ROLE " + role);
}

}  // namespace
}  // namespace weir::pg
