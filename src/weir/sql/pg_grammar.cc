#include <pg_query.h>

#include "weir/base/utf8.h"
#include "weir/sql/pg_grammar_internal.h"
#include "weir/sql/statement.h"

namespace weir::sql {
namespace {

// The first `count` characters of `text`, or all of it.
std::string_view FirstCharacters(std::string_view text, int count) {
  size_t bytes = 0;
  while (bytes < text.size() && count > 0) {
    ++bytes;
    if (bytes == text.size() || BeginsCharacter(text[bytes])) --count;
  }
  return text.substr(0, bytes);
}

// cursorpos counts characters from 1; 0 is for messages that point nowhere.
Error ErrorOf(const PgQueryError& error, std::string_view statement, Position at) {
  const std::string_view before = FirstCharacters(statement, error.cursorpos - 1);
  return FailAt(After(at, before), "{}", Shown(error.message));
}

}  // namespace

Status CheckGrammar(const std::string& statement, Position at) {
  // Of the calls that parse, this one writes no tree.
  const PgQuerySplitResult split = pg_query_split_with_parser(statement.c_str());
  Status status = split.error == nullptr ? Ok() : ErrorOf(*split.error, statement, at);
  pg_query_free_split_result(split);
  return status;
}

Result<std::string> ParseTree(const std::string& statement, Position at) {
  WEIR_ASSERT(statement.size() <= kMaxStatementBytes);
  const PgQueryParseResult parsed = pg_query_parse(statement.c_str());
  auto tree = parsed.error == nullptr ? Result(std::string(parsed.parse_tree))
                                      : ErrorOf(*parsed.error, statement, at);
  pg_query_free_parse_result(parsed);
  return tree;
}

}  // namespace weir::sql
