#include "weir/config/variables.h"

#include <cstdlib>

#include "weir/config/tree_internal.h"

namespace weir::config {
namespace {

bool IsNameByte(char c, bool first) {
  return c == '_' || ((c | 0x20) >= 'a' && (c | 0x20) <= 'z') || (!first && c >= '0' && c <= '9');
}

// The name that `text` begins with; empty when it begins with none.
std::string_view NameAtStart(std::string_view text) {
  size_t length = 0;
  while (length < text.size() && IsNameByte(text[length], length == 0)) ++length;
  return text.substr(0, length);
}

}  // namespace

std::optional<std::string> ProcessEnv(const std::string& name) {
  const char* value = std::getenv(name.c_str());
  if (value == nullptr) return std::nullopt;
  return value;
}

Result<Params> ParseParams(const std::vector<std::string>& words) {
  Params params;
  for (const std::string& word : words) {
    const size_t equals = word.find('=');
    if (equals == word.npos) {
      return Fail(Code::kUsage, "-p takes NAME=VALUE, and what it was given has no '='");
    }
    const std::string name = word.substr(0, equals);
    if (name.empty() || NameAtStart(name) != name) {
      return Fail(Code::kUsage,
                  "-p takes NAME=VALUE, and {} is no name: it takes letters, digits and '_', and "
                  "begins with no digit",
                  name.empty() ? "nothing" : Shown(name));
    }
    if (!params.emplace(name, word.substr(equals + 1)).second) {
      return Fail(Code::kUsage, "-p gives '{}' twice; keep one", name);
    }
  }
  return params;
}

GetEnv WithParams(Params params, GetEnv get_env) {
  return [params = std::move(params), get_env = std::move(get_env)](const std::string& name) {
    const auto found = params.find(name);
    return found == params.end() ? get_env(name) : std::optional(found->second);
  };
}

Result<std::string> ExpandVariables(std::string_view text, const GetEnv& get_env) {
  std::string out;
  while (true) {
    const size_t dollar = text.find("${");
    if (dollar == text.npos) return out.append(text);
    if (dollar > 0 && text[dollar - 1] == '$') {  // $${ stands for ${.
      out.append(text.substr(0, dollar - 1)).append("${");
      text.remove_prefix(dollar + 2);
      continue;
    }
    out.append(text.substr(0, dollar));
    text.remove_prefix(dollar + 2);
    const std::string name(NameAtStart(text));
    if (name.empty() || text.size() == name.size() || text[name.size()] != '}') {
      return Fail(Code::kUsage, "'${{' must be followed by a variable's name and '}}'; write $${{ "
                                "for the characters themselves");
    }
    const auto found = get_env(name);
    if (!found.has_value()) {
      return Fail(Code::kUsage,
                  "'{0}' is neither a parameter nor an environment variable; give -p {0}=VALUE or "
                  "set it, or write $${{{0}}} for the characters themselves",
                  name);
    }
    out.append(*found);
    text.remove_prefix(name.size() + 1);
  }
}

}  // namespace weir::config
