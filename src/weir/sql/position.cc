#include "weir/sql/position.h"

#include "weir/base/printable.h"
#include "weir/base/utf8.h"

namespace weir::sql {
namespace {

constexpr size_t kMaxShownBytes = 120;

}  // namespace

Position After(Position at, std::string_view passed) {
  for (const char c : passed) {
    if (c == '\n') {
      at = {at.line + 1, 1};
    } else if (BeginsCharacter(c)) {
      ++at.column;
    }
  }
  return at;
}

std::string Shown(std::string_view text) {
  if (text.size() <= kMaxShownBytes) return Printable(text);
  return Printable(Clipped(text, kMaxShownBytes)) + "...";
}

}  // namespace weir::sql
