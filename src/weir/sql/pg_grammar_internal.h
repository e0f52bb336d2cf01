#pragma once
// PostgreSQL's own grammar, asked about one statement. The only code that calls libpg_query is
// pg_grammar.cc.
#include <string>

#include "weir/base/result.h"
#include "weir/sql/position.h"

namespace weir::sql {

/// Ok for a statement that PostgreSQL's grammar accepts.
///
/// Threads:  any; libpg_query keeps its state per thread.
/// Errors:   kUsage in PostgreSQL's words, where it points to; `at` is where the statement begins.
/// Requires: no NUL in it, here and below.
Status CheckGrammar(const std::string& statement, Position at);

/// The statement's parse tree as libpg_query's JSON: {"stmts": [{"stmt": {"IndexStmt": {...}}}]}.
/// Errors:   of CheckGrammar.
/// Requires: at most kMaxStatementBytes bytes: the tree is written by recursion.
Result<std::string> ParseTree(const std::string& statement, Position at);

}  // namespace weir::sql
