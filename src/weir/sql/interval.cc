#include <charconv>
#include <cmath>
#include <string>

#include "weir/sql/interval_internal.h"
#include "weir/sql/statement.h"

namespace weir::sql {
namespace {

using std::chrono::microseconds;

constexpr double kMicrosecond = 1;
constexpr double kMillisecond = 1e3;
constexpr double kSecond = 1e6;
constexpr double kMinute = 60 * kSecond;
constexpr double kHour = 60 * kMinute;

struct Unit {
  std::string_view name;
  double microseconds;
};

constexpr Unit kUnits[] = {
    {"us", kMicrosecond},     {"\u00b5s", kMicrosecond},     {"\u03bcs", kMicrosecond},
    {"usec", kMicrosecond},   {"usecs", kMicrosecond},       {"microsecond", kMicrosecond},
    {"microseconds", kMicrosecond},
    {"ms", kMillisecond},     {"msec", kMillisecond},        {"msecs", kMillisecond},
    {"millisecond", kMillisecond}, {"milliseconds", kMillisecond},
    {"s", kSecond},           {"sec", kSecond},              {"secs", kSecond},
    {"second", kSecond},      {"seconds", kSecond},
    {"m", kMinute},           {"min", kMinute},              {"mins", kMinute},
    {"minute", kMinute},      {"minutes", kMinute},
    {"h", kHour},             {"hr", kHour},                 {"hrs", kHour},
    {"hour", kHour},          {"hours", kHour},
};

bool IsDigit(char c) { return c >= '0' && c <= '9'; }

void PassSpaces(std::string_view& rest) {
  while (!rest.empty() && rest.front() == ' ') rest.remove_prefix(1);
}

// Takes a number without sign and exponent off the front of `rest`.
std::optional<double> TakeNumber(std::string_view& rest) {
  if (rest.empty() || !(IsDigit(rest[0]) || rest[0] == '.')) return std::nullopt;
  double number = 0;
  const auto [end, problem] = std::from_chars(rest.data(), rest.data() + rest.size(), number,
                                              std::chars_format::fixed);
  if (problem != std::errc()) return std::nullopt;
  rest.remove_prefix(end - rest.data());
  return number;
}

// Takes a unit off the front of `rest`: all up to a space or a digit.
std::optional<double> TakeUnit(std::string_view& rest) {
  std::string name;
  while (!rest.empty() && rest.front() != ' ' && !IsDigit(rest.front())) {
    const char c = rest.front();
    name += c >= 'A' && c <= 'Z' ? static_cast<char>(c + ('a' - 'A')) : c;
    rest.remove_prefix(1);
  }
  for (const Unit& unit : kUnits) {
    if (unit.name == name) return unit.microseconds;
  }
  return std::nullopt;
}

// Numbers with units. One without counts seconds, if it stands alone.
std::optional<double> SumOfUnits(std::string_view rest) {
  double sum = 0;
  for (bool first = true; !rest.empty(); first = false) {
    const auto number = TakeNumber(rest);
    if (!number.has_value()) return std::nullopt;
    PassSpaces(rest);
    if (first && rest.empty()) return *number * kSecond;
    const auto unit = TakeUnit(rest);
    if (!unit.has_value()) return std::nullopt;
    sum += *number * *unit;
    PassSpaces(rest);
  }
  return sum;
}

// Takes the digits of hours or minutes.
std::optional<double> TakeDigits(std::string_view& rest) {
  const size_t digits = std::min(rest.find_first_not_of("0123456789"), rest.size());
  std::string_view number = rest.substr(0, digits);
  rest.remove_prefix(digits);
  return TakeNumber(number);
}

bool TakeColon(std::string_view& rest) {
  if (rest.empty() || rest.front() != ':') return false;
  rest.remove_prefix(1);
  return true;
}

// hours:minutes or hours:minutes:seconds.
std::optional<double> ClockTime(std::string_view rest) {
  const auto hours = TakeDigits(rest);
  if (!hours.has_value() || !TakeColon(rest)) return std::nullopt;
  const auto minutes = TakeDigits(rest);
  if (!minutes.has_value()) return std::nullopt;
  const auto seconds = TakeColon(rest) ? TakeNumber(rest) : 0;
  if (!seconds.has_value() || !rest.empty() || *minutes >= 60 || *seconds >= 60) {
    return std::nullopt;
  }
  return *hours * kHour + *minutes * kMinute + *seconds * kSecond;
}

}  // namespace

std::optional<microseconds> ParseInterval(std::string_view text) {
  PassSpaces(text);
  while (text.ends_with(' ')) text.remove_suffix(1);
  if (text.empty()) return std::nullopt;
  const auto time = text.find(':') == text.npos ? SumOfUnits(text) : ClockTime(text);
  const double longest = static_cast<double>(microseconds(kMaxTickInterval).count());
  if (!time.has_value() || !(*time <= longest)) return std::nullopt;
  return microseconds(std::llround(*time));
}

}  // namespace weir::sql
