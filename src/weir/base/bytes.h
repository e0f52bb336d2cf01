#pragma once
// Bytes: a view of memory the caller owns.
#include <cstdint>
#include <span>
#include <string_view>

namespace weir {

using Bytes = std::span<const uint8_t>;

inline Bytes AsBytes(std::string_view text) {
  return {reinterpret_cast<const uint8_t*>(text.data()), text.size()};
}
inline std::string_view AsText(Bytes bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

}  // namespace weir
