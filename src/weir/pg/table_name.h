#pragma once
// TableName: a table as people write it, [schema.]name with psql's quoting rules.
#include <string>
#include <string_view>

#include "weir/base/result.h"

namespace weir::pg {

struct TableName {
  std::string schema;  ///< Empty: found through search_path.
  std::string name;

  /// Reads [schema.]name: folded to lower case unless in double quotes, "" inside quotes is one quote.
  /// Errors: kUsage.
  static Result<TableName> Parse(std::string_view text);

  /// `schema.name`, with quotes where psql would need them.
  std::string Display() const;
};

/// `name` in double quotes unless it reads back as itself without them.
std::string DisplayName(std::string_view name);

}  // namespace weir::pg
