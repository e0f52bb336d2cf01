#pragma once
// TextFits: what a text should begin with, hold, lack and end with, in one check.
#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <vector>

namespace weir::test {

struct TextWant {
  std::string starts = {};
  std::vector<std::string> has = {};
  std::vector<std::string> lacks = {};
  std::string ends = {};
};

/// EXPECT_TRUE(TextFits(text, {.starts = "a", .ends = "z"})) prints what is wrong, and the text.
inline testing::AssertionResult TextFits(std::string_view text, const TextWant& want) {
  const std::string_view shown = text.substr(0, 1000);
  if (!text.starts_with(want.starts)) {
    return testing::AssertionFailure() << "does not begin with '" << want.starts << "': " << shown;
  }
  if (!text.ends_with(want.ends)) {
    return testing::AssertionFailure() << "does not end with '" << want.ends << "': " << shown;
  }
  for (const std::string& part : want.has) {
    if (text.find(part) == std::string_view::npos) {
      return testing::AssertionFailure() << "does not hold '" << part << "': " << shown;
    }
  }
  for (const std::string& part : want.lacks) {
    if (text.find(part) != std::string_view::npos) {
      return testing::AssertionFailure() << "holds '" << part << "': " << shown;
    }
  }
  return testing::AssertionSuccess();
}

}  // namespace weir::test
