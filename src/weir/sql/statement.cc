#include "weir/sql/statement.h"

#include <algorithm>
#include <span>

#include "weir/base/utf8.h"
#include "weir/sql/index_statement_internal.h"
#include "weir/sql/pg_grammar_internal.h"
#include "weir/sql/setting_statement_internal.h"
#include "weir/sql/source_statement_internal.h"
#include "weir/sql/statement_splitter.h"

namespace weir::sql {
namespace {

using Tokens = std::span<const Token>;

bool IsOneOf(const Token& token, std::initializer_list<std::string_view> words) {
  return std::any_of(words.begin(), words.end(),
                     [&](std::string_view word) { return IsWord(token, word); });
}

Status CheckLengths(const StatementText& statement, Tokens tokens) {
  if (statement.text.size() > kMaxStatementBytes) {
    return FailAt(statement.at, "the statement has {} bytes, and {} are allowed; make it shorter",
                  statement.text.size(), kMaxStatementBytes);
  }
  for (const Token& token : tokens) {
    if (!IsName(token) || NameOf(token).size() <= kMaxNameBytes) continue;
    return FailAt(token.at, "the name {} has {} bytes, and {} are allowed; make it shorter",
                  Shown(token.text), NameOf(token).size(), kMaxNameBytes);
  }
  return Ok();
}

// IN CLUSTER name, which Materialize adds to PostgreSQL's CREATE statements: the first of its three
// tokens, or nothing. Elsewhere in them, PostgreSQL wants an operand in brackets after IN.
const Token* FindCluster(Tokens tokens) {
  if (!IsWord(tokens[0], "CREATE")) return nullptr;
  int depth = 0;
  for (size_t at = 0; at + 3 < tokens.size(); ++at) {
    const Token* here = &tokens[at];
    if (here->text == "(") ++depth;
    if (here->text == ")") --depth;
    const bool names = IsName(here[2]);
    const bool goes_on = here[3].kind == TokenKind::kEnd || IsOneOf(here[3], {"ON", "AS", "WITH"});
    if (depth == 0 && IsWord(here[0], "IN") && IsWord(here[1], "CLUSTER") && names && goes_on) {
      return here;
    }
  }
  return nullptr;
}

// `statement` with blanks for the three tokens at `cluster`: as many characters and lines, so that
// what PostgreSQL says of a place in it holds for `statement`.
std::string WithoutCluster(std::string_view statement, const Token* cluster) {
  if (cluster == nullptr) return std::string(statement);
  const size_t begin = cluster->text.data() - statement.data();
  const size_t end = cluster[2].text.data() + cluster[2].text.size() - statement.data();
  const std::string_view cut = statement.substr(begin, end - begin);
  std::string blanks;
  for (const char c : cut) {
    if (BeginsCharacter(c)) blanks += c == '\n' ? '\n' : ' ';
  }
  return std::string(statement).replace(begin, cut.size(), blanks);
}

// "CREATE MATERIALIZED VIEW", "SELECT": the words that say what a statement does.
std::string KindOf(Tokens tokens) {
  while (tokens.front().text == "(") tokens = tokens.subspan(1);
  std::string kind;
  const bool about_object = IsOneOf(tokens.front(), {"CREATE", "ALTER", "DROP"});
  for (const Token& token : tokens) {
    if (IsOneOf(token, {"OR", "REPLACE", "TEMP", "TEMPORARY", "UNLOGGED", "RECURSIVE"})) continue;
    kind += (kind.empty() ? "" : " ") + NameOf(token);
    if (!about_object || !IsOneOf(token, {"CREATE", "ALTER", "DROP", "MATERIALIZED", "FOREIGN"})) {
      break;
    }
  }
  std::transform(kind.begin(), kind.end(), kind.begin(), [](char c) {
    return c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c;
  });
  return kind;
}

// What is in PostgreSQL's grammar, but for IN CLUSTER.
Result<StatementBody> ParseGrammarStatement(const StatementText& statement, Tokens tokens) {
  const Token* cluster = FindCluster(tokens);
  const std::string text = WithoutCluster(statement.text, cluster);
  if (IsSettingStatement(tokens)) {
    WEIR_TRY(const std::string tree, ParseTree(text, statement.at));
    return ReadSettingStatement(tree, tokens);
  }
  if (!IsIndexStatement(tokens)) {
    WEIR_DO(CheckGrammar(text, statement.at));
    return FailAt(statement.at,
                  "{} is not supported yet: weir knows CREATE, ALTER and DROP SOURCE, CREATE "
                  "INDEX, DROP INDEX and ALTER SYSTEM SET; take it out",
                  KindOf(tokens));
  }
  WEIR_TRY(const std::string tree, ParseTree(text, statement.at));
  WEIR_TRY(StatementBody body, ReadIndexStatement(tree, tokens));
  if (cluster != nullptr) std::get<CreateIndex>(body).cluster = NameOf(cluster[2]);
  return body;
}

Result<Statement> ParseStatement(const StatementText& statement) {
  WEIR_TRY(const std::vector<Token> tokens, TokensOf(statement.text, statement.at));
  WEIR_DO(CheckLengths(statement, tokens));
  WEIR_TRY(StatementBody body, IsSourceStatement(tokens)
                                   ? ParseSourceStatement(tokens)
                                   : ParseGrammarStatement(statement, tokens));
  return Statement{std::move(body), std::string(statement.text), statement.at};
}

}  // namespace

Result<std::vector<Statement>> ParseStatements(std::string_view text) {
  WEIR_TRY(const std::vector<StatementText> texts, SplitStatements(text));
  std::vector<Statement> statements;
  for (const StatementText& one : texts) {
    WEIR_TRY(statements.emplace_back(), ParseStatement(one));
  }
  return statements;
}

}  // namespace weir::sql
