#include "weir/base/printable.h"

namespace weir {
namespace {

TEST(Printable, WhatIsNoTextIsSpelledOut) {
  using namespace std::string_literals;
  const std::vector<std::pair<std::string, std::string>> texts = {
      {"", ""},
      {"plain, \"quoted\" \\ and ü€🦆", "plain, \"quoted\" \\ and ü€🦆"},
      {"a\x01\x1b[31mb", "a\\x01\\x1b[31mb"},
      {"two\nlines\r\tand\x7f", "two\\x0alines\\x0d\\x09and\\x7f"},
      {"\0"s, "\\x00"},
      {"\xc2\x9b""31m", "\\xc2\\x9b31m"},      // C1's own escape.
      {"\xc2\xa0", "\xc2\xa0"},                // A blank, not a control.
      {"a\xff" "b\xc3", "a\\xffb\\xc3"},       // No character; half of one.
      {"\xc0\xaf", "\\xc0\\xaf"},              // Overlong.
      {"\xe0\x80\xaf", "\\xe0\\x80\\xaf"},
      {"\xed\xa0\x80", "\\xed\\xa0\\x80"},     // A surrogate.
      {"\xf4\x90\x80\x80", "\\xf4\\x90\\x80\\x80"},
      {"\xe2\x82", "\\xe2\\x82"},
  };
  for (const auto& [text, printed] : texts) EXPECT_EQ(Printable(text), printed);
}

}  // namespace
}  // namespace weir
