#pragma once
// SplitStatements: a SQL text cut at its semicolons.
#include <string_view>
#include <vector>

#include "weir/base/result.h"
#include "weir/sql/position.h"

namespace weir::sql {

/// One statement as written, from its first token to its last, without the semicolon.
struct StatementText {
  std::string_view text;  ///< A view of the text that was split. Never empty.
  Position at;            ///< Of its first character.
};

/// Statements stand between semicolons that are in no quotes, dollar quotes, names or comments, by
/// the lexical rules of PostgreSQL with standard_conforming_strings on. Blanks and comments alone
/// are no statement. A byte order mark is passed over.
///
/// Cost:   O(bytes).
/// Errors: kUsage, with line and column: a quote or a comment that is not closed (where it begins),
///         bytes that are not UTF-8, and the character NUL.
Result<std::vector<StatementText>> SplitStatements(std::string_view text);

}  // namespace weir::sql
