#pragma once
// The one builder of SELECT statements over names that come from the catalog or from people.
#include <optional>
#include <string>
#include <vector>

#include "weir/pg/connection.h"
#include "weir/pg/table_name.h"

namespace weir::pg {

struct SelectParts {
  TableName table;                   ///< Ignored when `query` is set.
  std::string query;                 ///< A whole SELECT instead of a table.
  std::vector<std::string> columns;  ///< Stored names, unquoted.
  std::string where;                 ///< An SQL condition as its author wrote it; empty: none.
  std::optional<int64_t> limit;      ///< Rows.
};

/// SELECT "a", "b" FROM "s"."t" WHERE (...) LIMIT n. The condition stands on lines of its own, so
/// that a comment at its end cannot swallow what follows.
std::string SelectSql(const Connection& connection, const SelectParts& parts);

/// COPY (select) TO STDOUT (FORMAT binary).
std::string CopySql(const std::string& select);

}  // namespace weir::pg
