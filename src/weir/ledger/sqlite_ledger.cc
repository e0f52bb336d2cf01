#include "weir/ledger/sqlite_ledger.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <mutex>
#include <set>

#include "weir/base/fault.h"
#include "weir/ledger/byte_lock_internal.h"
#include "weir/ledger/database_internal.h"
#include "weir/ledger/migrations_internal.h"
#include "weir/ledger/sql.h"
#include "weir/sys/files.h"
#include "weir/sys/hash.h"
#include "weir/sys/stop.h"

namespace weir::ledger {
namespace {

// Bytes of the lock file: one for opening, the others for exports by their hash.
constexpr int64_t kOpeningByte = 0;
constexpr uint64_t kOffsetMask = (uint64_t{1} << 62) - 1;  // Keeps offset + 1 inside off_t.

// Opening takes milliseconds, so ten seconds of waiting in steps of 10 ms means a stuck process.
constexpr int kOpeningTries = 1000;
constexpr auto kOpeningPause = std::chrono::milliseconds(10);

int64_t ByteOf(const std::string& export_name) {
  return 1 + static_cast<int64_t>(sys::Xxh3(AsBytes(export_name)) & kOffsetMask);
}

// What a run's row says once its process is known to be dead.
constexpr std::string_view kDiedClass = "process_died";
constexpr std::string_view kDiedMessage =
    "the process that ran it ended without saying how; run the export again";

std::string LockPath(const std::string& path) { return path + ".lock"; }

constexpr RunStatus kStatuses[] = {RunStatus::kRunning, RunStatus::kSuccess, RunStatus::kFailed,
                                   RunStatus::kInterrupted, RunStatus::kSkipped};

// The one list of columns that Begin() writes, for binding and for reading.
template <typename Start, typename Visit>
void VisitStart(Start& start, Visit visit) {
  visit("run_id", start.run_id);
  visit("run_group_id", start.run_group_id);
  visit("export_name", start.export_name);
  visit("mode", start.mode);
  visit("format", start.format);
  visit("tuning_profile", start.tuning_profile);
  visit("source_type", start.source_type);
  visit("destination_type", start.destination_type);
  visit("weir_version", start.weir_version);
  visit("batch_size", start.batch_size);
  visit("batch_size_memory_mb", start.batch_size_memory_mb);
  visit("chunk_size", start.chunk_size);
  visit("chunk_key", start.chunk_key);
  visit("parallel", start.parallel);
}

// The one list of columns that Finish() writes, without status.
template <typename End, typename Visit>
void VisitEnd(End& end, Visit visit) {
  visit("error_message", end.error_message);
  visit("error_class", end.error_class);
  visit("skip_reason", end.skip_reason);
  visit("duration_ms", end.duration_ms);
  visit("total_rows", end.total_rows);
  visit("peak_rss_mb", end.peak_rss_mb);
  visit("files_produced", end.files_produced);
  visit("files_committed", end.files_committed);
  visit("bytes_written", end.bytes_written);
  visit("bytes_read", end.bytes_read);
  visit("retries", end.retries);
  visit("source_count", end.source_count);
  visit("pg_temp_bytes_delta", end.pg_temp_bytes_delta);
  visit("longest_chunk_ms", end.longest_chunk_ms);
  visit("validated", end.validated);
  visit("reconciled", end.reconciled);
  visit("quality_passed", end.quality_passed);
  visit("schema_changed", end.schema_changed);
  visit("schema_fingerprint", end.schema_fingerprint);
  visit("cursor_min", end.cursor_min);
  visit("cursor_max", end.cursor_max);
  visit("key_descriptor_json", end.key_descriptor_json);
  visit("offending_value", end.offending_value);
  visit("server_context_json", end.server_context_json);
  visit("batches", end.batches);
  visit("rows_per_batch", end.rows_per_batch);
  visit("slept_ms", end.slept_ms);
  visit("source_wait_ms", end.source_wait_ms);
  visit("decode_ms", end.decode_ms);
  visit("encode_ms", end.encode_ms);
  visit("write_ms", end.write_ms);
}

struct RunningRow {
  int64_t id = 0;
  std::string run_id;
  std::string export_name;
  std::string run_at;
};

class HeldExportLock final : public ExportLock {
 public:
  HeldExportLock(ByteLock lock, std::string export_name)
      : lock_(std::move(lock)), export_name_(std::move(export_name)) {}
  const std::string& export_name() const override { return export_name_; }

