#include "weir/ledger/sqlite_ledger.h"

#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cstdlib>
#include <functional>
#include <optional>
#include <thread>

#include "tests/support/folder.h"
#include "weir/ledger/database_internal.h"
#include "weir/sys/files.h"

namespace weir::ledger {
namespace {

class Folder : public test::TempFolder {
 public:
  std::string state() const { return Path(".weir_state.db"); }
  std::vector<std::string> Names() const { return sys::DiskFiles().List(path()).value(); }
};

std::unique_ptr<Ledger> OpenOrDie(const std::string& path, sys::Clock& clock) {
  auto opened = OpenSqliteLedger(path, clock);
  if (!opened.ok()) std::fprintf(stderr, "%s\n", opened.error().message.c_str());
  EXPECT_TRUE(opened.value().warnings.empty());
  return std::move(opened.value().ledger);
}

RunStart Start(const std::string& run_id, const std::string& export_name = "content_items") {
  RunStart start;
  start.run_id = run_id;
  start.run_group_id = "group-1";
  start.export_name = export_name;
  start.format = "parquet";
  start.tuning_profile = "balanced";
  start.weir_version = "0.1.0";
  start.batch_size = 10'000;
  start.batch_size_memory_mb = 32;
  return start;
}

RunEnd FullEnd() {
  RunEnd end;
  end.status = RunStatus::kSuccess;
  end.error_message = "none 'at' all; ok \xc3\xa9";
  end.error_class = "class";
  end.skip_reason = "";
  int64_t next = 100;
  for (auto* number :
       {&end.duration_ms, &end.total_rows, &end.peak_rss_mb, &end.files_produced,
        &end.files_committed, &end.bytes_written, &end.bytes_read, &end.retries, &end.source_count,
        &end.pg_temp_bytes_delta, &end.longest_chunk_ms, &end.batches, &end.rows_per_batch,
        &end.slept_ms, &end.source_wait_ms, &end.decode_ms, &end.encode_ms, &end.write_ms}) {
    *number = next++;
  }
  end.retries = 0;
  end.validated = true;
  end.reconciled = false;
  end.quality_passed = true;
  end.schema_changed = false;
  end.schema_fingerprint = "abc";
  end.cursor_min = "1";
  end.cursor_max = "9";
  end.key_descriptor_json = "{}";
  end.offending_value = "x";
  end.server_context_json = R"({"version":"15.3"})";
  return end;
}

std::string OpenError(const std::string& path) {
  sys::RealClock clock;
  const auto opened = OpenSqliteLedger(path, clock);
  return opened.ok() ? "it opened" : opened.error().message;
}

std::string ReadError(const std::string& path) {
  sys::RealClock clock;
  const auto opened = ReadSqliteLedger(path, clock);
  return opened.ok() ? "it opened" : opened.error().message;
}

// Runs `work` in a child process; its return value is the exit status.
pid_t Spawn(const std::function<int()>& work) {
  const pid_t child = fork();
  if (child == 0) _exit(work());
  return child;
}

int WaitFor(pid_t child) {
  int status = 0;
  EXPECT_EQ(waitpid(child, &status, 0), child);
  return status;
}

TEST(SqliteLedger, KeepsEveryValueOfARun) {
  const Folder folder;
  sys::ManualClock clock;
  clock.Advance(std::chrono::milliseconds(1500));
  const auto ledger = OpenOrDie(folder.state(), clock);
  auto lock = ledger->LockExport("content_items");
  ASSERT_TRUE(lock.ok());
  RunStart start = Start("run-1");
  start.chunk_size = 7;
  start.chunk_key = "id";
  ASSERT_TRUE(ledger->Begin(*lock.value(), start).ok());

  auto rows = ledger->Runs({}).value();
  ASSERT_EQ(rows.size(), 1u);
  EXPECT_EQ(rows[0].run_at, "1970-01-01T00:00:01.500Z");
  EXPECT_EQ(rows[0].start, start);
  RunEnd nothing_yet;
  nothing_yet.status = RunStatus::kRunning;
  EXPECT_EQ(rows[0].end, nothing_yet);

  const RunEnd end = FullEnd();
  ASSERT_TRUE(ledger->Finish("run-1", end).ok());
  rows = ledger->Runs({}).value();
  ASSERT_EQ(rows.size(), 1u);
  EXPECT_EQ(rows[0].start, start);
  EXPECT_EQ(rows[0].end, end);
}

TEST(SqliteLedger, FilesAndHarmAreFilteredNewestFirstAndReplacedByRepeats) {
  const Folder folder;
  sys::ManualClock clock;
  const auto ledger = OpenOrDie(folder.state(), clock);
  for (const char* name : {"a", "b"}) {
    const auto lock = ledger->LockExport(name);
    ASSERT_TRUE(ledger->Begin(*lock.value(), Start(std::string("run-") + name, name)).ok());
  }
  const std::vector<FilePart> parts = {{"part-1.parquet", 10, 100, "00ff"},
                                       {"part-2.parquet", 20, 200, "11ff"}};
  ASSERT_TRUE(ledger->RecordFiles("run-a", parts).ok());
  ASSERT_TRUE(ledger->RecordFiles("run-a", parts).ok());
  ASSERT_TRUE(ledger->RecordFiles("run-b", std::span(parts).first(1)).ok());
  const std::vector<Harm> harm = {{"pg_blks_read", 153'008}, {"pg_temp_files", 0}};
  ASSERT_TRUE(ledger->RecordHarm("run-a", harm).ok());
  ASSERT_TRUE(ledger->RecordHarm("run-b", harm).ok());
  ASSERT_TRUE(ledger->RecordHarm("run-a", {{Harm{"pg_temp_files", 3}}}).ok());

  EXPECT_EQ(ledger->Files({}).value().size(), 3u);
  const auto files = ledger->Files({.export_name = "a", .run_id = {}}).value();
  ASSERT_EQ(files.size(), 2u);
  EXPECT_EQ(files[0].part.path, "part-2.parquet");
  EXPECT_EQ(files[0].part.rows, 20);
  EXPECT_EQ(files[0].part.bytes, 200);
  EXPECT_EQ(files[0].part.xxh3, "11ff");
  EXPECT_EQ(files[0].export_name, "a");

  const auto harm_rows = ledger->HarmOf({.export_name = {}, .run_id = "run-a"}).value();
  ASSERT_EQ(harm_rows.size(), 2u);  // A zero is a row.
  EXPECT_EQ(harm_rows[0].metric, "pg_temp_files");
  EXPECT_EQ(harm_rows[0].delta, 3);
  EXPECT_EQ(harm_rows[1].delta, 153'008);

  EXPECT_EQ(ledger->Runs({.export_name = {}, .run_id = {}, .limit = 1}).value()[0].start.run_id,
            "run-b");
  EXPECT_TRUE(ledger->Runs({.export_name = {}, .run_id = {}, .limit = -1}).value().empty());
  EXPECT_TRUE(ledger->Runs({.export_name = "none", .run_id = {}}).value().empty());
}

TEST(SqliteLedger, TheSeedsJoinReadsHarmBesideItsRun) {
  const Folder folder;
  sys::ManualClock clock;
  const auto ledger = OpenOrDie(folder.state(), clock);
  const auto lock = ledger->LockExport("content_items");
  ASSERT_TRUE(ledger->Begin(*lock.value(), Start("run-1")).ok());
  ASSERT_TRUE(ledger->RecordHarm("run-1", {{Harm{"pg_blks_read", 153'008}}}).ok());
  ASSERT_TRUE(ledger->Finish("run-1", FullEnd()).ok());

  auto database = Database::Open(folder.state()).value();
  auto query = database
                   ->Prepare("SELECT m.run_id, m.duration_ms, h.metric, h.delta FROM export_harm h "
                             "JOIN export_metrics m USING(run_id) "
                             "WHERE m.export_name = 'content_items' ORDER BY m.id")
                   .value();
  ASSERT_TRUE(query.Step().value());
  std::string metric;
  query.Read("metric", metric);
  EXPECT_EQ(metric, "pg_blks_read");
  EXPECT_FALSE(query.Step().value());
}

TEST(SqliteLedger, RefusesRunsThatWereNotBegunOrAreOver) {
  const Folder folder;
  sys::ManualClock clock;
  const auto ledger = OpenOrDie(folder.state(), clock);
  const std::string state = folder.state();
  const std::vector<FilePart> parts = {{"p", 1, 1, "00"}};
  const std::vector<Harm> harm = {{"m", 1}};
  const std::string no_run =
      "state file '" + state + "' has no run 'ghost'; begin it first";
  EXPECT_EQ(ledger->RecordFiles("ghost", parts).error().message, no_run);
  EXPECT_EQ(ledger->RecordHarm("ghost", harm).error().message, no_run);
  EXPECT_EQ(ledger->RecordHarm("ghost", harm).error().code, Code::kNotFound);
  EXPECT_EQ(ledger->Finish("ghost", FullEnd()).error().message,
            "state file '" + state + "' has no running run 'ghost'; begin it first");

  const auto lock = ledger->LockExport("content_items");
  ASSERT_TRUE(ledger->Begin(*lock.value(), Start("run-1")).ok());
  const auto again = ledger->Begin(*lock.value(), Start("run-1"));
  EXPECT_EQ(again.error().message,
            "state file '" + state + "' already has a run 'run-1'; choose another run id");
  // An export has at most one running row, even when the caller forgets the first.
  EXPECT_FALSE(ledger->Begin(*lock.value(), Start("run-2")).ok());
  ASSERT_TRUE(ledger->Finish("run-1", FullEnd()).ok());
  EXPECT_FALSE(ledger->Finish("run-1", FullEnd()).ok());
  EXPECT_EQ(ledger->Runs({}).value().size(), 1u);
}

TEST(SqliteLedger, TheStateFileIsPrivate) {
  const Folder folder;
  sys::RealClock clock;
  const mode_t before = umask(0);
  (void)OpenOrDie(folder.state(), clock);
  umask(before);
  for (const std::string& path : {folder.state(), folder.state() + ".lock"}) {
    struct stat info {};
    ASSERT_EQ(stat(path.c_str(), &info), 0);
    EXPECT_EQ(info.st_mode & 0777, 0600u) << path;
  }
}

TEST(SqliteLedger, TheSameExportTwiceAtOnceIsRefusedByName) {
  const Folder folder;
  sys::ManualClock clock;
  const auto one = OpenOrDie(folder.state(), clock);
  const auto two = OpenOrDie(folder.path() + "/./.weir_state.db", clock);
  auto lock = one->LockExport("content_items");
  ASSERT_TRUE(one->Begin(*lock.value(), Start("run-1")).ok());

  const auto refused = two->LockExport("content_items");
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.error().code, Code::kUnavailable);
  EXPECT_EQ(refused.error().message,
            "export 'content_items' is running already as run 'run-1' since "
            "1970-01-01T00:00:00.000Z (state file '" +
                folder.state() + "'); wait until it ends or stop it, then run again");
  EXPECT_FALSE(one->LockExport("content_items").ok());
  EXPECT_TRUE(two->LockExport("other").ok());
  EXPECT_EQ(two->Runs({}).value()[0].end.status, RunStatus::kRunning);

  ASSERT_TRUE(one->Finish("run-1", FullEnd()).ok());
  lock.value().reset();
  EXPECT_TRUE(two->LockExport("content_items").ok());
}

// Begins run-1 in a child that then waits; kills it with SIGKILL once it says so.
void KillARunningExport(const std::string& state) {
  std::array<int, 2> ready{};
  ASSERT_EQ(pipe(ready.data()), 0);
  const pid_t child = Spawn([&] {
    sys::RealClock clock;
    const auto ledger = OpenOrDie(state, clock);
    const auto lock = ledger->LockExport("content_items");
    if (!lock.ok() || !ledger->Begin(*lock.value(), Start("run-1")).ok()) return 1;
    if (write(ready[1], "x", 1) != 1) return 2;
    while (true) pause();
  });
  char byte = 0;
  ASSERT_EQ(read(ready[0], &byte, 1), 1);
  {
    sys::RealClock clock;
    const auto ledger = OpenOrDie(state, clock);
    EXPECT_FALSE(ledger->LockExport("content_items").ok());
    EXPECT_EQ(ledger->Runs({}).value()[0].end.status, RunStatus::kRunning);
  }
  ASSERT_EQ(kill(child, SIGKILL), 0);
  EXPECT_TRUE(WIFSIGNALED(WaitFor(child)));
  close(ready[0]);
  close(ready[1]);
}

constexpr const char* kDied =
    "the process that ran it ended without saying how; run the export again";

TEST(SqliteLedger, AKilledRunLetsGoAndBecomesInterruptedAtTheNextStart) {
  const Folder folder;
  KillARunningExport(folder.state());
  sys::RealClock clock;
  const auto ledger = OpenOrDie(folder.state(), clock);
  const auto lock = ledger->LockExport("content_items");
  ASSERT_TRUE(lock.ok());
  const auto rows = ledger->Runs({}).value();
  EXPECT_EQ(rows[0].end.status, RunStatus::kInterrupted);
  EXPECT_EQ(rows[0].end.error_message, kDied);
  EXPECT_EQ(rows[0].end.error_class, "process_died");
  EXPECT_TRUE(ledger->Begin(*lock.value(), Start("run-2")).ok());
}

TEST(SqliteLedger, DeadRunsAreToldFromLivingOnesWithoutAWrite) {
  const Folder folder;
  KillARunningExport(folder.state());
  sys::RealClock clock;
  const auto ledger = OpenOrDie(folder.state(), clock);
  const auto lock = ledger->LockExport("other");
  ASSERT_TRUE(ledger->Begin(*lock.value(), Start("run-2", "other")).ok());
  const std::string before = sys::DiskFiles().Read(folder.state(), 1 << 20).value();
  const auto rows = ReadSqliteLedger(folder.state(), clock).value()->Runs({}).value();
  EXPECT_EQ(rows[0].end.status, RunStatus::kRunning);
  EXPECT_EQ(rows[1].end.status, RunStatus::kInterrupted);
  EXPECT_EQ(rows[1].end.error_message, kDied);
  EXPECT_EQ(sys::DiskFiles().Read(folder.state(), 1 << 20).value(), before);
}

// One run, start to end, as the exporter does it. Dies where WEIR_FAULT says.
int RunOnce(const std::string& state) {
  sys::RealClock clock;
  const auto ledger = OpenOrDie(state, clock);
  const auto lock = ledger->LockExport("content_items");
  const std::vector<FilePart> parts = {{"part-1.parquet", 10, 100, "00ff"}};
  const std::vector<Harm> harm = {{"pg_blks_read", 1}};
  const bool done = lock.ok() && ledger->Begin(*lock.value(), Start("run-1")).ok() &&
                    ledger->RecordFiles("run-1", parts).ok() &&
                    ledger->RecordHarm("run-1", harm).ok() &&
                    ledger->Finish("run-1", FullEnd()).ok();
  return done ? 0 : 1;
}

struct Crash {
  const char* fault;
  size_t files;
  size_t harm;
  RunStatus status_after;
};

class SqliteLedgerDeathTest : public testing::TestWithParam<Crash> {};

// The child starts this binary again ("threadsafe"), so that it reads WEIR_FAULT afresh; the folder
// reaches it through the environment: one of its own would stay behind when it is killed.
TEST_P(SqliteLedgerDeathTest, WhatWasRecordedBeforeTheKillIsThereAfterwards) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  const Crash& crash = GetParam();
  std::optional<Folder> folder;
  if (std::getenv("WEIR_LEDGER_TEST_STATE") == nullptr) {
    folder.emplace();
    setenv("WEIR_LEDGER_TEST_STATE", folder->state().c_str(), 1);
  }
  EXPECT_EXIT(
      {
        setenv("WEIR_FAULT", crash.fault, 1);
        _exit(RunOnce(std::getenv("WEIR_LEDGER_TEST_STATE")));
      },
      testing::KilledBySignal(SIGKILL), "");
  unsetenv("WEIR_LEDGER_TEST_STATE");

  sys::RealClock clock;
  const auto ledger = OpenOrDie(folder->state(), clock);
  ASSERT_EQ(ledger->Runs({}).value().size(), 1u);
  EXPECT_EQ(ledger->Files({}).value().size(), crash.files);
  EXPECT_EQ(ledger->HarmOf({}).value().size(), crash.harm);
  ASSERT_TRUE(ledger->LockExport("content_items").ok());
  EXPECT_EQ(ledger->Runs({}).value()[0].end.status, crash.status_after);
}

INSTANTIATE_TEST_SUITE_P(
    EveryFaultPoint, SqliteLedgerDeathTest,
    testing::Values(Crash{"ledger.begun", 0, 0, RunStatus::kInterrupted},
                    Crash{"ledger.files_recorded", 1, 0, RunStatus::kInterrupted},
                    Crash{"ledger.harm_recorded", 1, 1, RunStatus::kInterrupted},
                    Crash{"ledger.finished", 1, 1, RunStatus::kSuccess}),
    [](const auto& info) {
      std::string name = info.param.fault;
      std::replace(name.begin(), name.end(), '.', '_');
      return name;
    });

// Goal:   first runs that start together all work: one makes the schema, the others wait.
// Method: children stop at a pipe until the parent closes it, then open and run an export each.
TEST(SqliteLedger, ManyFirstRunsAtOnceAllWork) {
  constexpr int kChildren = 8;
  const Folder folder;
  std::array<int, 2> gate{};
  ASSERT_EQ(pipe(gate.data()), 0);
  std::vector<pid_t> children;
  for (int i = 0; i < kChildren; ++i) {
    children.push_back(Spawn([&] {
      close(gate[1]);
      char byte = 0;
      (void)!read(gate[0], &byte, 1);  // Returns when the parent closes its end.
      sys::RealClock clock;
      const auto ledger = OpenOrDie(folder.state(), clock);
      const std::string name = fmt::format("export_{}", i);
      const auto lock = ledger->LockExport(name);
      if (!lock.ok() || !ledger->Begin(*lock.value(), Start(name, name)).ok()) return 1;
      return ledger->Finish(name, FullEnd()).ok() ? 0 : 1;
    }));
  }
  close(gate[0]);
  close(gate[1]);
  for (const pid_t child : children) EXPECT_EQ(WaitFor(child), 0);
  sys::RealClock clock;
  EXPECT_EQ(OpenOrDie(folder.state(), clock)->Runs({}).value().size(), size_t{kChildren});
}

TEST(SqliteLedger, ThreadsShareOneLedger) {
  const Folder folder;
  sys::RealClock clock;
  const auto ledger = OpenOrDie(folder.state(), clock);
  const auto lock = ledger->LockExport("content_items");
  ASSERT_TRUE(ledger->Begin(*lock.value(), Start("run-1")).ok());
  std::vector<std::thread> threads;
  for (int worker = 0; worker < 4; ++worker) {
    threads.emplace_back([&, worker] {
      for (int i = 0; i < 5; ++i) {
        const std::vector<FilePart> parts = {{fmt::format("{}-{}", worker, i), 1, 1, "00"}};
        EXPECT_TRUE(ledger->RecordFiles("run-1", parts).ok());
      }
    });
  }
  for (auto& thread : threads) thread.join();
  EXPECT_EQ(ledger->Files({}).value().size(), 20u);
}

TEST(SqliteLedger, ADamagedFileIsSetAsideWholeAndANewOneBegun) {
  sys::DiskFiles files;
  const std::string garbage = "this is not a database, though it is longer than one header: " +
                              std::string(2000, '#');
  for (const std::string& contents : {garbage, std::string("short")}) {
    const Folder folder;
    ASSERT_TRUE(files.WriteWhole(folder.state(), contents).ok());
    ASSERT_TRUE(files.WriteWhole(folder.state() + "-journal", "journal").ok());
    sys::ManualClock clock;
    const auto opened = OpenSqliteLedger(folder.state(), clock);
    ASSERT_TRUE(opened.ok()) << opened.error().message;
    const std::string aside = folder.state() + ".corrupt-1970-01-01T00:00:00.000Z";
    ASSERT_EQ(opened.value().warnings.size(), 1u);
    EXPECT_EQ(opened.value().warnings[0],
              "state file '" + folder.state() + "' is damaged or not SQLite's; it was kept as '" +
                  aside + "' and a new one was begun, so earlier runs are not shown");
    EXPECT_EQ(files.Read(aside, 1 << 20).value(), contents);
    EXPECT_TRUE(opened.value().ledger->Runs({}).value().empty());
  }
}

// Goal:   no damage to the bytes is fatal: the file opens, or it is set aside.
// Method: overwrite a stretch of a real state file at each of its pages.
TEST(SqliteLedger, DamageAnywhereNeverStopsTheNextRun) {
  sys::DiskFiles files;
  const Folder source;
  ASSERT_EQ(RunOnce(source.state()), 0);
  const std::string whole = files.Read(source.state(), 1 << 20).value();
  for (size_t at = 0; at < whole.size(); at += 4096) {
    const Folder folder;
    std::string damaged = whole;
    damaged.replace(at, 64, std::string(64, '\xee'));
    ASSERT_TRUE(files.WriteWhole(folder.state(), damaged).ok());
    sys::RealClock clock;
    const auto opened = OpenSqliteLedger(folder.state(), clock);
    ASSERT_TRUE(opened.ok()) << "at " << at << ": " << opened.error().message;
    EXPECT_TRUE(opened.value().ledger->LockExport("content_items").ok()) << "at " << at;
    EXPECT_EQ(folder.Names().size(), opened.value().warnings.empty() ? 2u : 3u) << "at " << at;
  }
}

TEST(SqliteLedger, ATruncatedFileIsSetAsideToo) {
  sys::DiskFiles files;
  const Folder source;
  ASSERT_EQ(RunOnce(source.state()), 0);
  const std::string whole = files.Read(source.state(), 1 << 20).value();
  const Folder folder;
  ASSERT_TRUE(files.WriteWhole(folder.state(), whole.substr(0, 8192)).ok());
  sys::RealClock clock;
  const auto opened = OpenSqliteLedger(folder.state(), clock);
  ASSERT_TRUE(opened.ok());
  EXPECT_EQ(opened.value().warnings.size(), 1u);
}

TEST(SqliteLedger, ManyThatFindTheSameDamageSetItAsideOnce) {
  constexpr int kChildren = 6;
  const Folder folder;
  ASSERT_TRUE(sys::DiskFiles().WriteWhole(folder.state(), std::string(5000, 'z')).ok());
  std::vector<pid_t> children;
  for (int i = 0; i < kChildren; ++i) {
    children.push_back(Spawn([&] {
      sys::RealClock clock;
      const auto opened = OpenSqliteLedger(folder.state(), clock);
      return opened.ok() ? static_cast<int>(opened.value().warnings.size()) : 99;
    }));
  }
  int warnings = 0;
  for (const pid_t child : children) warnings += WEXITSTATUS(WaitFor(child));
  EXPECT_EQ(warnings, 1);
  EXPECT_EQ(folder.Names().size(), 3u);
}

TEST(SqliteLedger, AFileFromTheFutureOrFromAnotherProgramIsRefusedAndKept) {
  const Folder folder;
  const std::string state = folder.state();
  ASSERT_EQ(RunOnce(state), 0);
  ASSERT_TRUE(Database::Open(state).value()->Execute("PRAGMA user_version = 7").ok());
  EXPECT_EQ(OpenError(state),
            "state file '" + state + "' was written by a newer weir: its schema is version 7, and "
            "this weir knows versions up to 1; use the newer weir");
  EXPECT_EQ(folder.Names().size(), 2u);

  const Folder foreign;
  ASSERT_TRUE(sys::DiskFiles().WriteWhole(foreign.state(), "").ok());
  ASSERT_TRUE(Database::Open(foreign.state()).value()->Execute("CREATE TABLE t (x)").ok());
  EXPECT_EQ(OpenError(foreign.state()),
            "state file '" + foreign.state() +
                "' is another program's SQLite database; move it away, then run again");
}

TEST(SqliteLedger, FoldersAndPathsThatCannotHoldAStateFileGetOneSentence) {
  const Folder folder;
  const std::string missing = folder.path() + "/none/.weir_state.db";
  EXPECT_EQ(OpenError(missing), "cannot open state file '" + missing + "': folder '" +
                                    folder.path() + "/none' does not exist; make it first");
  EXPECT_EQ(ReadError(folder.state()),
            "cannot open state file '" + folder.state() +
                "': it does not exist; run an export first");
  EXPECT_TRUE(folder.Names().empty());
  ASSERT_TRUE(sys::DiskFiles().MakeFolder(folder.state()).ok());
  EXPECT_EQ(OpenError(folder.state()), "cannot open state file '" + folder.state() +
                                           "': it is not a regular file; move it away");
}

TEST(SqliteLedger, AnUnwritableFolderGetsOneSentence) {
  const Folder folder;
  ASSERT_EQ(chmod(folder.path().c_str(), 0555), 0);
  const pid_t child = Spawn([&] {
    // Root may write anywhere, so the child becomes someone else.
    if (geteuid() == 0 && (setegid(65534) != 0 || seteuid(65534) != 0)) return 2;
    std::string want = "cannot open state file '" + folder.state() +
                       "': Permission denied; give read and write rights on it and its folder";
    const std::string got = OpenError(folder.state());
    if (got != want) std::fprintf(stderr, "%s\n", got.c_str());
    return got == want ? 0 : 1;
  });
  EXPECT_EQ(WaitFor(child), 0);
}

// Nobody looks into a folder that may not be entered, so nothing is said of what is in it.
TEST(SqliteLedger, AFolderThatMayNotBeEnteredIsToldAsSuch) {
  const Folder folder;
  ASSERT_EQ(chmod(folder.path().c_str(), 0), 0);
  const pid_t child = Spawn([&] {
    if (geteuid() == 0 && (setegid(65534) != 0 || seteuid(65534) != 0)) return 2;
    for (const std::string& path : {folder.state(), folder.path() + "/deeper/.weir_state.db"}) {
      const std::string want = "cannot open state file '" + path + "': Permission denied; give ";
      if (ReadError(path) != want + "read rights on it and its folder") return 1;
      if (OpenError(path) != want + "read and write rights on it and its folder") return 1;
    }
    return 0;
  });
  EXPECT_EQ(WaitFor(child), 0);
}

// Whatever stands where a state file should: looking at it changes nothing and makes nothing.
TEST(SqliteLedger, ReadingTouchesNothing) {
  sys::DiskFiles files;
  const Folder source;
  ASSERT_EQ(RunOnce(source.state()), 0);
  const std::string whole = files.Read(source.state(), 1 << 20).value();
  std::string damaged = whole;
  damaged.replace(4096, 64, std::string(64, '\xee'));
  std::string wal = whole;
  wal[18] = wal[19] = 2;
  std::string older = whole;
  older[63] = 0;
  for (const std::string& contents :
       {std::string(), std::string("a picture"), std::string(5000, '#'), damaged, wal, older,
        whole.substr(0, 8192)}) {
    const Folder folder;
    ASSERT_TRUE(files.WriteWhole(folder.state(), contents).ok());
    const std::string said = ReadError(folder.state());
    EXPECT_TRUE(said.starts_with("'" + folder.state() + "' is not a state file of weir; ") ||
                said.starts_with("state file '" + folder.state() + "'"))
        << said;
    EXPECT_EQ(folder.Names().size(), 1U);
    EXPECT_EQ(files.Read(folder.state(), 1 << 20).value(), contents);
    sys::RealClock clock;
    const auto opened = ReadSqliteLedger(folder.state(), clock);
    ASSERT_FALSE(opened.ok());
    EXPECT_EQ(ExitCode(opened.error().code), 1) << said;
  }
  const Folder folder;
  ASSERT_TRUE(files.WriteWhole(folder.state(), older).ok());
  EXPECT_TRUE(ReadError(folder.state()).ends_with("run an export once to bring it up to date"));
  EXPECT_EQ(source.Names().size(), 2U);
  sys::RealClock clock;
  const auto ledger = ReadSqliteLedger(source.state(), clock).value();
  EXPECT_EQ(ledger->Files({}).value().size(), 1U);
  EXPECT_FALSE(ledger->RecordHarm("run-1", std::vector<Harm>{{"a", 1}}).ok());
  EXPECT_EQ(files.Read(source.state(), 1 << 20).value(), whole);
}

// A file of another name, such as a link's end, is refused and stays.
TEST(SqliteLedger, OnlyAFileOfTheDefaultNameIsSetAside) {
  sys::DiskFiles files;
  const Folder folder;
  const std::string picture = folder.Write("picture.jpg", std::string(5000, '#'));
  ASSERT_EQ(symlink(picture.c_str(), folder.state().c_str()), 0);
  EXPECT_EQ(OpenError(folder.state()),
            "'" + picture + "' is damaged or not a state file, and only a file named "
            ".weir_state.db is set aside; move it away, then run again");
  EXPECT_EQ(folder.Read("picture.jpg"), std::string(5000, '#'));
}

TEST(SqliteLedger, AFileThatIsTakenAwayIsToldAsSuch) {
  const Folder folder;
  sys::ManualClock clock;
  (void)OpenOrDie(folder.state(), clock);
  auto database = Database::Open(folder.state()).value();
  ASSERT_TRUE(sys::DiskFiles().Remove(folder.state()).ok());
  const auto written = database->Execute("CREATE TABLE more (x)");
  ASSERT_FALSE(written.ok());
  EXPECT_EQ(written.error().code, Code::kUnavailable);
  EXPECT_EQ(written.error().message,
            "state file '" + folder.state() +
                "' was moved or removed while weir used it; leave it in its place and run again");
}

TEST(SqliteLedger, AFullDiskIsToldAsSuch) {
  const Folder folder;
  sys::ManualClock clock;
  (void)OpenOrDie(folder.state(), clock);
  auto database = Database::Open(folder.state()).value();
  ASSERT_TRUE(database->QueryInt("SELECT 1 AS value").ok());
  ASSERT_TRUE(database->Execute("PRAGMA max_page_count = 1").ok());
  const auto full = database->Execute(
      "CREATE TABLE big (x); INSERT INTO big SELECT zeroblob(100000) FROM export_metrics "
      "UNION ALL SELECT zeroblob(100000)");
  ASSERT_FALSE(full.ok());
  EXPECT_EQ(full.error().code, Code::kExhausted);
  EXPECT_EQ(full.error().message, "state file '" + folder.state() +
                                      "': database or disk is full; free space on its disk and "
                                      "run again");
}

}  // namespace
}  // namespace weir::ledger
