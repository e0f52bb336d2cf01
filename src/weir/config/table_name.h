#pragma once
// A table's name as psql reads it: [schema.]name, folded to lower case unless in double quotes.
#include <string>
#include <string_view>

#include "weir/base/result.h"

namespace weir::config {

struct TableName {
  std::string schema;  ///< Empty: found by the search path.
  std::string name;

  friend bool operator==(const TableName&, const TableName&) = default;
};

/// Public.Users -> {public, users}; "Odd ""name""" -> {"", Odd "name"}.
/// Errors: kUsage for text that is not one name, and for parts over 63 bytes.
Result<TableName> ParseTableName(std::string_view text);

/// `schema.name`, or `name` without a schema, safe as one file name: bytes other than letters,
/// digits, `_`, `-` and non-ASCII, and a dot inside a part, become %XX.
std::string FileNameOf(const TableName& table);

}  // namespace weir::config
