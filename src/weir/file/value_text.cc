#include "weir/file/value_text.h"

#include <algorithm>
#include <bit>
#include <charconv>
#include <cmath>
#include <iterator>
#include <limits>

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

// A positive float in decimal: its digits, with the point after the first, times 10^exponent.
struct Decimal {
  std::string digits;
  int exponent = 0;
};

// Of "d.ddde+xx", as std::to_chars writes it.
Decimal ParseScientific(std::string_view text) {
  Decimal decimal;
  const size_t e = text.find('e');
  for (const char c : text.substr(0, e)) {
    if (c != '.') decimal.digits += c;
  }
  const char* exponent = text.data() + e + (text[e + 1] == '+' ? 2 : 1);
  std::from_chars(exponent, text.data() + text.size(), decimal.exponent);
  return decimal;
}

// True if `decimal` is exactly odd × 2^exponent.
bool Equals(const Decimal& decimal, uint64_t odd, int exponent) {
  uint64_t digits = 0;
  std::from_chars(decimal.digits.data(), decimal.digits.data() + decimal.digits.size(), digits);
  int tens = decimal.exponent - static_cast<int>(decimal.digits.size()) + 1;
  const int twos = std::countr_zero(digits);
  digits >>= twos;
  if (twos + tens != exponent) return false;  // 10^n is 2^n × 5^n.
  for (; tens > 0; --tens) {
    if (digits > odd) return false;
    digits *= 5;
  }
  for (; tens < 0; ++tens) {
    if (digits % 5 != 0) return false;
    digits /= 5;
  }
  return digits == odd;
}

// True if `decimal` lies exactly between `value`, which is positive, and a float beside it.
template <typename T>
bool IsHalfway(const Decimal& decimal, T value) {
  constexpr int kBits = std::numeric_limits<T>::digits;
  int exponent = 0;
  std::frexp(value, &exponent);
  exponent = std::max(exponent, std::numeric_limits<T>::min_exponent) - kBits;
  const auto mantissa = static_cast<uint64_t>(std::ldexp(value, -exponent));
  if (Equals(decimal, 2 * mantissa + 1, exponent - 1)) return true;
  // Below a power of two the floats lie twice as close.
  const bool closer = mantissa == uint64_t{1} << (kBits - 1) &&
                      exponent > std::numeric_limits<T>::min_exponent - kBits;
  return closer ? Equals(decimal, 4 * mantissa - 1, exponent - 2)
                : Equals(decimal, 2 * mantissa - 1, exponent - 1);
}

// The shortest decimal strictly between the halfway points to the floats beside `value` (d2s.c,
// f2s.c of PostgreSQL: no bounds are accepted). std::to_chars finds the shortest that reads back,
// and may so end on a halfway point; then more digits are needed.
template <typename T>
Decimal ShortestDecimal(T value) {
  char buffer[64];
  char* const end = buffer + sizeof buffer;
  auto text = std::to_chars(buffer, end, value, std::chars_format::scientific);
  while (true) {
    Decimal decimal = ParseScientific({buffer, static_cast<size_t>(text.ptr - buffer)});
    T read_back = 0;
    std::from_chars(buffer, text.ptr, read_back);
    if (read_back == value && (value == 0 || !IsHalfway(decimal, value))) return decimal;
    const int digits = static_cast<int>(decimal.digits.size());
    text = std::to_chars(buffer, end, value, std::chars_format::scientific, digits);
  }
}

// PostgreSQL's exponent form below 1e-4 and from 1e15 (1e6 for float4) on, else digits and a point.
template <typename T>
void AppendFloat(T value, std::string& out) {
  if (std::isnan(value)) {
    out += "NaN";
    return;
  }
  if (std::signbit(value)) out += '-';
  if (std::isinf(value)) {
    out += "Infinity";
    return;
  }
  constexpr int kFixedBelow = std::is_same_v<T, float> ? 6 : 15;
  const auto [digits, exponent] = ShortestDecimal(std::abs(value));
  const int count = static_cast<int>(digits.size());
  if (exponent < -4 || exponent >= kFixedBelow) {
    out += digits[0];
    if (count > 1) out.append(".").append(digits, 1);
    fmt::format_to(std::back_inserter(out), "e{}{:02}", exponent < 0 ? '-' : '+',
                   std::abs(exponent));
  } else if (exponent < 0) {
    out.append("0.").append(static_cast<size_t>(-exponent - 1), '0').append(digits);
  } else if (exponent >= count - 1) {
    out.append(digits).append(static_cast<size_t>(exponent - count + 1), '0');
  } else {
    const size_t point = static_cast<size_t>(exponent) + 1;
    out.append(digits, 0, point).append(".").append(digits, point);
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
