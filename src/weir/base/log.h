#pragma once
// The program's log: lines on stderr. Never holds a secret; pg/target.h redacts them.
#include <fmt/format.h>

#include <string_view>

namespace weir {

enum class LogLevel { kDebug, kInfo, kWarn, kError };

/// Lines below `level` are dropped. Default kWarn: commands speak for themselves on success.
void SetLogLevel(LogLevel level);

/// Writes one line: "warning: ...". Threads: any.
void LogLine(LogLevel level, std::string_view line);

template <typename... Args>
void LogDebug(fmt::format_string<Args...> format, Args&&... args) {
  LogLine(LogLevel::kDebug, fmt::format(format, std::forward<Args>(args)...));
}
template <typename... Args>
void LogWarn(fmt::format_string<Args...> format, Args&&... args) {
  LogLine(LogLevel::kWarn, fmt::format(format, std::forward<Args>(args)...));
}

}  // namespace weir
