#include "weir/base/fault.h"

#include <csignal>
#include <cstdlib>

namespace weir {
namespace {

// The environment is read once per process, so each case runs in a process of its own.
class FaultDeathTest : public testing::Test {
 protected:
  FaultDeathTest() { GTEST_FLAG_SET(death_test_style, "threadsafe"); }

  // Arrives at two points, three times each, and exits with the failures as a number in base 10:
  // 100 * (failures at copy.done) + 10 * (which arrival failed first) + (failures at copy.begun).
  [[noreturn]] static void ArriveWith(const char* spec) {
    setenv("WEIR_FAULT", spec, 1);
    int failures = 0;
    int first = 0;
    int other_failures = 0;
    for (int arrival = 1; arrival <= 3; ++arrival) {
      if (!FaultPoint("copy.begun").ok()) ++other_failures;
      const Status status = FaultPoint("copy.done");
      if (status.ok()) continue;
      if (status.error().code != Code::kUnavailable) std::abort();
      if (++failures == 1) first = arrival;
    }
    std::exit(100 * failures + 10 * first + other_failures);
  }
};

TEST_F(FaultDeathTest, NothingHappensUnlessArmed) {
  EXPECT_EXIT(ArriveWith(""), testing::ExitedWithCode(0), "");
  EXPECT_EXIT(ArriveWith("copy.elsewhere"), testing::ExitedWithCode(0), "");
}

TEST_F(FaultDeathTest, KillsAtTheFirstArrival) {
  EXPECT_EXIT(ArriveWith("copy.done"), testing::KilledBySignal(SIGKILL), "");
  EXPECT_EXIT(ArriveWith("copy.done=kill"), testing::KilledBySignal(SIGKILL), "");
}

TEST_F(FaultDeathTest, CountsArrivalsAtItsOwnPoint) {
  EXPECT_EXIT(ArriveWith("copy.done:3"), testing::KilledBySignal(SIGKILL), "");
  EXPECT_EXIT(ArriveWith("copy.done:4"), testing::ExitedWithCode(0), "");
}

TEST_F(FaultDeathTest, FailsOnceAtTheArrivalNamed) {
  EXPECT_EXIT(ArriveWith("copy.done=fail"), testing::ExitedWithCode(110), "");
  EXPECT_EXIT(ArriveWith("copy.done:2=fail"), testing::ExitedWithCode(120), "");
}

}  // namespace
}  // namespace weir
