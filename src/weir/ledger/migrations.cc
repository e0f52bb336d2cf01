#include "weir/ledger/migrations_internal.h"

#include "weir/ledger/sql.h"

namespace weir::ledger {
namespace {

constexpr Migration kMigrations[] = {
    {1, sql::kMigrations0001InitUp, sql::kMigrations0001InitDown},
};
constexpr int64_t kLatest = std::size(kMigrations);

constexpr int64_t kApplicationId = 0x77656972;  // "weir"; 0001_init.up.sql writes it.

Result<int64_t> VersionOf(Database& database) {
  return database.QueryInt("SELECT user_version AS value FROM pragma_user_version");
}

Status SetVersion(Database& database, int64_t version) {
  return database.Execute(fmt::format("PRAGMA user_version = {}", version));
}

// A file of ours carries our application id; a new one holds nothing at all.
Status CheckOwner(Database& database, int64_t version) {
  WEIR_TRY(const int64_t application_id,
           database.QueryInt("SELECT application_id AS value FROM pragma_application_id"));
  WEIR_TRY(const int64_t objects,
           database.QueryInt("SELECT count(*) AS value FROM sqlite_schema"));
  const bool fresh = version == 0 && application_id == 0 && objects == 0;
  if (application_id == kApplicationId || fresh) return Ok();
  return Fail(Code::kInvalid,
              "state file '{}' is another program's SQLite database; move it away, then run again",
              database.path());
}

Status CheckNotNewer(Database& database, int64_t version) {
  if (version <= kLatest) return Ok();
  return Fail(Code::kInvalid,
              "state file '{}' was written by a newer weir: its schema is version {}, and this "
              "weir knows versions up to {}; use the newer weir",
              database.path(), version, kLatest);
}

}  // namespace

std::span<const Migration> Migrations() { return kMigrations; }

Status MigrateUp(Database& database) {
  WEIR_TRY(Transaction transaction, Transaction::Start(database));
  WEIR_TRY(const int64_t found, VersionOf(database));
  WEIR_DO(CheckOwner(database, found));
  WEIR_DO(CheckNotNewer(database, found));
  for (const Migration& step : kMigrations) {
    if (step.version <= found) continue;
    WEIR_DO(database.Execute(step.up), "schema version {}", step.version);
    WEIR_DO(SetVersion(database, step.version));
  }
  return transaction.Commit();
}

Status CheckVersion(Database& database) {
  WEIR_TRY(const int64_t found, VersionOf(database));
  WEIR_DO(CheckOwner(database, found));
  WEIR_DO(CheckNotNewer(database, found));
  if (found == kLatest) return Ok();
  return Fail(Code::kInvalid,
              "state file '{}' was written by an older weir: its schema is version {}, and this "
              "weir reads version {}; run an export once to bring it up to date",
              database.path(), found, kLatest);
}

Status MigrateDown(Database& database, int64_t version) {
  WEIR_TRY(Transaction transaction, Transaction::Start(database));
  WEIR_TRY(const int64_t found, VersionOf(database));
  WEIR_ASSERT(version >= 0 && version <= found && found <= kLatest);
  for (int64_t at = found; at > version; --at) {
    WEIR_DO(database.Execute(kMigrations[at - 1].down), "schema version {}", at);
    WEIR_DO(SetVersion(database, at - 1));
  }
  return transaction.Commit();
}

}  // namespace weir::ledger
