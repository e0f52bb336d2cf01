#include "weir/pg/table_name.h"

#include <algorithm>

namespace weir::pg {
namespace {

char Fold(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }

// One part of a dotted name; moves `text` past it. Empty when malformed.
std::string TakePart(std::string_view& text) {
  std::string part;
  if (text.empty() || text[0] != '"') {
    const size_t end = std::min(text.find('.'), text.size());
    for (const char c : text.substr(0, end)) {
      if (c == '"') return "";
      part += Fold(c);
    }
    text.remove_prefix(end);
    return part;
  }
  for (size_t at = 1; at < text.size(); ++at) {
    if (text[at] != '"') {
      part += text[at];
    } else if (at + 1 < text.size() && text[at + 1] == '"') {
      part += '"';
      ++at;
    } else {
      text.remove_prefix(at + 1);
      return part;
    }
  }
  return "";
}

}  // namespace

Result<TableName> TableName::Parse(std::string_view text) {
  std::string_view rest = text;
  TableName table;
  table.name = TakePart(rest);
  if (!table.name.empty() && !rest.empty() && rest[0] == '.') {
    rest.remove_prefix(1);
    table.schema = std::move(table.name);
    table.name = TakePart(rest);
  }
  if (table.name.empty() || !rest.empty() || text.find('\0') != text.npos) {
    return Fail(Code::kUsage,
                "'{}' is not a table name; write name, schema.name or \"Schema\".\"Name\"", text);
  }
  return table;
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
