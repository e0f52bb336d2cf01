#pragma once
// Big-endian integers as PostgreSQL's binary formats write them.
#include <cstdint>
#include <cstring>

namespace weir::pg {

inline uint16_t ReadU16(const uint8_t* at) {
  uint16_t value;
  std::memcpy(&value, at, sizeof value);
  return __builtin_bswap16(value);
}
inline uint32_t ReadU32(const uint8_t* at) {
  uint32_t value;
  std::memcpy(&value, at, sizeof value);
  return __builtin_bswap32(value);
}
inline uint64_t ReadU64(const uint8_t* at) {
  uint64_t value;
  std::memcpy(&value, at, sizeof value);
  return __builtin_bswap64(value);
}
inline int16_t ReadI16(const uint8_t* at) { return static_cast<int16_t>(ReadU16(at)); }
inline int32_t ReadI32(const uint8_t* at) { return static_cast<int32_t>(ReadU32(at)); }
inline int64_t ReadI64(const uint8_t* at) { return static_cast<int64_t>(ReadU64(at)); }

}  // namespace weir::pg
