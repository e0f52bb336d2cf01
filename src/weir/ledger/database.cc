#include <sqlite3.h>

#include <algorithm>
#include <utility>

#include "weir/ledger/database_internal.h"

namespace weir::ledger {
namespace {

// Longer than any transaction of ours on a slow disk; a file kept busy this long has a stuck owner.
constexpr int kBusyTimeoutMs = 10'000;

// EXTRA also syncs the folder after the journal is gone, so that a commit outlives a power cut.
constexpr const char* kSetUp =
    "PRAGMA journal_mode = DELETE;"
    "PRAGMA synchronous = EXTRA;"
    "PRAGMA foreign_keys = ON;"
    "PRAGMA trusted_schema = OFF;"
    "PRAGMA cache_size = -512;";  // KiB: the ledger is small, and so is its share of the memory.

constexpr const char* kSetUpReading =
    "PRAGMA query_only = ON;"
    "PRAGMA trusted_schema = OFF;"
    "PRAGMA cache_size = -512;";

struct Reaction {
  Code code;
  const char* remedy;
};

Reaction ReactionTo(int primary_code) {
  switch (primary_code) {
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
      return {Code::kUnavailable, "; wait for the other weir that is using it, then run again"};
    case SQLITE_FULL: return {Code::kExhausted, "; free space on its disk and run again"};
    case SQLITE_NOMEM: return {Code::kExhausted, "; free memory and run again"};
    case SQLITE_READONLY:
    case SQLITE_PERM:
    case SQLITE_AUTH:
    case SQLITE_CANTOPEN:
      return {Code::kInvalid, "; give write rights on it and its folder, then run again"};
    case SQLITE_CORRUPT:
    case SQLITE_NOTADB:
      return {Code::kCorrupt, "; the next run sets it aside and begins a new one"};
    case SQLITE_IOERR: return {Code::kUnavailable, "; look at its disk, then run again"};
    default: return {Code::kInvalid, ""};
  }
}

// Who only reads sets nothing aside and gives back no journal.
Reaction ReactionOfReader(int primary_code) {
  switch (primary_code) {
    case SQLITE_READONLY:
      return {Code::kInvalid, "; a run died while it wrote there: run an export once to mend it"};
    case SQLITE_PERM:
    case SQLITE_AUTH:
    case SQLITE_CANTOPEN: return {Code::kInvalid, "; give read rights on it and its folder"};
    case SQLITE_CORRUPT:
    case SQLITE_NOTADB:
      return {Code::kInvalid, "; it is damaged or no state file: name another, or run an export"};
    default: return ReactionTo(primary_code);
  }
}

}  // namespace

Database::Database(sqlite3* handle, std::string path, Access access)
    : handle_(handle), path_(std::move(path)), access_(access) {}

Database::~Database() { sqlite3_close_v2(handle_); }

Result<std::unique_ptr<Database>> Database::Open(const std::string& path, Access access) {
  const bool reading = access == Access::kRead;
  sqlite3* handle = nullptr;
  const int opened = sqlite3_open_v2(
      path.c_str(), &handle,
      (reading ? SQLITE_OPEN_READONLY : SQLITE_OPEN_READWRITE) | SQLITE_OPEN_FULLMUTEX, nullptr);
  if (handle == nullptr) return Fail(Code::kExhausted, "state file '{}': out of memory", path);
  std::unique_ptr<Database> database(new Database(handle, path, access));
  if (opened != SQLITE_OK) return database->LastError();
  sqlite3_extended_result_codes(handle, 1);
  sqlite3_busy_timeout(handle, kBusyTimeoutMs);
  WEIR_DO(database->Execute(reading ? kSetUpReading : kSetUp));
  return database;
}

Error Database::LastError() const {
  if (sqlite3_extended_errcode(handle_) == SQLITE_READONLY_DBMOVED) {
    return Fail(Code::kUnavailable,
                "state file '{}' was moved or removed while weir used it; leave it in its place "
                "and run again",
                path_);
  }
  const int primary_code = sqlite3_errcode(handle_) & 0xff;
  const Reaction reaction =
      access_ == Access::kRead ? ReactionOfReader(primary_code) : ReactionTo(primary_code);
  return Fail(reaction.code, "state file '{}': {}{}", path_, sqlite3_errmsg(handle_),
              reaction.remedy);
}

Status Database::Execute(std::string_view script) {
  const std::string text(script);
  if (sqlite3_exec(handle_, text.c_str(), nullptr, nullptr, nullptr) != SQLITE_OK) {
    return LastError();
  }
  return Ok();
}

Result<Statement> Database::Prepare(std::string_view sql) {
  sqlite3_stmt* statement = nullptr;
  if (sqlite3_prepare_v2(handle_, sql.data(), static_cast<int>(sql.size()), &statement, nullptr) !=
      SQLITE_OK) {
    return LastError();
  }
  return Statement(*this, statement);
}

Result<int64_t> Database::QueryInt(std::string_view sql) {
  WEIR_TRY(Statement statement, Prepare(sql));
  WEIR_TRY(const bool row, statement.Step());
  WEIR_ASSERT(row);
  int64_t value = 0;
  statement.Read("value", value);
  return value;
}

Status Database::QuickCheck() {
  WEIR_TRY(Statement check, Prepare("SELECT quick_check AS finding FROM pragma_quick_check(1)"));
  WEIR_TRY(const bool row, check.Step());
  WEIR_ASSERT(row);
  std::string finding;
  check.Read("finding", finding);
  if (finding == "ok") return Ok();
  std::replace(finding.begin(), finding.end(), '\n', ' ');
  if (access_ == Access::kWrite) {
    return Fail(Code::kCorrupt, "state file '{}': {}", path_, finding);
  }
  return Fail(Code::kInvalid, "state file '{}': {}{}", path_, finding,
              ReactionOfReader(SQLITE_CORRUPT).remedy);
}

int64_t Database::changes() const { return sqlite3_changes64(handle_); }

Statement::Statement(Database& database, sqlite3_stmt* handle)
    : database_(database), handle_(handle) {
  for (int i = 0; i < sqlite3_column_count(handle); ++i) {
    columns_.emplace_back(sqlite3_column_name(handle, i));
  }
}

Statement::Statement(Statement&& other) noexcept
    : database_(other.database_),
      handle_(std::exchange(other.handle_, nullptr)),
      columns_(std::move(other.columns_)) {}

Statement::~Statement() { sqlite3_finalize(handle_); }

void Statement::Bind(std::string_view name, int64_t value) {
  WEIR_ASSERT(sqlite3_bind_int64(handle_, ParameterOf(name), value) == SQLITE_OK);
}

void Statement::Bind(std::string_view name, std::string_view value) {
  WEIR_ASSERT(sqlite3_bind_text64(handle_, ParameterOf(name), value.data(), value.size(),
                                  SQLITE_TRANSIENT, SQLITE_UTF8) == SQLITE_OK);
}

Result<bool> Statement::Step() {
  const int stepped = sqlite3_step(handle_);
  if (stepped == SQLITE_ROW) return true;
  if (stepped == SQLITE_DONE) return false;
  return database_.LastError();
}

void Statement::Reset() {
  sqlite3_reset(handle_);
  sqlite3_clear_bindings(handle_);
}

void Statement::Read(std::string_view name, int64_t& out) const {
  out = sqlite3_column_int64(handle_, ColumnOf(name));
}

void Statement::Read(std::string_view name, std::string& out) const {
  const int column = ColumnOf(name);
  const auto* text = reinterpret_cast<const char*>(sqlite3_column_text(handle_, column));
  out.assign(text == nullptr ? "" : text,
             static_cast<size_t>(sqlite3_column_bytes(handle_, column)));
}

void Statement::Read(std::string_view name, std::optional<bool>& out) const {
  if (!IsNull(name)) out = sqlite3_column_int64(handle_, ColumnOf(name)) != 0;
}

int Statement::ParameterOf(std::string_view name) const {
  const std::string parameter = fmt::format(":{}", name);
  const int index = sqlite3_bind_parameter_index(handle_, parameter.c_str());
  WEIR_ASSERT(index > 0);
  return index;
}

int Statement::ColumnOf(std::string_view name) const {
  const auto found = std::find(columns_.begin(), columns_.end(), name);
  WEIR_ASSERT(found != columns_.end());
  return static_cast<int>(found - columns_.begin());
}

bool Statement::IsNull(std::string_view name) const {
  return sqlite3_column_type(handle_, ColumnOf(name)) == SQLITE_NULL;
}

Result<Transaction> Transaction::Start(Database& database) {
  WEIR_DO(database.Execute("BEGIN IMMEDIATE"));
  return Transaction(&database);
}

Transaction::Transaction(Transaction&& other) noexcept
    : database_(std::exchange(other.database_, nullptr)) {}

Transaction::~Transaction() {
  // A failed rollback leaves nothing to do: SQLite rolled back itself, or will from the journal.
  if (database_ != nullptr) (void)database_->Execute("ROLLBACK");
}

Status Transaction::Commit() {
  WEIR_DO(database_->Execute("COMMIT"));
  database_ = nullptr;
  return Ok();
}

}  // namespace weir::ledger
