#pragma once
// Utf8: where one character of a text ends and the next begins.
#include <cstddef>
#include <string_view>

namespace weir {

/// Bytes of the UTF-8 character that `text` begins with; 0 when it begins with none. Overlong forms
/// and surrogates are none.
/// Requires: `text` is not empty.
size_t CharacterBytes(std::string_view text);

/// False for a byte that goes on with a character of UTF-8 text.
inline bool BeginsCharacter(char byte) { return (static_cast<unsigned char>(byte) & 0xC0) != 0x80; }

/// The front of a UTF-8 text, whole characters of at most `max_bytes` bytes in all.
std::string_view Clipped(std::string_view text, size_t max_bytes);

}  // namespace weir
