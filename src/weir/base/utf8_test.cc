#include "weir/base/utf8.h"

#include <utility>

namespace weir {
namespace {

TEST(Utf8, OneCharacterIsTakenFromTheFront) {
  const std::pair<std::string_view, size_t> table[] = {
      {"a", 1},    {"\xc3\xbcx", 2},     {"\xe2\x82\xac", 3},  {"\xf0\x9f\xa6\x86!", 4},
      {"\x80", 0}, {"\xc3", 0},          {"\xc3x", 0},         {"\xc0\xaf", 0},
      {"\xff", 0}, {"\xe0\x80\xaf", 0},  {"\xed\xa0\x80", 0},  {"\xf4\x90\x80\x80", 0},
  };
  for (const auto& [text, bytes] : table) EXPECT_EQ(CharacterBytes(text), bytes) << text;
}

TEST(Utf8, ClippedTextEndsWithACharacter) {
  constexpr std::string_view kText = "a\xc3\xbc\xe2\x82\xac";
  const size_t want[] = {0, 1, 1, 3, 3, 3, 6, 6};
  for (size_t max = 0; max < std::size(want); ++max) {
    EXPECT_EQ(Clipped(kText, max), kText.substr(0, want[max])) << max;
  }
}

}  // namespace
}  // namespace weir
