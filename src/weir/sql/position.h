#pragma once
// Position: where something stands in a SQL text, and the errors that begin with it.
#include <string_view>
#include <utility>

#include "weir/base/error.h"

namespace weir::sql {

/// Counted from 1, columns in characters.
struct Position {
  int line = 1;
  int column = 1;

  friend bool operator==(const Position&, const Position&) = default;
};

/// Where a reader stands that was at `at` and passed `passed`. Cost: O(bytes).
Position After(Position at, std::string_view passed);

/// kUsage: "line 3, column 8: " and the formatted words, which name the thing and the remedy.
template <typename... Args>
Error FailAt(Position at, fmt::format_string<Args...> format, Args&&... args) {
  return Fail(Code::kUsage, "line {}, column {}: {}", at.line, at.column,
              fmt::format(format, std::forward<Args>(args)...));
}

/// Others' words as a message may repeat them: printable, and cut when they are long.
std::string Shown(std::string_view text);

}  // namespace weir::sql
