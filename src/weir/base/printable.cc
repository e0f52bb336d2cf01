#include "weir/base/printable.h"

#include <fmt/format.h>

#include <cstdint>

#include "weir/base/utf8.h"

namespace weir {
namespace {

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
