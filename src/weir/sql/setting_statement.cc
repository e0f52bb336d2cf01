#include <nlohmann/json.hpp>

#include "weir/sql/setting_statement_internal.h"

namespace weir::sql {
namespace {

using nlohmann::json;

// A constant as it would stand on a command line; none for what is no constant.
std::optional<std::string> TextOf(const json& argument) {
  const auto constant = argument.find("A_Const");
  if (constant == argument.end()) return std::nullopt;
  if (constant->contains("sval")) return constant->at("sval").at("sval").get<std::string>();
  if (constant->contains("fval")) return constant->at("fval").at("fval").get<std::string>();
  if (constant->contains("ival")) {  // The tree leaves a 0 out.
    return std::to_string(constant->at("ival").value("ival", 0));
  }
  return std::nullopt;
}

}  // namespace

bool IsSettingStatement(std::span<const Token> tokens) {
  return IsWord(tokens[0], "ALTER") && IsWord(tokens[1], "SYSTEM");
}

Result<StatementBody> ReadSettingStatement(const std::string& tree,
                                           std::span<const Token> tokens) {
  const json parsed = json::parse(tree, nullptr, /*allow_exceptions=*/false);
  WEIR_ASSERT(!parsed.is_discarded());
  const json& set = parsed.at("stmts").at(0).at("stmt").at("AlterSystemStmt").at("setstmt");
  if (set.at("kind") != "VAR_SET_VALUE") {
    return FailAt(tokens.front().at,
                  "of ALTER SYSTEM only SET name = value is supported; give the value");
  }
  const json& values = set.at("args");
  const auto value = values.size() == 1 ? TextOf(values[0]) : std::nullopt;
  if (!value.has_value()) {
    return FailAt(tokens.front().at, "a setting takes one number or one text; write it in quotes");
  }
  return StatementBody(AlterSystem{set.at("name").get<std::string>(), *value});
}

}  // namespace weir::sql
