#include "weir/pg/target.h"

#include <libpq-fe.h>

#include <algorithm>
#include <memory>

namespace weir::pg {
namespace {

bool IsSecret(std::string_view keyword) {
  return keyword == "password" || keyword == "sslpassword";
}

// libpq's reason may quote the whole text, password and all.
Error Malformed() {
  return Fail(Code::kUsage,
              "the source address is not a valid connection string; write "
              "postgresql://user@host:port/database and percent-encode special characters in the "
              "password (@ is %40, : is %3A, / is %2F), or use PGPASSWORD");
}

// True where a password written without percent-encoding would be read as another field, which
// messages repeat: libpq ends user and password at the first @, and takes what has a / before any
// @ for a host.
bool HidesAPassword(std::string_view text) {
  const size_t scheme = text.find("://");
  if (scheme == text.npos) return false;
  std::string_view rest = text.substr(scheme + 3);
  rest = rest.substr(0, rest.find('?'));
  const size_t first = rest.find('@');
  if (first == rest.npos) return false;
  return rest.find('/') < first || rest.find('@', first + 1) != rest.npos;
}

// "5432" or, for several hosts, "5432,,6543". Else it may be a password whose host was forgotten.
bool IsPortList(std::string_view text) {
  return text.find_first_not_of("0123456789,") == text.npos;
}

}  // namespace

Result<Target> Target::Parse(std::string_view text) {
  if (text.find_first_not_of(" \t\r\n") == text.npos) {
    return Fail(Code::kUsage,
                "the source address is empty; write postgresql://user@host:port/database, or "
                "postgresql:// for what PGHOST, PGDATABASE and PGUSER say");
  }
  if (HidesAPassword(text)) return Malformed();
  char* reason = nullptr;
  const std::string copy(text);
  const std::unique_ptr<PQconninfoOption, decltype(&PQconninfoFree)> options(
      PQconninfoParse(copy.c_str(), &reason), &PQconninfoFree);
  const std::unique_ptr<char, decltype(&PQfreemem)> owned_reason(reason, &PQfreemem);
  if (options == nullptr) return Malformed();
  Target target;
  for (const PQconninfoOption* option = options.get(); option->keyword != nullptr; ++option) {
    if (option->val != nullptr) target.keywords_.emplace_back(option->keyword, option->val);
  }
  if (!IsPortList(target.Get("port"))) return Malformed();
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
