#pragma once
// What the catalog says of a table: its columns and rights, its sizes, its key.
#include <cstdint>
#include <string>
#include <vector>

#include "weir/pg/connection.h"
#include "weir/pg/table_name.h"
#include "weir/pg/type_map.h"

namespace weir::pg {

struct CatalogColumn {
  std::string name;
  int attnum = 0;
  CatalogType type;
  bool not_null =
      false;  ///< Declared NOT NULL on a relation where a plain read keeps that promise.
  bool readable = false;    ///< This user may SELECT it.
};

struct TableInfo {
  uint32_t oid = 0;
  TableName name;           ///< Schema filled in, case as stored.
  char relkind =
      'r';  ///< pg_class.relkind: r table, p partitioned, v view, m materialised view, f foreign.
  bool row_security = false;              ///< Policies hide rows from this user.
  std::vector<CatalogColumn> columns;     ///< In attnum order; dropped ones left out.
  std::vector<std::string> primary_key;   ///< Column names in key order; empty when there is none.
};

struct TableSize {
  int64_t heap_bytes = 0;
  int64_t table_bytes = 0;      ///< Heap with TOAST.
  int64_t estimated_rows = -1;  ///< pg_class.reltuples; -1 when never analysed.
};

/// Where the snapshot of the current transaction stands.
struct SnapshotMark {
  std::string lsn;       ///< Write-ahead log position; empty where the user may not see it.
  std::string xid;       ///< pg_current_snapshot() as text.
  std::string taken_at;  ///< The server's clock, ISO 8601 UTC.
};

/// Resolves a name through search_path without touching the table.
/// Errors: kNotFound names the table and the search_path.
Result<TableName> ResolveTable(Connection& connection, const TableName& name);

/// The columns a SELECT gives; attnum is 0 and not_null false, as outer joins may make any of them
/// null. Takes locks on what it reads, and in a REPEATABLE READ transaction its snapshot.
Result<std::vector<CatalogColumn>> DescribeQuery(Connection& connection, const std::string& select);

/// Errors: kNotFound when the table is gone.
Result<TableInfo> DescribeTable(Connection& connection, const TableName& resolved);

Result<TableSize> MeasureTable(Connection& connection, uint32_t oid);

/// The first statement of a REPEATABLE READ transaction: takes its snapshot and says where it
/// stands.
Result<SnapshotMark> TakeSnapshot(Connection& connection);

}  // namespace weir::pg
