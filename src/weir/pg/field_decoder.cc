#include "weir/pg/field_decoder.h"

#include <fmt/format.h>

#include "weir/pg/wire_internal.h"

namespace weir::pg {
namespace {

using table::ColumnBuilder;
using table::Kind;
using table::Type;
using enum FieldFault;

constexpr int32_t kEpochDays = 10'957;                   // 1970-01-01 to 2000-01-01.
constexpr int64_t kEpochMicros = 946'684'800'000'000;    // The same in microseconds.
constexpr int64_t kDayMicros = 86'400'000'000;

// numeric's header (numeric.c): digit count, weight, sign, display scale; then base-10000 digits.
constexpr int64_t kNumericHeader = 8;
constexpr uint16_t kNumericNegative = 0x4000;
constexpr uint16_t kNumericNan = 0xC000;
constexpr uint16_t kNumericInfinity = 0xD000;
constexpr uint16_t kNumericMinusInfinity = 0xF000;

FieldFault DecodeBool(ColumnBuilder& column, const uint8_t* bytes, int64_t size) {
  if (size != 1 || bytes[0] > 1) return kMalformed;
  column.AppendValue(bytes[0]);
  return kNone;
}

FieldFault Decode16(ColumnBuilder& column, const uint8_t* bytes, int64_t size) {
  if (size != 2) return kMalformed;
  column.AppendValue(ReadU16(bytes));
  return kNone;
}

FieldFault Decode32(ColumnBuilder& column, const uint8_t* bytes, int64_t size) {
  if (size != 4) return kMalformed;
  column.AppendValue(ReadU32(bytes));
  return kNone;
}

FieldFault Decode64(ColumnBuilder& column, const uint8_t* bytes, int64_t size) {
  if (size != 8) return kMalformed;
  column.AppendValue(ReadU64(bytes));
  return kNone;
}

FieldFault DecodeDate(ColumnBuilder& column, const uint8_t* bytes, int64_t size) {
  if (size != 4) return kMalformed;
  const int32_t days = ReadI32(bytes);
  if (days == INT32_MIN || days > INT32_MAX - kEpochDays) return kUnsayable;
  column.AppendValue(days + kEpochDays);
  return kNone;
}

FieldFault DecodeTime(ColumnBuilder& column, const uint8_t* bytes, int64_t size) {
  if (size != 8) return kMalformed;
  const int64_t micros = ReadI64(bytes);
  if (micros < 0 || micros > kDayMicros) return kMalformed;
  if (micros == kDayMicros) return kUnsayable;  // 24:00:00 is outside Parquet's TIME.
  column.AppendValue(micros);
  return kNone;
}

FieldFault DecodeTimestamp(ColumnBuilder& column, const uint8_t* bytes, int64_t size) {
  if (size != 8) return kMalformed;
  const int64_t micros = ReadI64(bytes);
  if (micros == INT64_MIN || micros > INT64_MAX - kEpochMicros) return kUnsayable;
  column.AppendValue(micros + kEpochMicros);
  return kNone;
}

FieldFault DecodeBytes(ColumnBuilder& column, const uint8_t* bytes, int64_t size) {
  column.AppendBytes(bytes, size);
  return kNone;
}

FieldFault DecodeJsonb(ColumnBuilder& column, const uint8_t* bytes, int64_t size) {
  if (size < 1 || bytes[0] != 1) return kMalformed;
  column.AppendBytes(bytes + 1, size - 1);
  return kNone;
}

FieldFault DecodeUuid(ColumnBuilder& column, const uint8_t* bytes, int64_t size) {
  if (size != 16) return kMalformed;
  std::memcpy(column.AppendFixed(16), bytes, 16);
  return kNone;
}

// Powers of ten that fit an int128: 10^0 .. 10^38.
struct PowersOfTen {
  __int128 at[39];
  constexpr PowersOfTen() : at() {
    at[0] = 1;
    for (int exponent = 1; exponent < 39; ++exponent) at[exponent] = at[exponent - 1] * 10;
  }
};
constexpr PowersOfTen kPowersOfTen;

// The value is sum(digit[i] × 10000^(weight - i)); scaled by 10^scale each digit contributes
// digit × 10^(4 × (weight - i) + scale).
FieldFault DecodeDecimal(ColumnBuilder& column, const uint8_t* bytes, int64_t size) {
  if (size < kNumericHeader) return kMalformed;
  const int digit_count = ReadU16(bytes);
  const int weight = ReadI16(bytes + 2);
  const uint16_t sign = ReadU16(bytes + 4);
  if (sign != 0 && sign != kNumericNegative) {
    const bool special =
        sign == kNumericNan || sign == kNumericInfinity || sign == kNumericMinusInfinity;
    return special ? kUnsayable : kMalformed;
  }
  if (size != kNumericHeader + 2 * digit_count) return kMalformed;
  const Type& type = column.type();
  __int128 value = 0;
  for (int index = 0; index < digit_count; ++index) {
    const int digit = ReadU16(bytes + kNumericHeader + 2 * index);
    if (digit > 9999) return kMalformed;
    const int exponent = 4 * (weight - index) + type.scale;
    if (exponent >= 0) {
      if (digit == 0) continue;
      if (exponent > 38) return kUnsayable;
      __int128 part;
      if (__builtin_mul_overflow(kPowersOfTen.at[exponent], static_cast<__int128>(digit), &part) ||
          __builtin_add_overflow(value, part, &value)) {
        return kUnsayable;
      }
      continue;
    }
    // Digits below the scale: the declared type rounded them away, so they must be zeros.
    const int below = -exponent;
    const __int128 divisor = below > 4 ? 100'000 : kPowersOfTen.at[below];
    if (digit % static_cast<int>(divisor) != 0) return kUnsayable;
    if (__builtin_add_overflow(value, static_cast<__int128>(digit / static_cast<int>(divisor)),
                               &value)) {
      return kUnsayable;
    }
  }
  if (value >= kPowersOfTen.at[type.precision]) return kUnsayable;
  column.AppendValue(sign == kNumericNegative ? -value : value);
  return kNone;
}

// array_send: dimensions, null flag, element type; per dimension length and lower bound; then
// fields.
constexpr int64_t kArrayHeader = 12;
constexpr int64_t kDimensionHeader = 8;

FieldFault DecodeElements(ColumnBuilder& column, FieldDecoder decode, const uint8_t* bytes,
                          int64_t size, int32_t count) {
  ColumnBuilder& element = column.element();
  int64_t at = 0;
  for (int32_t index = 0; index < count; ++index) {
    if (size - at < 4) return kMalformed;
    const int32_t length = ReadI32(bytes + at);
    at += 4;
    if (length == -1) {
      element.AppendNull();
      continue;
    }
    if (length < 0 || length > size - at) return kMalformed;
    const FieldFault fault = decode(element, bytes + at, length);
    if (fault != kNone) return fault;
    at += length;
  }
  if (at != size) return kMalformed;
  column.AppendList();
  return kNone;
}

FieldFault DecodeArray(ColumnBuilder& column, FieldDecoder decode, const uint8_t* bytes,
                       int64_t size) {
  if (size < kArrayHeader) return kMalformed;
  const int32_t dimensions = ReadI32(bytes);
  if (dimensions == 0) {
    if (size != kArrayHeader) return kMalformed;
    column.AppendList();
    return kNone;
  }
  if (dimensions < 0 || dimensions > 6) return kMalformed;  // MAXDIM of array.h.
  if (dimensions > 1) return kUnsayable;
  if (size < kArrayHeader + kDimensionHeader) return kMalformed;
  const int32_t count = ReadI32(bytes + kArrayHeader);
  const int32_t lower_bound = ReadI32(bytes + kArrayHeader + 4);
  if (count < 0) return kMalformed;
  if (lower_bound != 1) return kUnsayable;
  constexpr int64_t kHeader = kArrayHeader + kDimensionHeader;
  return DecodeElements(column, decode, bytes + kHeader, size - kHeader, count);
}

FieldFault DecodeList(ColumnBuilder& column, const uint8_t* bytes, int64_t size) {
  return DecodeArray(column, DecoderOf(*column.type().element, false), bytes, size);
}

FieldFault DecodeJsonbList(ColumnBuilder& column, const uint8_t* bytes, int64_t size) {
  return DecodeArray(column, DecodeJsonb, bytes, size);
}

}  // namespace

FieldDecoder DecoderOf(const Type& type, bool is_jsonb) {
  switch (type.kind) {
    case Kind::kBool: return DecodeBool;
    case Kind::kInt16: return Decode16;
    case Kind::kInt32:
    case Kind::kFloat32: return Decode32;
    case Kind::kInt64:
    case Kind::kFloat64: return Decode64;
    case Kind::kDecimal: return DecodeDecimal;
    case Kind::kDate: return DecodeDate;
    case Kind::kTime: return DecodeTime;
    case Kind::kTimestamp:
    case Kind::kTimestampTz: return DecodeTimestamp;
    case Kind::kText:
    case Kind::kBinary: return DecodeBytes;
    case Kind::kJson: return is_jsonb ? DecodeJsonb : DecodeBytes;
    case Kind::kUuid: return DecodeUuid;
    case Kind::kList: return is_jsonb ? DecodeJsonbList : DecodeList;
  }
  AssertionFailed("every kind has a decoder", __FILE__, __LINE__);
}

namespace {

std::string DescribeScalar(const Type& type, const uint8_t* bytes, int64_t size) {
  switch (type.kind) {
    case Kind::kDate: return ReadI32(bytes) == INT32_MIN ? "-infinity" : "infinity";
    case Kind::kTimestamp:
    case Kind::kTimestampTz: {
      const int64_t micros = ReadI64(bytes);
      if (micros == INT64_MIN) return "-infinity";
      if (micros == INT64_MAX) return "infinity";
      return "a time after 294247-01-10 04:00:54.775807";  // 2^63 - 1 microseconds after 1970.
    }
    case Kind::kTime: return "24:00:00";
    case Kind::kDecimal: {
      const uint16_t sign = ReadU16(bytes + 4);
      if (sign == kNumericNan) return "NaN";
      if (sign == kNumericInfinity) return "Infinity";
      if (sign == kNumericMinusInfinity) return "-Infinity";
      return "a number with more digits than the column declares";
    }
    default: return fmt::format("a value of {} bytes", size);
  }
}

// The first element that was refused, counted from 1 as PostgreSQL does.
std::string DescribeElement(const Type& type, const uint8_t* bytes, int64_t size,
                            mem::BlockAllocator& blocks) {
  const FieldDecoder decode = DecoderOf(type, false);
  ColumnBuilder scratch(type, blocks);
  int64_t at = kArrayHeader + kDimensionHeader;
  for (int64_t index = 1; size - at >= 4; ++index) {
    const int32_t length = ReadI32(bytes + at);
    at += 4;
    if (length < 0) continue;
    if (decode(scratch, bytes + at, length) == kUnsayable) {
      return fmt::format("element {}, {},", index, DescribeScalar(type, bytes + at, length));
    }
    at += length;
  }
  return fmt::format("an array of {} bytes", size);
}

}  // namespace

std::string DescribeUnsayable(const Type& type, const uint8_t* bytes, int64_t size,
                              mem::BlockAllocator& blocks) {
  const auto as = [](std::string_view what, const Type& wanted) {
    return fmt::format("{} cannot be written as {}", what, wanted.Name());
  };
  if (type.kind != Kind::kList) return as(DescribeScalar(type, bytes, size), type);
  const int32_t dimensions = ReadI32(bytes);
  if (dimensions > 1) return as(fmt::format("an array of {} dimensions", dimensions), type);
  const int32_t lower_bound = ReadI32(bytes + kArrayHeader + 4);
  if (lower_bound != 1) {
    return as(fmt::format("an array that starts at index {}", lower_bound), type);
  }
  return as(DescribeElement(*type.element, bytes, size, blocks), *type.element);
}

}  // namespace weir::pg
