#pragma once
// Migrations: the numbered steps of the state file's schema, and the one that a file is at.
#include <span>
#include <string_view>

#include "weir/ledger/database_internal.h"

namespace weir::ledger {

/// One step. `up` leads from version - 1 to version, `down` back.
struct Migration {
  int64_t version;
  std::string_view up;
  std::string_view down;
};

/// All steps this weir knows, lowest first, without gaps.
std::span<const Migration> Migrations();

/// Brings the schema to the last version, in one transaction; does nothing when it is there.
///
/// Errors: kInvalid when a newer weir wrote the file, or another program did.
Status MigrateUp(Database& database);

/// Ok for a file of ours at the last version. Errors: kInvalid for any other. Changes nothing.
Status CheckVersion(Database& database);

/// Goes back to `version`. Errors: those of the database. Requires: 0 <= version <= the file's.
Status MigrateDown(Database& database, int64_t version);

}  // namespace weir::ledger
