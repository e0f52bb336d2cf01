#include "weir/sys/clock.h"

#include <thread>

namespace weir::sys {
namespace {

using std::chrono::hours;
using std::chrono::milliseconds;

TEST(ManualClock, StandsStillUntilWaitedOn) {
  ManualClock clock;
  const Stop stop;
  EXPECT_EQ(clock.Now(), Duration{0});
  EXPECT_EQ(clock.Wait(milliseconds(1500), stop), milliseconds(1500));
  EXPECT_EQ(clock.Now(), milliseconds(1500));
  EXPECT_EQ(clock.WallMillis(), 1500);
  clock.Advance(milliseconds(-10));  // Never goes back.
  EXPECT_EQ(clock.Now(), milliseconds(1500));
}

TEST(ManualClock, DoesNotWaitOnceStopIsAsked) {
  ManualClock clock;
  Stop stop;
  stop.Ask();
  EXPECT_EQ(clock.Wait(milliseconds(5), stop), Duration{0});
  EXPECT_EQ(clock.Now(), Duration{0});
}

TEST(RealClock, WaitsAtLeastAsLongAsAsked) {
  RealClock clock;
  const Stop stop;
  const Duration before = clock.Now();
  const Duration waited = clock.Wait(milliseconds(3), stop);
  EXPECT_GE(waited, milliseconds(3));
  EXPECT_GE(clock.Now() - before, waited);
  EXPECT_LT(clock.Wait(milliseconds(-3), stop), milliseconds(1000));
}

TEST(RealClock, ShowsTheSameTimeAsSteadyNow) {
  RealClock clock;
  const Duration before = SteadyNow();
  const Duration now = clock.Now();
  EXPECT_LE(before, now);
  EXPECT_LE(now, SteadyNow());
}

TEST(RealClock, AStopEndsTheWait) {
  RealClock clock;
  Stop stop;
  std::thread asker([&stop] { stop.Ask(); });
  EXPECT_LT(clock.Wait(hours(24), stop), hours(1));
  asker.join();
}

TEST(RealClock, WallTimeIsThisMillennium) {
  EXPECT_GT(RealClock().WallMillis(), 1'600'000'000'000);
}

TEST(FormatUtc, IsIso8601WithMilliseconds) {
  EXPECT_EQ(FormatUtc(0), "1970-01-01T00:00:00.000Z");
  EXPECT_EQ(FormatUtc(1'709'210'096'007), "2024-02-29T12:34:56.007Z");
  EXPECT_EQ(FormatUtc(-1), "1969-12-31T23:59:59.999Z");
  EXPECT_EQ(FormatUtc(-1000), "1969-12-31T23:59:59.000Z");
}

TEST(Durations, AsNumbers) {
  EXPECT_EQ(Millis(std::chrono::microseconds(1999)), 1);
  EXPECT_DOUBLE_EQ(Seconds(milliseconds(1500)), 1.5);
}

}  // namespace
}  // namespace weir::sys
