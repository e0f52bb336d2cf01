#pragma once
// CREATE INDEX and DROP INDEX: PostgreSQL's parse tree of one, as what weir does.
#include <span>
#include <string>

#include "weir/sql/lexer_internal.h"
#include "weir/sql/statement.h"

namespace weir::sql {

/// True when a statement that PostgreSQL accepts is one of them, by its first words.
/// Requires: the last token is kEnd, here and below.
bool IsIndexStatement(std::span<const Token> tokens);

/// `tree` is what ParseTree gave for the statement; `tokens` tell where its parts stand. A
/// CreateIndex has no cluster yet: that is not PostgreSQL's.
///
/// Errors:   kUsage with line and column: what weir does not do.
/// Requires: IsIndexStatement(tokens).
Result<StatementBody> ReadIndexStatement(const std::string& tree, std::span<const Token> tokens);

}  // namespace weir::sql
