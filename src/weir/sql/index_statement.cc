#include <algorithm>
#include <nlohmann/json.hpp>

#include "weir/base/utf8.h"
#include "weir/sql/index_statement_internal.h"

namespace weir::sql {
namespace {

using nlohmann::json;
using Tokens = std::span<const Token>;

// A part of a statement that weir does not do: its field in the tree, which is there only when it
// is asked for, and the word that asks.
struct Refused {
  const char* field;
  std::string_view word;
  std::string_view why;
};

constexpr Refused kRefusedOfIndex[] = {
    {"unique", "UNIQUE", "UNIQUE is not supported, as an index checks nothing; leave it out"},
    {"concurrent", "CONCURRENTLY",
     "CONCURRENTLY is not supported, as no index locks its table; leave it out"},
    {"indexIncludingParams", "INCLUDE",
     "INCLUDE is not supported, as an index holds all columns; leave it out"},
    {"nulls_not_distinct", "NULLS",
     "NULLS NOT DISTINCT is not supported, as an index checks nothing; leave it out"},
    {"options", "WITH", "WITH and storage parameters are not supported; leave them out"},
    {"tableSpace", "TABLESPACE", "TABLESPACE is not supported, as an index has none; leave it out"},
    {"whereClause", "WHERE",
     "WHERE is not supported, as an index holds all rows; leave it out"},
};

// The same for one key; it is told where the key begins.
constexpr std::pair<const char*, std::string_view> kRefusedOfKey[] = {
    {"expr", "a key that is not a column's plain name is not supported; name columns only"},
    {"collation", "COLLATE is not supported, as keys are sorted by their bytes; leave it out"},
    {"opclass",
     "an operator class is not supported, as keys are sorted by their bytes; leave it out"},
};

Position WhereIs(std::string_view word, Tokens tokens) {
  const auto found = std::find_if(tokens.begin(), tokens.end(),
                                  [&](const Token& token) { return IsWord(token, word); });
  return found == tokens.end() ? tokens.front().at : found->at;
}

int DepthChange(const Token& token) {
  if (token.kind != TokenKind::kSymbol) return 0;
  if (token.text == "(") return 1;
  return token.text == ")" ? -1 : 0;
}

// Where the keys of CREATE INDEX begin: after the first bracket, and after commas in no other.
std::vector<Position> WhereKeysAre(Tokens tokens) {
  std::vector<Position> keys;
  int depth = 0;
  for (size_t at = 0; at + 1 < tokens.size(); ++at) {
    const int change = DepthChange(tokens[at]);
    const bool parts = change == 1 ? depth == 0 : depth == 1 && tokens[at].text == ",";
    depth += change;
    if (depth == 0 && change == -1) break;
    if (parts) keys.push_back(tokens[at + 1].at);
  }
  return keys;
}

// {"String": {"sval": "x"}} as x.
std::string StringOf(const json& node) { return node.at("String").at("sval").get<std::string>(); }

Result<std::string> ReadKey(const json& key, Position at) {
  for (const auto& [field, why] : kRefusedOfKey) {
    if (key.contains(field)) return FailAt(at, "{}", why);
  }
  if (key.at("ordering") == "SORTBY_DESC") {
    return FailAt(at, "DESC is not supported, as keys rise; leave it out");
  }
  if (key.at("nulls_ordering") != "SORTBY_NULLS_DEFAULT") {
    return FailAt(at, "NULLS FIRST and NULLS LAST are not supported; leave them out");
  }
  return key.at("name").get<std::string>();
}

Result<TableRef> ReadTable(const json& relation, Tokens tokens) {
  if (!relation.contains("inh")) {
    return FailAt(WhereIs("ONLY", tokens),
                  "ONLY is not supported, as no table has children; leave it out");
  }
  if (relation.contains("catalogname")) {
    return FailAt(tokens.front().at,
                  "a table's name has at most two parts, source.table, and here are three");
  }
  return TableRef{relation.value("schemaname", ""), relation.at("relname").get<std::string>()};
}

// table_column_column_idx. Where that is too long, the longer of the table's name and the columns'
// loses bytes, one at a time: so PostgreSQL does it.
std::string DefaultName(std::string_view table, const std::vector<std::string>& columns) {
  constexpr size_t kRoom = kMaxNameBytes - std::string_view("__idx").size();
  std::string joined;
  for (const std::string& column : columns) {
    joined += (joined.empty() ? "" : "_") + column;
    if (joined.size() > kMaxNameBytes) break;
  }
  size_t table_bytes = table.size();
  size_t column_bytes = joined.size();
  while (table_bytes + column_bytes > kRoom) --(table_bytes > column_bytes ? table_bytes
                                                                           : column_bytes);
  return fmt::format("{}_{}_idx", Clipped(table, table_bytes), Clipped(joined, column_bytes));
}

Result<StatementBody> ReadCreate(const json& tree, Tokens tokens) {
  for (const Refused& refused : kRefusedOfIndex) {
    if (tree.contains(refused.field)) {
      return FailAt(WhereIs(refused.word, tokens), "{}", refused.why);
    }
  }
  const std::string method = tree.at("accessMethod").get<std::string>();
  if (method != "btree" && method != "arrangement") {
    return FailAt(WhereIs("USING", tokens),
                  "USING {} is not supported, as there is one kind of index; leave it out",
                  Shown(method));
  }
  CreateIndex index;
  WEIR_TRY(index.table, ReadTable(tree.at("relation"), tokens));
  const std::vector<Position> positions = WhereKeysAre(tokens);
  const json& keys = tree.at("indexParams");
  WEIR_ASSERT(positions.size() == keys.size());
  for (size_t at = 0; at < keys.size(); ++at) {
    WEIR_TRY(index.key_columns.emplace_back(), ReadKey(keys[at].at("IndexElem"), positions[at]));
  }
  index.if_not_exists = tree.contains("if_not_exists");
  index.name_is_default = !tree.contains("idxname");
  index.name = index.name_is_default ? DefaultName(index.table.table, index.key_columns)
                                     : tree.at("idxname").get<std::string>();
  return StatementBody(std::move(index));
}

Result<StatementBody> ReadDrop(const json& tree, Tokens tokens) {
  if (tree.contains("concurrent")) {
    return FailAt(WhereIs("CONCURRENTLY", tokens),
                  "CONCURRENTLY is not supported, as no index locks its table; leave it out");
  }
  if (tree.at("behavior") == "DROP_CASCADE") {
    return FailAt(WhereIs("CASCADE", tokens), "CASCADE is not supported; leave it out");
  }
  const json& objects = tree.at("objects");
  if (objects.size() != 1) {
    return FailAt(tokens.front().at,
                  "DROP INDEX takes one index, and here are {}; write a statement for each",
                  objects.size());
  }
  const json& parts = objects[0].at("List").at("items");
  if (parts.size() != 1) {
    return FailAt(tokens.front().at,
                  "an index's name has one part, and here are {}; write the last one alone",
                  parts.size());
  }
  return StatementBody(DropIndex{StringOf(parts[0]), tree.contains("missing_ok")});
}

}  // namespace

bool IsIndexStatement(Tokens tokens) {
  if (IsWord(tokens[0], "CREATE") && IsWord(tokens[1], "UNIQUE")) return true;
  const bool verb = IsWord(tokens[0], "CREATE") || IsWord(tokens[0], "DROP");
  return verb && IsWord(tokens[1], "INDEX");
}

Result<StatementBody> ReadIndexStatement(const std::string& tree, Tokens tokens) {
  const json parsed = json::parse(tree, nullptr, /*allow_exceptions=*/false);
  WEIR_ASSERT(!parsed.is_discarded());
  const json& statement = parsed.at("stmts").at(0).at("stmt");
  if (statement.contains("IndexStmt")) return ReadCreate(statement.at("IndexStmt"), tokens);
  return ReadDrop(statement.at("DropStmt"), tokens);
}

}  // namespace weir::sql
