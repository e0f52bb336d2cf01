#include "weir/base/result.h"

#include "weir/base/units.h"

namespace weir {
namespace {

Result<int> Half(int number) {
  if (number % 2 != 0) return Fail(Code::kInvalid, "{} is odd", number);
  return number / 2;
}

Result<int> Quarter(int number) {
  WEIR_TRY(const int half, Half(number), "quarter of {}", number);
  WEIR_TRY(const int quarter, Half(half), "quarter of {}", number);
  return quarter;
}

TEST(Result, CarriesTheTrailOutermostFirst) {
  ASSERT_TRUE(Quarter(8).ok());
  EXPECT_EQ(Quarter(8).value(), 2);
  const auto failed = Quarter(6);
  ASSERT_FALSE(failed.ok());
  EXPECT_EQ(failed.error().message, "quarter of 6: 3 is odd");
  EXPECT_EQ(failed.error().code, Code::kInvalid);
}

TEST(Result, DoPassesErrorsUpAndWordsAreOptional) {
  const auto run = [](Status inner) -> Status {
    WEIR_DO(std::move(inner));
    return Ok();
  };
  EXPECT_TRUE(run(Ok()).ok());
  EXPECT_EQ(run(Fail(Code::kNotFound, "gone")).error().message, "gone");
}

TEST(ResultDeathTest, ValueOfAFailureAborts) {
  EXPECT_DEATH((void)Half(3).value(), "3 is odd");
}

TEST(Error, ExitCodesAreTheDocumentedOnes) {
  EXPECT_EQ(ExitCode(Code::kInvalid), 1);
  EXPECT_EQ(ExitCode(Code::kNotFound), 1);
  EXPECT_EQ(ExitCode(Code::kExhausted), 2);
  EXPECT_EQ(ExitCode(Code::kUnavailable), 2);
  EXPECT_EQ(ExitCode(Code::kCorrupt), 3);
  EXPECT_EQ(ExitCode(Code::kDrift), 4);
  EXPECT_EQ(ExitCode(Code::kUsage), 64);
  EXPECT_EQ(ExitCode(Code::kCancelled), 130);
}

TEST(Units, SizesReadAsPeopleWriteThem) {
  EXPECT_EQ(ParseByteSize("512").value(), 512);
  EXPECT_EQ(ParseByteSize("64KB").value(), 64 * kKiB);
  EXPECT_EQ(ParseByteSize("1.5 GiB").value(), 3 * kGiB / 2);
  for (const char* bad : {"", "MB", "12 parsecs", "-1MB", "nan", "1e30GB"}) {
    EXPECT_FALSE(ParseByteSize(bad).ok()) << bad;
  }
}

TEST(Units, FormatsForPeople) {
  EXPECT_EQ(FormatBytes(1536), "1.5 KiB");
  EXPECT_EQ(FormatBytes(12), "12 B");
  EXPECT_EQ(FormatCount(1928176), "1,928,176");
  EXPECT_EQ(FormatCount(-12345), "-12,345");
  EXPECT_EQ(FormatCount(999), "999");
  EXPECT_EQ(FormatDuration(std::chrono::milliseconds(61234)), "1 min 1 s");
  EXPECT_EQ(FormatDuration(std::chrono::milliseconds(4210)), "4.2 s");
}

}  // namespace
}  // namespace weir
