#pragma once
// How single values stand in encoded rows: the one place that knows their bytes.
#include <bit>
#include <cstring>

#include "weir/table/column.h"

namespace weir::table {

/// How one column is written; docs/formats/rows.md has the bytes.
enum class RowForm : uint8_t {
  kByte,
  kInt16,
  kInt32,
  kInt64,
  kInt128,
  kFloat32,
  kFloat64,
  kUuid,
  kKeyText,  ///< Escaped, a zero byte at its end.
  kText,     ///< Its length first.
  kKeyList,
  kList,
};

RowForm FormOf(const Type& type, bool in_key);

inline constexpr uint8_t kNullTag = 0xff;     ///< Above the first byte of every other value.
inline constexpr uint8_t kPresentTag = 0x01;  ///< Before values whose first byte may be any.

/// Whether a nullable column of this form needs kPresentTag.
inline bool IsTagged(RowForm form) {
  return form == RowForm::kFloat32 || form == RowForm::kFloat64 || form == RowForm::kUuid ||
         form == RowForm::kKeyText || form == RowForm::kKeyList || form == RowForm::kList;
}

using Int128 = __int128;
using UInt128 = unsigned __int128;

inline void StoreBigEndian(uint8_t* to, uint64_t value) {
  value = __builtin_bswap64(value);
  std::memcpy(to, &value, sizeof value);
}
inline uint64_t LoadBigEndian(const uint8_t* from) {
  uint64_t value;
  std::memcpy(&value, from, sizeof value);
  return __builtin_bswap64(value);
}

// Integers: a tag that tells sign and number of bytes, then that many, the highest first.
inline constexpr int kZeroTag = 0x80;

inline uint8_t* PutInt(int64_t value, uint8_t* to) {
  const bool negative = value < 0;
  const int size = (71 - std::countl_zero(static_cast<uint64_t>(negative ? ~value : value))) / 8;
  *to = static_cast<uint8_t>(negative ? kZeroTag - 1 - size : kZeroTag + size);
  StoreBigEndian(to + 1, static_cast<uint64_t>(value) << ((64 - 8 * size) & 63));
  return to + 1 + size;
}

inline int IntBytes(uint8_t tag) { return tag >= kZeroTag ? tag - kZeroTag : kZeroTag - 1 - tag; }

/// Requires: at most 8 bytes follow the tag.
inline const uint8_t* TakeInt(const uint8_t* from, int64_t& value) {
  const uint8_t tag = *from;
  const int size = IntBytes(tag);
  const uint64_t fill = tag < kZeroTag ? ~uint64_t{0} : 0;
  const uint64_t low = size == 0 ? 0 : LoadBigEndian(from + 1) >> (64 - 8 * size);
  value = static_cast<int64_t>(size == 8 ? low : low | fill << (8 * size));
  return from + 1 + size;
}

inline uint8_t* PutInt128(Int128 value, uint8_t* to) {
  const auto low = static_cast<int64_t>(value);
  if (low == value) [[likely]] return PutInt(low, to);
  const bool negative = value < 0;
  const auto high = static_cast<int64_t>(value >> 64);
  const int high_size = (71 - std::countl_zero(static_cast<uint64_t>(negative ? ~high : high))) / 8;
  // 2^63 and its like need no byte of the high word, and still a ninth to tell them from eight.
  const int size = 8 + std::max(high_size, 1);
  *to = static_cast<uint8_t>(negative ? kZeroTag - 1 - size : kZeroTag + size);
  for (int at = 0; at < size; ++at) {
    to[1 + at] = static_cast<uint8_t>(static_cast<UInt128>(value) >> (8 * (size - 1 - at)));
  }
  return to + 1 + size;
}

inline const uint8_t* TakeInt128(const uint8_t* from, Int128& value) {
  const uint8_t tag = *from;
  const int size = IntBytes(tag);
  if (size <= 8) [[likely]] {
    int64_t narrow;
    from = TakeInt(from, narrow);
    value = narrow;
    return from;
  }
  UInt128 bits = tag < kZeroTag ? ~UInt128{0} : 0;
  for (int at = 0; at < size; ++at) bits = bits << 8 | from[1 + at];
  value = static_cast<Int128>(bits);
  return from + 1 + size;
}

// Floats: the bits of IEEE 754 with the sign flipped, and all others too below zero.
template <typename Bits>
Bits OrderedBits(Bits bits) {
  constexpr Bits kSign = Bits{1} << (sizeof(Bits) * 8 - 1);
  return (bits & kSign) != 0 ? ~bits : bits | kSign;
}
template <typename Bits>
Bits FromOrderedBits(Bits ordered) {
  constexpr Bits kSign = Bits{1} << (sizeof(Bits) * 8 - 1);
  return (ordered & kSign) != 0 ? ordered & ~kSign : ~ordered;
}

// Lengths of texts in values: one byte below kLongLength, else the number of bytes, then those.
inline constexpr uint8_t kLongLength = 0xf0;

inline uint8_t* PutLength(uint32_t length, uint8_t* to) {
  if (length < kLongLength) [[likely]] {
    *to = static_cast<uint8_t>(length);
    return to + 1;
  }
  const int size = (39 - std::countl_zero(length)) / 8;
  *to = static_cast<uint8_t>(kLongLength + size - 1);
  StoreBigEndian(to + 1, static_cast<uint64_t>(length) << (64 - 8 * size));
  return to + 1 + size;
}

inline const uint8_t* TakeLength(const uint8_t* from, uint32_t& length) {
  if (*from < kLongLength) [[likely]] {
    length = *from;
    return from + 1;
  }
  const int size = *from - kLongLength + 1;
  length = static_cast<uint32_t>(LoadBigEndian(from + 1) >> (64 - 8 * size));
  return from + 1 + size;
}

/// Writes a value to each of `ends`, of rows from `first` on, and moves it behind. kRowSlack bytes
/// after each value are overwritten.
void PutValues(RowForm form, bool nullable, const ColumnData& data, int64_t first,
               std::span<uint8_t*> ends);
/// Reads a value from each of `rows` into a builder, and moves it to where the next one starts.
void TakeValues(RowForm form, bool nullable, std::span<const uint8_t*> rows,
                ColumnBuilder& builder);
/// Adds to each of `bytes` what a value of rows from `first` on takes at most, kRowSlack apart.
void AddMostBytes(RowForm form, const ColumnData& data, int64_t first, std::span<int64_t> bytes);
/// No value of this form takes more; 0 where there is no bound.
int64_t MostFormBytes(RowForm form);

}  // namespace weir::table
