#include "weir/pg/select_sql.h"

namespace weir::pg {

std::string SelectSql(const Connection& connection, const SelectParts& parts) {
  std::string columns;
  for (const std::string& name : parts.columns) {
    if (!columns.empty()) columns += ", ";
    columns += connection.QuoteName(name);
  }
  std::string sql = fmt::format("SELECT {} FROM ", columns);
  if (parts.query.empty()) {
    sql += connection.QuoteName(parts.table.schema) + "." + connection.QuoteName(parts.table.name);
  } else {
    sql += fmt::format("({}\n) AS weir_source", parts.query);
  }
  if (!parts.where.empty()) sql += fmt::format(" WHERE ({}\n)", parts.where);
  if (parts.limit.has_value()) sql += fmt::format(" LIMIT {}", *parts.limit);
  return sql;
}

std::string CopySql(const std::string& select) {
  return fmt::format("COPY ({}\n) TO STDOUT (FORMAT binary)", select);
}

}  // namespace weir::pg