 private:
  ByteLock lock_;
  std::string export_name_;
};

class SqliteLedger final : public Ledger {
 public:
  SqliteLedger(std::unique_ptr<Database> database, sys::Clock& clock)
      : database_(std::move(database)), clock_(clock) {}

  Result<std::unique_ptr<ExportLock>> LockExport(const std::string& export_name) override;
  Status Begin(const ExportLock& lock, const RunStart& start) override;
  Status RecordFiles(const std::string& run_id, std::span<const FilePart> parts) override;
  Status RecordHarm(const std::string& run_id, std::span<const Harm> harm) override;
  Status Finish(const std::string& run_id, const RunEnd& end) override;
  Result<std::vector<RunRow>> Runs(const Filter& filter) override;
  Result<std::vector<FileRow>> Files(const Filter& filter) override;
  Result<std::vector<HarmRow>> HarmOf(const Filter& filter) override;

 private:
  std::string Now() const { return sys::FormatUtc(clock_.WallMillis()); }
  const std::string& path() const { return database_->path(); }
  Error NoRun(const std::string& run_id, std::string_view what) const;
  Error AlreadyRunning(const std::string& export_name);
  Result<std::vector<RunningRow>> Running(const std::optional<std::string>& export_name);
  Status Settle(std::span<const RunningRow> dead);
  Result<std::set<int64_t>> DeadRuns();
  Result<Statement> Select(std::string_view sql, const Filter& filter);

