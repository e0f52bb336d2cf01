#include "weir/pg/target.h"

#include <libpq-fe.h>

#include <algorithm>
#include <memory>

namespace weir::pg {
namespace {

bool IsSecret(std::string_view keyword) {
  return keyword == "password" || keyword == "sslpassword";
}

}  // namespace

Result<Target> Target::Parse(std::string_view text) {
  char* reason = nullptr;
  const std::string copy(text);
  const std::unique_ptr<PQconninfoOption, decltype(&PQconninfoFree)> options(
      PQconninfoParse(copy.c_str(), &reason), &PQconninfoFree);
  const std::unique_ptr<char, decltype(&PQfreemem)> owned_reason(reason, &PQfreemem);
  if (options == nullptr) {
    // libpq's reason may quote the whole text, password and all.
    return Fail(Code::kUsage,
                "the source address is not a valid connection string; write "
                "postgresql://user@host:port/database and percent-encode special characters in "
                "the password (@ is %40, : is %3A, / is %2F), or use PGPASSWORD");
  }
  Target target;
  for (const PQconninfoOption* option = options.get(); option->keyword != nullptr; ++option) {
    if (option->val != nullptr) target.keywords_.emplace_back(option->keyword, option->val);
  }
  return target;
}

std::string Target::Get(std::string_view keyword) const {
  for (const auto& [name, value] : keywords_) {
    if (name == keyword) return value;
  }
  return "";
}

void Target::Set(const std::string& keyword, std::string value) {
  for (auto& [name, old] : keywords_) {
    if (name == keyword) {
      old = std::move(value);
      return;
    }
  }
  keywords_.emplace_back(keyword, std::move(value));
}

std::string Target::Describe() const {
  std::string text;
  if (const auto user = Get("user"); !user.empty()) text += user + "@";
  const auto host = Get("host");
  text += host.empty() ? Get("hostaddr").empty() ? "local" : Get("hostaddr") : host;
  if (const auto port = Get("port"); !port.empty()) text += ":" + port;
  if (const auto database = Get("dbname"); !database.empty()) text += "/" + database;
  return text;
}

std::string Target::Redact(std::string text) const {
  for (const auto& [name, value] : keywords_) {
    if (!IsSecret(name) || value.empty()) continue;
    for (size_t at = text.find(value); at != text.npos; at = text.find(value, at + 3)) {
      text.replace(at, value.size(), "***");
    }
  }
  return text;
}

}  // namespace weir::pg
