#pragma once
// Records: how rows lie one after another in pages.
#include <cstring>

#include "weir/delta/update.h"
#include "weir/table/row_codec.h"

namespace weir::delta {

/// The first eight bytes of a row as a number that orders like them; zeros after its end.
/// Requires: table::kRowSlack bytes after the row may be read.
inline uint64_t Prefix(const uint8_t* row, int64_t size) {
  uint64_t bytes;
  std::memcpy(&bytes, row, sizeof bytes);
  const uint64_t prefix = __builtin_bswap64(bytes);
  if (size >= 8) [[likely]] return prefix;
  return size == 0 ? 0 : prefix & ~uint64_t{0} << (64 - 8 * size);
}

/// A row in a page: its sizes, then its bytes.
///
/// Shape: two bytes of size and one of key size; where either does not fit, kLong in the first two
///        and four bytes for each.
struct Record {
  static constexpr uint16_t kLong = 0xffff;
  static constexpr int64_t kShortHeader = 3;
  static constexpr int64_t kLongHeader = 10;

  const uint8_t* row;
  int64_t size;
  int32_t key_size;

  static bool IsShort(int64_t size, int32_t key_size) { return size < kLong && key_size < 256; }
  static int64_t TotalBytes(int64_t size, int32_t key_size) {
    return size + (IsShort(size, key_size) ? kShortHeader : kLongHeader);
  }

  /// Requires: room for TotalBytes() and table::kRowSlack more. Returns where the next one goes.
  static uint8_t* Put(uint8_t* to, const uint8_t* row, int64_t size, int32_t key_size) {
    if (IsShort(size, key_size)) [[likely]] {
      const auto small = static_cast<uint16_t>(size);
      std::memcpy(to, &small, 2);
      to[2] = static_cast<uint8_t>(key_size);
      to += kShortHeader;
    } else {
      std::memcpy(to, &kLong, 2);
      const auto large = static_cast<uint32_t>(size);
      std::memcpy(to + 2, &large, 4);
      std::memcpy(to + 6, &key_size, 4);
      to += kLongHeader;
    }
    table::CopyRow(to, row, size);
    return to + size;
  }

  static Record At(const uint8_t* from) {
    uint16_t small;
    std::memcpy(&small, from, 2);
    if (small != kLong) [[likely]] return {from + kShortHeader, small, from[2]};
    Record record{from + kLongHeader, 0, 0};
    uint32_t large;
    std::memcpy(&large, from + 2, 4);
    std::memcpy(&record.key_size, from + 6, 4);
    record.size = large;
    return record;
  }
  const uint8_t* end() const { return row + size; }
  Bytes bytes() const { return {row, static_cast<size_t>(size)}; }
};

}  // namespace weir::delta
