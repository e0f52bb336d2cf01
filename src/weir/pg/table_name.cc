#include "weir/pg/table_name.h"

#include <algorithm>

namespace weir::pg {
namespace {

constexpr size_t kMaxNameBytes = 63;  // NAMEDATALEN - 1; PostgreSQL would cut the rest off.

bool IsLetter(unsigned char c) {
  return c == '_' || c >= 0x80 || ((c | 0x20) >= 'a' && (c | 0x20) <= 'z');
}
bool IsDigit(unsigned char c) { return c >= '0' && c <= '9'; }

// What people write: parts between separators.
struct Grammar {
  std::string_view ends;    // What ends a part without quotes; the first separates parts.
  std::string_view thing;  // What the text should be.
  std::string_view remedy;
};
constexpr Grammar kTable = {".", "a table's name",
                            "write [schema.]name, with double quotes around odd characters"};
constexpr Grammar kColumns = {", ", "a list of columns",
                              "write names with commas between them, and double quotes around "
                              "odd characters"};

// A URL in a name's place may hold a password, and is not repeated.
Error Refused(std::string_view text, const Grammar& grammar, std::string_view reason) {
  if (text.find("://") != text.npos) {
    return Fail(Code::kUsage, "a connection URL stands where {} should: {}", grammar.thing,
                reason);
  }
  return Fail(Code::kUsage, "'{}' is not {}: {}", text.substr(0, 80), grammar.thing, reason);
}

// Takes one part off the front of `rest`.
Result<std::string> TakePart(std::string_view text, const Grammar& grammar,
                             std::string_view& rest) {
  std::string part;
  if (!rest.empty() && rest.front() == '"') {
    rest.remove_prefix(1);
    while (true) {
      const size_t quote = rest.find('"');
      if (quote == rest.npos) return Refused(text, grammar, "a double quote is not closed");
      part += rest.substr(0, quote);
      rest.remove_prefix(quote + 1);
      if (rest.empty() || rest.front() != '"') break;
      part += '"';
      rest.remove_prefix(1);
    }
  } else {
    while (!rest.empty() && grammar.ends.find(rest.front()) == grammar.ends.npos) {
      const auto c = static_cast<unsigned char>(rest.front());
      const bool inside = !part.empty() && (IsDigit(c) || c == '$');
      if (!IsLetter(c) && !inside) return Refused(text, grammar, grammar.remedy);
      part += static_cast<char>(c >= 'A' && c <= 'Z' ? c + ('a' - 'A') : c);
      rest.remove_prefix(1);
    }
  }
  if (part.empty()) return Refused(text, grammar, "a part of it is empty");
  if (part.find('\0') != part.npos) return Refused(text, grammar, "it holds the NUL character");
  if (part.size() > kMaxNameBytes) {
    return Refused(text, grammar,
                   fmt::format("a part of it is longer than {} bytes", kMaxNameBytes));
  }
  return part;
}

void AppendEncoded(std::string& out, std::string_view part) {
  for (const char byte : part) {
    const auto c = static_cast<unsigned char>(byte);
    if (IsLetter(c) || IsDigit(c) || c == '-') {
      out += byte;
    } else {
      out += fmt::format("%{:02X}", c);
    }
  }
}

}  // namespace

Result<TableName> TableName::Parse(std::string_view text) {
  std::vector<std::string> parts;
  std::string_view rest = text;
  while (true) {
    WEIR_TRY(parts.emplace_back(), TakePart(text, kTable, rest));
    if (rest.empty()) break;
    if (rest.front() != kTable.ends.front()) return Refused(text, kTable, kTable.remedy);
    rest.remove_prefix(1);
    if (parts.size() == 2) return Refused(text, kTable, "it has more than two parts");
  }
  if (parts.size() == 1) return TableName{"", std::move(parts[0])};
  return TableName{std::move(parts[0]), std::move(parts[1])};
}

Result<std::vector<std::string>> ParseColumnNames(std::string_view text) {
  std::vector<std::string> names;
  std::string_view rest = text;
  const auto skip_spaces = [&] {
    rest.remove_prefix(std::min(rest.find_first_not_of(' '), rest.size()));
  };
  while (true) {
    skip_spaces();
    WEIR_TRY(names.emplace_back(), TakePart(text, kColumns, rest));
    skip_spaces();
    if (rest.empty()) return names;
    if (rest.front() != kColumns.ends.front()) return Refused(text, kColumns, kColumns.remedy);
    rest.remove_prefix(1);
  }
}

std::string TableName::FileName() const {
  std::string out;
  AppendEncoded(out, schema);
  if (!schema.empty()) out += '.';
  AppendEncoded(out, name);
  return out;
}

std::string DisplayName(std::string_view name) {
  const bool plain = !name.empty() && (name[0] < '0' || name[0] > '9') &&
                     std::all_of(name.begin(), name.end(), [](char c) {
                       return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_';
                     });
  if (plain) return std::string(name);
  std::string quoted = "\"";
  for (const char c : name) {
    quoted += c;
    if (c == '"') quoted += '"';
  }
  return quoted + "\"";
}

std::string TableName::Display() const {
  return schema.empty() ? DisplayName(name) : DisplayName(schema) + "." + DisplayName(name);
}

}  // namespace weir::pg
