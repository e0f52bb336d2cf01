#pragma once
// ParseInterval: a length of time as PostgreSQL and Materialize write intervals.
#include <chrono>
#include <optional>
#include <string_view>

namespace weir::sql {

/// '1s', '500 ms', '1 min 30 s', '2 hours', '1.5' (seconds), '00:00:01.5' (hours first), rounded to
/// a microsecond. Nothing for other text: signs, days and longer units, and times beyond
/// kMaxTickInterval among it.
std::optional<std::chrono::microseconds> ParseInterval(std::string_view text);

}  // namespace weir::sql
