#include "weir/file/value_text.h"

#include <charconv>
#include <cmath>
#include <iterator>

#include <fmt/format.h>

namespace weir::file {
namespace {

using table::ColumnData;
using table::Kind;

constexpr int64_t kDayMicros = 86'400'000'000;

template <typename T>
void AppendInt(T value, std::string& out) {
  char buffer[24];
  const auto end = std::to_chars(buffer, buffer + sizeof buffer, value);
  out.append(buffer, end.ptr);
}

// PostgreSQL prints the shortest digits that read back, in exponent form below 1e-4 and from 1e15
// (1e6 for float4) on; std::to_chars finds the same digits.
template <typename T>
void AppendFloat(T value, std::string& out) {
  if (std::isnan(value)) {
    out += "NaN";
    return;
  }
  if (std::isinf(value)) {
    out += value < 0 ? "-Infinity" : "Infinity";
    return;
  }
  char buffer[64];
  const auto scientific =
      std::to_chars(buffer, buffer + sizeof buffer, value, std::chars_format::scientific);
  const std::string_view text(buffer, static_cast<size_t>(scientific.ptr - buffer));
  const size_t e = text.find('e');
  int exponent = 0;
  std::from_chars(text.data() + e + (text[e + 1] == '+' ? 2 : 1), scientific.ptr, exponent);
  constexpr int kFixedBelow = std::is_same_v<T, float> ? 6 : 15;
  if (value == 0 || (exponent >= -4 && exponent < kFixedBelow)) {
    char fixed[64];
    const auto end = std::to_chars(fixed, fixed + sizeof fixed, value, std::chars_format::fixed);
    out.append(fixed, end.ptr);
  } else {
    out += text;
  }
}

void AppendDecimal(__int128 value, int scale, std::string& out) {
  char digits[48];
  char* at = digits + sizeof digits;
  const bool negative = value < 0;
  auto rest =
      negative ? -static_cast<unsigned __int128>(value) : static_cast<unsigned __int128>(value);
  for (int written = 0; rest != 0 || written <= scale; ++written) {
    if (written == scale && scale > 0) *--at = '.';
    *--at = static_cast<char>('0' + static_cast<int>(rest % 10));
    rest /= 10;
  }
  if (negative) *--at = '-';
  out.append(at, digits + sizeof digits);
}

struct Civil {
  int64_t year;  // Astronomical: 0 is 1 BC.
  int month;
  int day;
};

// Days since 1970-01-01 to the proleptic Gregorian calendar (Hinnant, "chrono-Compatible Low-Level
// Date Algorithms", civil_from_days).
Civil CivilFromDays(int64_t days) {
  days += 719'468;
  const int64_t era = (days >= 0 ? days : days - 146'096) / 146'097;
  const int64_t day_of_era = days - era * 146'097;
  const int64_t year_of_era =
      (day_of_era - day_of_era / 1460 + day_of_era / 36'524 - day_of_era / 146'096) / 365;
  const int64_t day_of_year =
      day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
  const int64_t shifted_month = (5 * day_of_year + 2) / 153;
  const int month = static_cast<int>(shifted_month < 10 ? shifted_month + 3 : shifted_month - 9);
  return {year_of_era + era * 400 + (month <= 2 ? 1 : 0), month,
          static_cast<int>(day_of_year - (153 * shifted_month + 2) / 5 + 1)};
}

void AppendDate(const Civil& date, std::string& out) {
  const int64_t year = date.year > 0 ? date.year : 1 - date.year;
  fmt::format_to(std::back_inserter(out), "{:04}-{:02}-{:02}", year, date.month, date.day);
}

void AppendTimeOfDay(int64_t micros, std::string& out) {
  const int64_t seconds = micros / 1'000'000;
  fmt::format_to(std::back_inserter(out), "{:02}:{:02}:{:02}", seconds / 3600, seconds / 60 % 60,
                 seconds % 60);
  int64_t fraction = micros % 1'000'000;
  if (fraction == 0) return;
  int width = 6;
  while (fraction % 10 == 0) {
    fraction /= 10;
    --width;
  }
  fmt::format_to(std::back_inserter(out), ".{:0{}}", fraction, width);
}

void AppendTimestamp(int64_t micros, std::string_view zone, std::string& out) {
  int64_t days = micros / kDayMicros;
  int64_t rest = micros % kDayMicros;
  if (rest < 0) {
    rest += kDayMicros;
    --days;
  }
  const Civil date = CivilFromDays(days);
  AppendDate(date, out);
  out += ' ';
  AppendTimeOfDay(rest, out);
  out += zone;
  if (date.year <= 0) out += " BC";
}

void AppendUuid(const uint8_t* bytes, std::string& out) {
  for (int index = 0; index < 16; ++index) {
    if (index == 4 || index == 6 || index == 8 || index == 10) out += '-';
    fmt::format_to(std::back_inserter(out), "{:02x}", bytes[index]);
  }
}

void AppendBinary(Bytes bytes, std::string& out) {
  constexpr char kHex[] = "0123456789abcdef";
  out += "\\x";
  for (const uint8_t byte : bytes) {
    out += kHex[byte >> 4];
    out += kHex[byte & 15];
  }
}

// array_out quotes an element that is empty, is NULL in any case, or holds braces, commas, quotes,
// backslashes or white space.
bool NeedsQuotes(std::string_view text) {
  if (text.empty()) return true;
  if (text.size() == 4) {
    std::string upper(text);
    for (char& c : upper) c = static_cast<char>(c >= 'a' && c <= 'z' ? c - 'a' + 'A' : c);
    if (upper == "NULL") return true;
  }
  return text.find_first_of("{},\"\\ \t\n\r\v\f") != text.npos;
}

void AppendList(const ColumnData& column, int64_t row, std::string& out) {
  const ColumnData& element = *column.element;
  std::string text;
  out += '{';
  const int64_t begin = column.OffsetAt(row);
  for (int64_t at = begin; at < column.OffsetAt(row + 1); ++at) {
    if (at != begin) out += ',';
    if (element.IsNull(at)) {
      out += "NULL";
      continue;
    }
    text.clear();
    AppendValueText(element, at, text);
    if (!NeedsQuotes(text)) {
      out += text;
      continue;
    }
    out += '"';
    for (const char c : text) {
      if (c == '"' || c == '\\') out += '\\';
      out += c;
    }
    out += '"';
  }
  out += '}';
}

}  // namespace

void AppendValueText(const ColumnData& column, int64_t row, std::string& out) {
  switch (column.type.kind) {
    case Kind::kBool: out += column.At<uint8_t>(row) != 0 ? 't' : 'f'; return;
    case Kind::kInt16: return AppendInt(column.At<int16_t>(row), out);
    case Kind::kInt32: return AppendInt(column.At<int32_t>(row), out);
    case Kind::kInt64: return AppendInt(column.At<int64_t>(row), out);
    case Kind::kFloat32: return AppendFloat(column.At<float>(row), out);
    case Kind::kFloat64: return AppendFloat(column.At<double>(row), out);
    case Kind::kDecimal: return AppendDecimal(column.At<__int128>(row), column.type.scale, out);
    case Kind::kDate: {
      const Civil date = CivilFromDays(column.At<int32_t>(row));
      AppendDate(date, out);
      if (date.year <= 0) out += " BC";
      return;
    }
    case Kind::kTime: return AppendTimeOfDay(column.At<int64_t>(row), out);
    case Kind::kTimestamp: return AppendTimestamp(column.At<int64_t>(row), "", out);
    case Kind::kTimestampTz: return AppendTimestamp(column.At<int64_t>(row), "+00", out);
    case Kind::kText:
    case Kind::kJson: out += AsText(column.BytesAt(row)); return;
    case Kind::kBinary: return AppendBinary(column.BytesAt(row), out);
    case Kind::kUuid: return AppendUuid(column.values->data() + row * 16, out);
    case Kind::kList: return AppendList(column, row, out);
  }
}

}  // namespace weir::file
