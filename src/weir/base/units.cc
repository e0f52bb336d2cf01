#include "weir/base/units.h"

#include <cctype>
#include <cerrno>
#include <cmath>
#include <cstdlib>

namespace weir {

Result<int64_t> ParseByteSize(std::string_view text) {
  const std::string copy(text);
  char* end = nullptr;
  errno = 0;
  const double number = std::strtod(copy.c_str(), &end);
  std::string unit;
  for (const char* at = end; *at != '\0'; ++at) {
    if (*at != ' ') unit += static_cast<char>(std::tolower(static_cast<unsigned char>(*at)));
  }
  double factor = 0;
  if (unit.empty() || unit == "b") factor = 1;
  if (unit == "k" || unit == "kb" || unit == "kib") factor = kKiB;
  if (unit == "m" || unit == "mb" || unit == "mib") factor = kMiB;
  if (unit == "g" || unit == "gb" || unit == "gib") factor = kGiB;
  if (unit == "t" || unit == "tb" || unit == "tib") factor = 1024.0 * kGiB;
  if (unit == "p" || unit == "pb" || unit == "pib") factor = 1024.0 * 1024.0 * kGiB;
  const double bytes = number * factor;
  if (end == copy.c_str() || factor == 0 || errno != 0 || !(bytes >= 0) || bytes > 9e18) {
    return Fail(Code::kInvalid, "'{}' is not a size; write one like 256MB or 2GiB", text);
  }
  return static_cast<int64_t>(std::llround(bytes));
}

std::string FormatBytes(int64_t bytes) {
  constexpr const char* kNames[] = {"B", "KiB", "MiB", "GiB", "TiB", "PiB"};
  double value = static_cast<double>(bytes);
  size_t unit = 0;
  while (std::abs(value) >= 1024 && unit + 1 < std::size(kNames)) {
    value /= 1024;
    ++unit;
  }
  return unit == 0 ? fmt::format("{} B", bytes) : fmt::format("{:.1f} {}", value, kNames[unit]);
}

std::string FormatCount(int64_t count) {
  std::string digits = std::to_string(count);
  const size_t first = digits[0] == '-' ? 1 : 0;
  for (size_t at = digits.size(); at > first + 3;) {
    at -= 3;
    digits.insert(at, ",");
  }
  return digits;
}

std::string FormatDuration(std::chrono::milliseconds duration) {
  const int64_t ms = duration.count();
  if (ms < 1000) return fmt::format("{} ms", ms);
  if (ms < 60'000) return fmt::format("{:.1f} s", static_cast<double>(ms) / 1000);
  const int64_t seconds = ms / 1000;
  if (seconds < 3600) return fmt::format("{} min {} s", seconds / 60, seconds % 60);
  return fmt::format("{} h {} min", seconds / 3600, seconds / 60 % 60);
}

}  // namespace weir