  std::mutex mutex_;
  std::unique_ptr<Database> database_;
  sys::Clock& clock_;
};

Error SqliteLedger::NoRun(const std::string& run_id, std::string_view what) const {
  return Fail(Code::kNotFound, "state file '{}' has no {} '{}'; begin it first", path(), what,
              run_id);
}

Error SqliteLedger::AlreadyRunning(const std::string& export_name) {
  const auto rows = Running(export_name);
  std::string which;
  if (rows.ok() && !rows.value().empty()) {
    const RunningRow& row = rows.value().back();
    which = fmt::format(" as run '{}' since {}", row.run_id, row.run_at);
  }
  return Fail(Code::kUnavailable,
              "export '{}' is running already{} (state file '{}'); wait until it ends or stop it, "
              "then run again",
              export_name, which, path());
}

Result<std::vector<RunningRow>> SqliteLedger::Running(
    const std::optional<std::string>& export_name) {
  WEIR_TRY(Statement list, database_->Prepare(sql::kListRunning));
  list.Bind("export_name", export_name);
  std::vector<RunningRow> rows;
  while (true) {
    WEIR_TRY(const bool more, list.Step());
    if (!more) return rows;
    RunningRow& row = rows.emplace_back();
    list.Read("id", row.id);
    list.Read("run_id", row.run_id);
    list.Read("export_name", row.export_name);
    list.Read("run_at", row.run_at);
  }
}

Status SqliteLedger::Settle(std::span<const RunningRow> dead) {
  if (dead.empty()) return Ok();
  WEIR_TRY(Transaction transaction, Transaction::Start(*database_));
  WEIR_TRY(Statement settle, database_->Prepare(sql::kSettleRun));
  for (const RunningRow& row : dead) {
    settle.Bind("id", row.id);
    settle.Bind("error_class", kDiedClass);
    settle.Bind("error_message", kDiedMessage);
    WEIR_DO(settle.Step());
    settle.Reset();
  }
  return transaction.Commit();
}

Result<std::unique_ptr<ExportLock>> SqliteLedger::LockExport(const std::string& export_name) {
  const std::lock_guard guard(mutex_);
  WEIR_TRY(auto lock, ByteLock::TryTake(LockPath(path()), ByteOf(export_name)));
  if (!lock.has_value()) return AlreadyRunning(export_name);
  // The lock is ours, so whoever left these rows running is dead.
  WEIR_TRY(const auto dead, Running(export_name));
  WEIR_DO(Settle(dead));
  return std::unique_ptr<ExportLock>(
      std::make_unique<HeldExportLock>(*std::move(lock), export_name));
}

Status SqliteLedger::Begin(const ExportLock& lock, const RunStart& start) {
  WEIR_ASSERT(lock.export_name() == start.export_name);
  const std::lock_guard guard(mutex_);
  {
    WEIR_TRY(Transaction transaction, Transaction::Start(*database_));
    WEIR_TRY(Statement exists, database_->Prepare(sql::kCountRun));
    exists.Bind("run_id", start.run_id);
    WEIR_DO(exists.Step());
    int64_t used = 0;
    exists.Read("used", used);
    if (used != 0) {
      return Fail(Code::kInvalid, "state file '{}' already has a run '{}'; choose another run id",
                  path(), start.run_id);
    }
    WEIR_TRY(Statement insert, database_->Prepare(sql::kBeginRun));
    VisitStart(start, [&](std::string_view name, auto& value) { insert.Bind(name, value); });
    insert.Bind("now", Now());
    WEIR_DO(insert.Step());
    exists.Reset();
    WEIR_DO(transaction.Commit());
  }
  return FaultPoint("ledger.begun");
}

Status SqliteLedger::RecordFiles(const std::string& run_id, std::span<const FilePart> parts) {
  const std::lock_guard guard(mutex_);
  {
    WEIR_TRY(Transaction transaction, Transaction::Start(*database_));
    WEIR_TRY(Statement insert, database_->Prepare(sql::kRecordFile));
    for (const FilePart& part : parts) {
      insert.Bind("run_id", run_id);
      insert.Bind("path", part.path);
      insert.Bind("rows", part.rows);
      insert.Bind("bytes", part.bytes);
      insert.Bind("xxh3", part.xxh3);
      insert.Bind("now", Now());
      WEIR_DO(insert.Step());
      if (database_->changes() == 0) return NoRun(run_id, "run");
      insert.Reset();
    }
    WEIR_DO(transaction.Commit());
  }
  return FaultPoint("ledger.files_recorded");
}

Status SqliteLedger::RecordHarm(const std::string& run_id, std::span<const Harm> harm) {
  const std::lock_guard guard(mutex_);
  {
    WEIR_TRY(Transaction transaction, Transaction::Start(*database_));
    WEIR_TRY(Statement insert, database_->Prepare(sql::kRecordHarm));
    for (const Harm& one : harm) {
      insert.Bind("run_id", run_id);
      insert.Bind("metric", one.metric);
      insert.Bind("delta", one.delta);
      insert.Bind("now", Now());
      WEIR_DO(insert.Step());
      if (database_->changes() == 0) return NoRun(run_id, "run");
      insert.Reset();
    }
    WEIR_DO(transaction.Commit());
  }
  return FaultPoint("ledger.harm_recorded");
}

Status SqliteLedger::Finish(const std::string& run_id, const RunEnd& end) {
  WEIR_ASSERT(end.status != RunStatus::kRunning);
  const std::lock_guard guard(mutex_);
  {
    WEIR_TRY(Transaction transaction, Transaction::Start(*database_));
    WEIR_TRY(Statement update, database_->Prepare(sql::kFinishRun));
    VisitEnd(end, [&](std::string_view name, auto& value) { update.Bind(name, value); });
    update.Bind("status", RunStatusName(end.status));
    update.Bind("run_id", run_id);
    WEIR_DO(update.Step());
    if (database_->changes() == 0) return NoRun(run_id, "running run");
    WEIR_DO(transaction.Commit());
  }
  return FaultPoint("ledger.finished");
}

// Rows first, locks second: a run that begins in between has a row that is not in the list. One
// that ends in between is no longer running when its row is read again.
Result<std::set<int64_t>> SqliteLedger::DeadRuns() {
  WEIR_TRY(const auto rows, Running(std::nullopt));
  std::set<int64_t> dead;
  for (const RunningRow& row : rows) {
    WEIR_TRY(const bool held, ByteLock::IsHeld(LockPath(path()), ByteOf(row.export_name)));
    if (!held) dead.insert(row.id);
  }
  return dead;
}

Result<Statement> SqliteLedger::Select(std::string_view sql, const Filter& filter) {
  WEIR_TRY(Statement select, database_->Prepare(sql));
  select.Bind("export_name", filter.export_name);
  select.Bind("run_id", filter.run_id);
  select.Bind("limit", std::max<int64_t>(filter.limit, 0));  // SQLite takes -1 for no limit.
  return select;
}

Result<std::vector<RunRow>> SqliteLedger::Runs(const Filter& filter) {
  const std::lock_guard guard(mutex_);
  WEIR_TRY(const auto dead, DeadRuns());
  WEIR_TRY(Statement select, Select(sql::kListRuns, filter));
  std::vector<RunRow> rows;
  while (true) {
    WEIR_TRY(const bool more, select.Step());
    if (!more) return rows;
    RunRow& row = rows.emplace_back();
    const auto read = [&](std::string_view name, auto& value) { select.Read(name, value); };
    select.Read("id", row.id);
    select.Read("run_at", row.run_at);
    VisitStart(row.start, read);
    VisitEnd(row.end, read);
    std::string status;
    select.Read("status", status);
    for (const RunStatus known : kStatuses) {
      if (status == RunStatusName(known)) row.end.status = known;
    }
    if (row.end.status == RunStatus::kRunning && dead.contains(row.id)) {
      row.end.status = RunStatus::kInterrupted;
      row.end.error_class = kDiedClass;
      row.end.error_message = kDiedMessage;
    }
  }
}

Result<std::vector<FileRow>> SqliteLedger::Files(const Filter& filter) {
  const std::lock_guard guard(mutex_);
  WEIR_TRY(Statement select, Select(sql::kListFiles, filter));
  std::vector<FileRow> rows;
  while (true) {
    WEIR_TRY(const bool more, select.Step());
    if (!more) return rows;
    FileRow& row = rows.emplace_back();
    select.Read("run_id", row.run_id);
    select.Read("export_name", row.export_name);
    select.Read("path", row.part.path);
    select.Read("rows", row.part.rows);
    select.Read("bytes", row.part.bytes);
    select.Read("xxh3", row.part.xxh3);
    select.Read("recorded_at", row.recorded_at);
  }
}

Result<std::vector<HarmRow>> SqliteLedger::HarmOf(const Filter& filter) {
  const std::lock_guard guard(mutex_);
  WEIR_TRY(Statement select, Select(sql::kListHarm, filter));
  std::vector<HarmRow> rows;
  while (true) {
    WEIR_TRY(const bool more, select.Step());
    if (!more) return rows;
    HarmRow& row = rows.emplace_back();
    select.Read("id", row.id);
    select.Read("run_id", row.run_id);
    select.Read("export_name", row.export_name);
    select.Read("metric", row.metric);
    select.Read("delta", row.delta);
    select.Read("recorded_at", row.recorded_at);
  }
}

Error CannotOpen(const std::string& path, std::string_view reason, Code code,
                 std::string_view remedy) {
  return Fail(code, "cannot open state file '{}': {}; {}", path, reason, remedy);
}

// Refuses what SQLite would explain badly: true when the file is there. Changes nothing.
Result<bool> CheckPlace(const std::string& path, Database::Access access) {
  const bool reading = access == Database::Access::kRead;
  const std::string_view rights =
      reading ? "give read rights on it and its folder"
              : "give read and write rights on it and its folder";
  const std::string folder = sys::ParentPath(path);
  struct stat info {};
  const bool folder_there = stat(folder.c_str(), &info) == 0;
  if (!folder_there && errno == EACCES) {
    return CannotOpen(path, std::strerror(errno), Code::kInvalid, rights);
  }
  if (!folder_there || !S_ISDIR(info.st_mode)) {
    return CannotOpen(path, fmt::format("folder '{}' does not exist", folder), Code::kNotFound,
                      reading ? "name another" : "make it first");
  }
  const auto allowed = [](const std::string& what, int mode) {
    return faccessat(AT_FDCWD, what.c_str(), mode, AT_EACCESS) == 0;
  };
  if (!allowed(folder, reading ? X_OK : W_OK | X_OK)) {
    return CannotOpen(path, std::strerror(errno), Code::kInvalid, rights);
  }
  const bool there = stat(path.c_str(), &info) == 0;
  if (there && !S_ISREG(info.st_mode)) {
    return CannotOpen(path, "it is not a regular file", Code::kInvalid,
                      reading ? "name another" : "move it away");
  }
  if (there && !allowed(path, reading ? R_OK : R_OK | W_OK)) {
    if (errno == ENOENT) return false;  // Another weir found it damaged, and set it aside just now.
    return CannotOpen(path, std::strerror(errno), Code::kInvalid, rights);
  }
  return there;
}

// True for a file with the header that SQLite gives a state file: ours, and not in WAL mode, which
// would have its reader make files beside it (docs of SQLite: fileformat2, "The Database Header").
bool LooksLikeOurs(const std::string& path) {
  constexpr std::string_view kMagic("SQLite format 3\0", 16);
  constexpr size_t kWriteVersion = 18;  // 1: a rollback journal.
  constexpr size_t kApplication = 68;
  std::array<char, 100> header{};
  const int fd = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (fd < 0) return false;
  const bool whole = pread(fd, header.data(), header.size(), 0) == std::ssize(header);
  close(fd);
  const std::string_view bytes(header.data(), header.size());
  return whole && bytes.starts_with(kMagic) && bytes[kWriteVersion] == 1 &&
         bytes.substr(kApplication, 4) == "weir";
}

// Makes an empty 0600 file when there is none. Closing it would drop SQLite's locks on a file that
// is in use, so one that is there is not opened. Requires: the opening lock.
Status MakeIfMissing(const std::string& path) {
  struct stat info {};
  if (stat(path.c_str(), &info) == 0) return Ok();
  const int fd = open(path.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
  if (fd < 0) {
    const bool full = errno == ENOSPC || errno == EDQUOT;
    return CannotOpen(path, std::strerror(errno), full ? Code::kExhausted : Code::kInvalid,
                      full ? "free space on its disk" : "look at its folder");
  }
  close(fd);
  return Ok();
}

Result<std::unique_ptr<Database>> OpenChecked(const std::string& path) {
  WEIR_TRY(auto database, Database::Open(path));
  WEIR_DO(database->QuickCheck());
  WEIR_DO(MigrateUp(*database));
  return database;
}

// Renames the file and its journal, the journal first: a crash in between leaves a file that is
// still damaged, never a new file beside an old journal, which SQLite would play into it.
Result<std::string> SetAside(const std::string& path, int64_t wall_millis) {
  const std::string stamp = sys::FormatUtc(wall_millis);
  std::string aside = fmt::format("{}.corrupt-{}", path, stamp);
  sys::DiskFiles files;
  for (int again = 2; files.Exists(aside); ++again) {
    aside = fmt::format("{}.corrupt-{}-{}", path, stamp, again);
  }
  for (const char* suffix : {"-journal", "-wal", "-shm"}) {
    if (files.Exists(path + suffix)) WEIR_DO(files.Rename(path + suffix, aside + suffix));
  }
  WEIR_DO(files.Rename(path, aside));
  WEIR_DO(files.SyncFolder(sys::ParentPath(path)));
  return aside;
}

// One opener at a time, so that two that find the same damage do not set the new file aside.
Result<ByteLock> TakeOpeningLock(const std::string& path, sys::Clock& clock) {
  const sys::Stop never;
  for (int tries = 0; tries < kOpeningTries; ++tries) {
    WEIR_TRY(auto lock, ByteLock::TryTake(LockPath(path), kOpeningByte));
    if (lock.has_value()) return *std::move(lock);
    clock.Wait(kOpeningPause, never);
  }
  return CannotOpen(path, "another weir has been opening it for 10 s", Code::kUnavailable,
                    "end that process, then run again");
}

// One file, one lock file, also when it is reached by a link.
std::string Canonical(const std::string& path) {
  std::error_code error;
  const auto canonical = std::filesystem::weakly_canonical(path, error);
  return error ? path : canonical.string();
}

// Whatever has another name (a link's end, say) is someone's, and stays where it is.
Status CheckName(const std::string& path) {
  if (std::filesystem::path(path).filename() == kStateFileName) return Ok();
  return Fail(Code::kInvalid,
              "'{}' is damaged or not a state file, and only a file named {} is set aside; move it "
              "away, then run again",
              path, kStateFileName);
}

}  // namespace

std::string_view RunStatusName(RunStatus status) {
  switch (status) {
    case RunStatus::kRunning: return "running";
    case RunStatus::kSuccess: return "success";
    case RunStatus::kFailed: return "failed";
    case RunStatus::kInterrupted: return "interrupted";
    case RunStatus::kSkipped: return "skipped";
  }
  return "unknown";
}

Result<OpenedLedger> OpenSqliteLedger(const std::string& given_path, sys::Clock& clock) {
  const std::string path = Canonical(given_path);
  OpenedLedger opened;
  WEIR_DO(CheckPlace(path, Database::Access::kWrite));
  WEIR_TRY(const ByteLock opening, TakeOpeningLock(path, clock));
  WEIR_DO(MakeIfMissing(path));
  auto database = OpenChecked(path);
  if (!database.ok() && database.error().code == Code::kCorrupt) {
    WEIR_DO(CheckName(path));
    WEIR_TRY(const std::string aside, SetAside(path, clock.WallMillis()), "state file '{}'", path);
    opened.warnings.push_back(
        fmt::format("state file '{}' is damaged or not SQLite's; it was kept as '{}' and a new one "
                    "was begun, so earlier runs are not shown",
                    path, aside));
    WEIR_DO(MakeIfMissing(path));
    database = OpenChecked(path);
  }
  WEIR_TRY(auto ready, std::move(database));
  opened.ledger = std::make_unique<SqliteLedger>(std::move(ready), clock);
  return opened;
}

Result<std::unique_ptr<Ledger>> ReadSqliteLedger(const std::string& given_path,
                                                 sys::Clock& clock) {
  const std::string path = Canonical(given_path);
  WEIR_TRY(const bool there, CheckPlace(path, Database::Access::kRead));
  if (!there) {
    return CannotOpen(path, "it does not exist", Code::kNotFound, "run an export first");
  }
  if (!LooksLikeOurs(path)) {
    return Fail(Code::kInvalid,
                "'{}' is not a state file of weir; name one, such as DIR/{} of an export", path,
                kStateFileName);
  }
  WEIR_TRY(auto database, Database::Open(path, Database::Access::kRead));
  WEIR_DO(database->QuickCheck());
  WEIR_DO(CheckVersion(*database));
  return std::unique_ptr<Ledger>(std::make_unique<SqliteLedger>(std::move(database), clock));
}

}  // namespace weir::ledger
