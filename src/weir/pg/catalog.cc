#include "weir/pg/catalog.h"

#include "weir/pg/sql.h"

namespace weir::pg {
namespace {

int64_t ToInt(const std::optional<std::string>& text) {
  return text.has_value() ? std::stoll(*text) : 0;
}
bool ToBool(const std::optional<std::string>& text) { return text == "t"; }
char ToChar(const std::optional<std::string>& text) {
  return text.has_value() && !text->empty() ? (*text)[0] : '\0';
}

CatalogColumn ReadColumn(const Row& row) {
  CatalogColumn column;
  column.name = *row[0];
  column.attnum = static_cast<int>(ToInt(row[1]));
  column.type.oid = static_cast<uint32_t>(ToInt(row[2]));
  column.type.typtype = ToChar(row[3]);
  column.type.element_oid = static_cast<uint32_t>(ToInt(row[4]));
  column.type.element_typtype = ToChar(row[5]);
  column.type.typmod = static_cast<int32_t>(ToInt(row[6]));
  column.type.name = *row[7];
  column.not_null = ToBool(row[8]);
  column.readable = ToBool(row[9]);
  return column;
}

// Lower case is what an unquoted name means, so a name with capitals needs quotes, which a shell
// would take away.
Result<std::string> OtherCaseHint(Connection& connection, const TableName& name) {
  WEIR_TRY(const Rows rows, connection.Query(sql::kFindOtherCase, {name.schema, name.name}));
  if (rows.empty()) return std::string();
  const TableName found{name.schema.empty() ? "" : *rows[0][0], *rows[0][1]};
  return fmt::format("; there is {0}: write '{0}' for it, with the quotes", found.Display());
}

}  // namespace

Result<TableName> ResolveTable(Connection& connection, const TableName& name) {
  const std::string quoted =
      name.schema.empty()
          ? connection.QuoteName(name.name)
          : connection.QuoteName(name.schema) + "." + connection.QuoteName(name.name);
  WEIR_TRY(Rows rows, connection.Query(sql::kResolveTable, {quoted}), "table {}", name.Display());
  if (rows.size() == 1) return TableName{*rows[0][0], *rows[0][1]};
  WEIR_TRY(const Row where,
           connection.QueryRow("SELECT current_database(), current_setting('search_path')"));
  WEIR_TRY(const std::string hint, OtherCaseHint(connection, name));
  if (!name.schema.empty()) {
    return Fail(Code::kNotFound, "no table {} in database {}{}", name.Display(), *where[0],
                hint.empty() ? "; check its name and schema" : hint);
  }
  return Fail(Code::kNotFound, "no table {} in database {} on the search_path ({}){}",
              name.Display(), *where[0], *where[1],
              hint.empty() ? "; write it as schema.name" : hint);
}

Result<TableInfo> DescribeTable(Connection& connection, const TableName& resolved) {
  WEIR_TRY(const Rows tables,
           connection.Query(sql::kDescribeTable, {resolved.schema, resolved.name}));
  if (tables.size() != 1) {
    return Fail(Code::kNotFound, "table {} was dropped or renamed just now", resolved.Display());
  }
  TableInfo info;
  info.oid = static_cast<uint32_t>(ToInt(tables[0][0]));
  info.name = resolved;
  info.relkind = ToChar(tables[0][1]);
  info.row_security = ToBool(tables[0][2]);
  const std::string oid = std::to_string(info.oid);
  WEIR_TRY(const Rows columns, connection.Query(sql::kDescribeColumns, {oid}));
  for (const Row& row : columns) info.columns.push_back(ReadColumn(row));
  WEIR_TRY(const Rows key, connection.Query(sql::kPrimaryKey, {oid}));
  for (const Row& row : key) info.primary_key.push_back(*row[0]);
  return info;
}

Result<std::vector<CatalogColumn>> DescribeQuery(Connection& connection,
                                                 const std::string& select) {
  WEIR_TRY(const auto fields, connection.DescribeStatement(select));
  std::vector<CatalogColumn> columns;
  for (const StatementField& field : fields) {
    WEIR_TRY(const Row row,
             connection.QueryRow(sql::kTypeDetails,
                                 {std::to_string(field.type_oid), std::to_string(field.typmod)}));
    CatalogColumn& column = columns.emplace_back();
    column.name = field.name;
    column.type.oid = field.type_oid;
    column.type.typmod = field.typmod;
    column.type.typtype = ToChar(row[0]);
    column.type.element_oid = static_cast<uint32_t>(ToInt(row[1]));
    column.type.element_typtype = ToChar(row[2]);
    column.type.name = *row[3];
    column.readable = true;
  }
  return columns;
}

Result<TableSize> MeasureTable(Connection& connection, uint32_t oid) {
  WEIR_TRY(const Row row, connection.QueryRow(sql::kMeasureTable, {std::to_string(oid)}));
  return TableSize{ToInt(row[0]), ToInt(row[1]), ToInt(row[2])};
}

Result<SnapshotMark> TakeSnapshot(Connection& connection) {
  WEIR_TRY(const Row row, connection.QueryRow(sql::kTakeSnapshot));
  return SnapshotMark{row[0].value_or(""), row[1].value_or(""), row[2].value_or("")};
}

}  // namespace weir::pg
