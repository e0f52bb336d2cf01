#pragma once
// The schema weir_queue, in numbered steps up and down.
#include <span>
#include <string_view>

#include "weir/pg/connection.h"

namespace weir::queue {

struct Migration {
  int version = 0;
  std::string_view name;  ///< "init".
  std::string_view up;
  std::string_view down;
};

/// From version 1 on.
std::span<const Migration> Migrations();

/// The version that the database has; 0: there is no queue in it.
Result<int> SchemaVersion(pg::Connection& connection);

/// Brings the schema to `version`, up or down, each step in a transaction of its own; the latest
/// where nobody says. Whoever else migrates waits (an advisory lock).
/// Errors: kInvalid when the schema is newer than this weir knows, or is not weir's; kUnavailable
///         when a table was in use for longer than 10 s, and the steps before are kept.
Status Migrate(pg::Connection& connection);
Status MigrateTo(pg::Connection& connection, int version);

/// Errors: kInvalid, with the remedy, unless the schema is the latest.
Status CheckSchema(pg::Connection& connection);

}  // namespace weir::queue
