#pragma once
// ALTER SYSTEM SET: PostgreSQL's parse tree of one, as what weir does.
#include <span>
#include <string>

#include "weir/sql/lexer_internal.h"
#include "weir/sql/statement.h"

namespace weir::sql {

/// True when a statement that PostgreSQL accepts is one, by its first words.
/// Requires: the last token is kEnd, here and below.
bool IsSettingStatement(std::span<const Token> tokens);

/// `tree` is what ParseTree gave for the statement.
///
/// Errors:   kUsage with line and column: RESET, and values that are no single constant.
/// Requires: IsSettingStatement(tokens).
Result<StatementBody> ReadSettingStatement(const std::string& tree, std::span<const Token> tokens);

}  // namespace weir::sql
