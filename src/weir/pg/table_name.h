#pragma once
// TableName: a table as people write it, [schema.]name with psql's quoting rules.
#include <string>
#include <string_view>
#include <vector>

#include "weir/base/result.h"

namespace weir::pg {

struct TableName {
  std::string schema;  ///< Empty: found through search_path.
  std::string name;

  /// Public.Users -> {public, users}; "Odd ""name""" -> {"", Odd "name"}.
  /// Errors: kUsage for text that is not one name, and for parts over 63 bytes.
  static Result<TableName> Parse(std::string_view text);

  /// `schema.name`, or `name` without a schema, with quotes where psql would need them.
  std::string Display() const;
  /// The same, safe as one file name: bytes other than letters, digits, `_`, `-` and non-ASCII, and
  /// a dot inside a part, become %XX.
  std::string FileName() const;

  friend bool operator==(const TableName&, const TableName&) = default;
};

/// Column names as people write them, separated by commas, each with psql's quoting rules:
/// `Id,"Odd, name"` -> {id, Odd, name}. Spaces around a name are dropped.
/// Errors: kUsage as for a table's name.
Result<std::vector<std::string>> ParseColumnNames(std::string_view text);

/// `name` in double quotes unless it reads back as itself without them.
std::string DisplayName(std::string_view name);

}  // namespace weir::pg
