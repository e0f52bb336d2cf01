#include "weir/queue/migrations.h"

#include "weir/base/assert.h"
#include "weir/queue/sql.h"

namespace weir::queue {
namespace {

constexpr Migration kMigrations[] = {
    {1, "init", sql::kMigrations0001InitUp, sql::kMigrations0001InitDown},
    {2, "enqueue", sql::kMigrations0002EnqueueUp, sql::kMigrations0002EnqueueDown},
};
constexpr int kLatest = std::size(kMigrations);

Status CheckNotNewer(int version) {
  if (version <= kLatest) return Ok();
  return Fail(Code::kInvalid,
              "the queue's schema is version {}, and this weir knows versions up to {}; use the "
              "newer weir", version, kLatest);
}

Status Step(pg::Connection& connection, std::string_view text, int version) {
  const Status done = connection.Exec(fmt::format(
      "BEGIN;\nSET LOCAL lock_timeout = '10s';\n{};\n"
      "UPDATE weir_queue.schema_version SET version = {};\nCOMMIT", text, version));
  if (done.ok()) return Ok();
  (void)connection.Exec("ROLLBACK");  // The link may be gone; then there is nothing to undo.
  return done;
}

Status MigrateLocked(pg::Connection& connection, int version) {
  WEIR_DO(SchemaVersion(connection));  // Somebody else's schema is left alone.
  WEIR_DO(connection.Exec(std::string(sql::kMakeSchema)));
  WEIR_TRY(int found, SchemaVersion(connection));
  WEIR_DO(CheckNotNewer(found));
  for (; found < version; ++found) {
    WEIR_DO(Step(connection, kMigrations[found].up, found + 1), "schema version {}", found + 1);
  }
  for (; found > version; --found) {
    WEIR_DO(Step(connection, kMigrations[found - 1].down, found - 1), "schema version {}", found);
  }
  return Ok();
}

}  // namespace

std::span<const Migration> Migrations() { return kMigrations; }

Result<int> SchemaVersion(pg::Connection& connection) {
  WEIR_TRY(const pg::Row there, connection.QueryRow(sql::kSchemaIsThere));
  if (there[0] == "f" && there[1] == "f") return 0;
  if (there[1] == "f") {
    return Fail(Code::kInvalid,
                "schema weir_queue of this database is not weir's: it has no table "
                "schema_version; rename it, then run again");
  }
  WEIR_TRY(const pg::Row row,
           connection.QueryRow("SELECT version FROM weir_queue.schema_version"));
  return std::stoi(row[0].value());
}

Status Migrate(pg::Connection& connection) { return MigrateTo(connection, kLatest); }

Status MigrateTo(pg::Connection& connection, int version) {
  WEIR_ASSERT(version >= 0 && version <= kLatest);
  WEIR_DO(connection.Exec("SELECT pg_advisory_lock(hashtext('weir_queue'))"));
  Status done = MigrateLocked(connection, version);
  const Status unlocked = connection.Exec("SELECT pg_advisory_unlock(hashtext('weir_queue'))");
  return done.ok() ? unlocked : done;
}

Status CheckSchema(pg::Connection& connection) {
  WEIR_TRY(const int found, SchemaVersion(connection));
  WEIR_DO(CheckNotNewer(found));
  if (found == kLatest) return Ok();
  if (found == 0) {
    return Fail(Code::kInvalid,
                "there is no queue in this database; run: weir queue migrate --db URL");
  }
  return Fail(Code::kInvalid,
              "the queue's schema is version {}, and this weir needs version {}; run: weir queue "
              "migrate --db URL", found, kLatest);
}

}  // namespace weir::queue
