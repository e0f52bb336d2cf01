#include "weir/base/printable.h"

#include <fmt/format.h>

#include <cstdint>

namespace weir {
namespace {

// Bytes of the UTF-8 character that `text` begins with; 0 when it begins with none.
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

// C0, DEL, and C1, which some terminals obey as well.
bool IsControl(std::string_view character) {
  const auto lead = static_cast<uint8_t>(character[0]);
  if (character.size() == 1) return lead < 0x20 || lead == 0x7F;
  return lead == 0xC2 && static_cast<uint8_t>(character[1]) < 0xA0;
}

}  // namespace

std::string Printable(std::string_view text) {
  std::string out;
  while (!text.empty()) {
    const size_t bytes = CharacterBytes(text);
    const std::string_view character = text.substr(0, bytes == 0 ? 1 : bytes);
    if (bytes != 0 && !IsControl(character)) {
      out += character;
    } else {
      for (const char c : character) out += fmt::format("\\x{:02x}", static_cast<uint8_t>(c));
    }
    text.remove_prefix(character.size());
  }
  return out;
}

}  // namespace weir
