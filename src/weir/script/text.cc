#include "weir/script/text_internal.h"

#include <cstdint>
#include <cstring>

#include "weir/base/utf8.h"

namespace weir::script {
namespace {

// Bytes at the front that are ASCII, eight at a time.
size_t AsciiBytes(std::string_view text) {
  size_t at = 0;
  uint64_t eight = 0;
  while (at + sizeof eight <= text.size()) {
    std::memcpy(&eight, text.data() + at, sizeof eight);
    if ((eight & 0x8080808080808080U) != 0) break;
    at += sizeof eight;
  }
  while (at < text.size() && static_cast<uint8_t>(text[at]) < 0x80) ++at;
  return at;
}

// Bytes at the front that are UTF-8.
size_t GoodBytes(std::string_view text) {
  size_t at = 0;
  while (true) {
    at += AsciiBytes(text.substr(at));
    if (at == text.size()) return at;
    const size_t bytes = CharacterBytes(text.substr(at));
    if (bytes == 0) return at;
    at += bytes;
  }
}

bool IsSurrogate(std::string_view text) {
  return text.size() >= 3 && text[0] == '\xED' && static_cast<uint8_t>(text[1]) >= 0xA0 &&
         !BeginsCharacter(text[1]) && !BeginsCharacter(text[2]);
}

}  // namespace

bool IsUtf8(std::string_view text) { return GoodBytes(text) == text.size(); }

std::string AsUtf8(std::string_view text) {
  std::string good;
  good.reserve(text.size());
  while (true) {
    const size_t bytes = GoodBytes(text);
    good.append(text.substr(0, bytes));
    text.remove_prefix(bytes);
    if (text.empty()) return good;
    good += "\xEF\xBF\xBD";
    text.remove_prefix(IsSurrogate(text) ? 3 : 1);
  }
}

}  // namespace weir::script
