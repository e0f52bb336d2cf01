#include "weir/config/variables.h"

namespace weir::config {
namespace {

std::optional<std::string> TestEnv(const std::string& name) {
  if (name == "DAY") return "monday";
  if (name == "HOST") return "db";
  return std::nullopt;
}

TEST(Params, AreWordsWithAnEqualsSign) {
  const auto params = ParseParams({"day=2026-11-30", "_a1=", "where=a = b", "DAY=${HOST}"});
  ASSERT_TRUE(params.ok()) << params.error().message;
  EXPECT_EQ(params.value(),
            (Params{{"day", "2026-11-30"}, {"_a1", ""}, {"where", "a = b"}, {"DAY", "${HOST}"}}));
  EXPECT_TRUE(ParseParams({}).value().empty());
}

TEST(Params, WrongOnesAreRefusedAndTheirValuesNotRepeated) {
  const std::pair<std::vector<std::string>, const char*> table[] = {
      {{"s3cret"}, "-p takes NAME=VALUE, and what it was given has no '='"},
      {{""}, "-p takes NAME=VALUE, and what it was given has no '='"},
      {{"=s3cret"},
       "-p takes NAME=VALUE, and nothing is no name: it takes letters, digits and '_', and begins "
       "with no digit"},
      {{"1st=s3cret"},
       "-p takes NAME=VALUE, and '1st' is no name: it takes letters, digits and '_', and begins "
       "with no digit"},
      {{"a-b=s3cret"},
       "-p takes NAME=VALUE, and 'a-b' is no name: it takes letters, digits and '_', and begins "
       "with no digit"},
      {{"postgresql://u:s3cret@h/d?x=1"},
       "-p takes NAME=VALUE, and a text of 27 bytes is no name: it takes letters, digits and '_', "
       "and begins with no digit"},
      {{"a=s3cret", "b=1", "a=s3cret"}, "-p gives 'a' twice; keep one"},
  };
  for (const auto& [words, message] : table) {
    const auto params = ParseParams(words);
    ASSERT_FALSE(params.ok()) << words[0];
    EXPECT_EQ(params.error().code, Code::kUsage);
    EXPECT_EQ(params.error().message, message);
  }
}

TEST(Variables, ParametersComeBeforeTheEnvironment) {
  const GetEnv variables = WithParams({{"DAY", "friday"}, {"empty", ""}}, TestEnv);
  EXPECT_EQ(ExpandVariables("${DAY} at ${HOST}${empty}, $${DAY}, $5", variables).value(),
            "friday at db, ${DAY}, $5");
  EXPECT_EQ(ExpandVariables("${DAY}", TestEnv).value(), "monday");
  // What a parameter holds is not looked through again.
  EXPECT_EQ(ExpandVariables("${a}", WithParams({{"a", "${HOST}"}}, TestEnv)).value(), "${HOST}");
}

TEST(Variables, UnknownAndUnfinishedNamesAreRefused) {
  const GetEnv variables = WithParams({{"day", "1"}}, TestEnv);
  EXPECT_EQ(ExpandVariables("x ${Day}", variables).error().message,
            "'Day' is neither a parameter nor an environment variable; give -p Day=VALUE or set "
            "it, or write $${Day} for the characters themselves");
  for (const char* text : {"${", "${}", "${day", "${1}", "${day }"}) {
    EXPECT_EQ(ExpandVariables(text, variables).error().message,
              "'${' must be followed by a variable's name and '}'; write $${ for the characters "
              "themselves")
        << text;
  }
}

}  // namespace
}  // namespace weir::config
