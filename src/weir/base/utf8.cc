#include "weir/base/utf8.h"

#include <cstdint>

namespace weir {

size_t CharacterBytes(std::string_view text) {
  const auto lead = static_cast<uint8_t>(text[0]);
  if (lead < 0x80) return 1;
  const size_t bytes = lead >= 0xF0 ? 4 : lead >= 0xE0 ? 3 : 2;
  if (lead < 0xC2 || lead > 0xF4 || text.size() < bytes) return 0;
  uint32_t point = lead & (0x7FU >> bytes);
  for (size_t at = 1; at < bytes; ++at) {
    const auto next = static_cast<uint8_t>(text[at]);
    if ((next & 0xC0) != 0x80) return 0;
    point = point << 6 | (next & 0x3F);
  }
  constexpr uint32_t kLeast[] = {0, 0, 0x80, 0x800, 0x10000};
  const bool surrogate = point >= 0xD800 && point <= 0xDFFF;
  return point < kLeast[bytes] || point > 0x10FFFF || surrogate ? 0 : bytes;
}

std::string_view Clipped(std::string_view text, size_t max_bytes) {
  if (text.size() <= max_bytes) return text;
  size_t end = max_bytes;
  while (end > 0 && !BeginsCharacter(text[end])) --end;
  return text.substr(0, end);
}

}  // namespace weir
