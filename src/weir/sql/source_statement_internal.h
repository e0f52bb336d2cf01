#pragma once
// ParseSourceStatement: CREATE, ALTER and DROP SOURCE, which PostgreSQL's grammar does not have.
#include <span>

#include "weir/sql/lexer_internal.h"
#include "weir/sql/statement.h"

namespace weir::sql {

/// True when the statement is one of them by its first two words.
/// Requires: the last token is kEnd, here and below.
bool IsSourceStatement(std::span<const Token> tokens);

/// Errors: kUsage with line and column; a wrong word is compared with what may stand there.
/// Requires: IsSourceStatement(tokens).
Result<StatementBody> ParseSourceStatement(std::span<const Token> tokens);

}  // namespace weir::sql
