#include "weir/sys/stop.h"

#include <poll.h>

#include <csignal>
#include <cstdlib>
#include <thread>
#include <vector>

namespace weir::sys {
namespace {

bool Readable(int fd) {
  pollfd watched{fd, POLLIN, 0};
  return poll(&watched, 1, 0) == 1;
}

TEST(Stop, IsAskedOnceAndKeepsTheFirstReason) {
  Stop stop;
  EXPECT_FALSE(stop.asked());
  EXPECT_FALSE(Readable(stop.fd()));
  stop.Ask(SIGTERM);
  stop.Ask(SIGINT);
  EXPECT_TRUE(stop.asked());
  EXPECT_EQ(stop.signal(), SIGTERM);
  EXPECT_TRUE(Readable(stop.fd()));
  EXPECT_TRUE(Readable(stop.fd()));  // Stays readable: it may have many watchers.
}

TEST(Stop, WakesEveryoneWhoWaits) {
  Stop stop;
  std::vector<std::thread> waiting;
  for (int at = 0; at < 4; ++at) {
    waiting.emplace_back([&stop] { stop.WaitFor(std::chrono::hours(24)); });
  }
  stop.Ask();
  for (auto& thread : waiting) thread.join();
  EXPECT_EQ(stop.signal(), 0);
}

TEST(Stop, ManyMayAskAtOnce) {
  Stop stop;
  std::vector<std::thread> asking;
  for (int signal : {1, 2, 3, 4}) asking.emplace_back([&stop, signal] { stop.Ask(signal); });
  for (auto& thread : asking) thread.join();
  EXPECT_GE(stop.signal(), 1);
  EXPECT_LE(stop.signal(), 4);
}

TEST(SignalStop, RoutesSignalsWhileItLives) {
  for (int signal : {SIGINT, SIGTERM}) {
    Stop stop;
    const SignalStop routed(stop);
    std::raise(signal);
    EXPECT_TRUE(stop.asked());
    EXPECT_EQ(stop.signal(), signal);
  }
}

class SignalStopDeathTest : public testing::Test {
 protected:
  SignalStopDeathTest() { GTEST_FLAG_SET(death_test_style, "threadsafe"); }
};

TEST_F(SignalStopDeathTest, TheSecondSignalEndsTheProcess) {
  const auto twice = [] {
    Stop stop;
    const SignalStop routed(stop);
    std::raise(SIGTERM);
    std::raise(SIGINT);
    std::exit(0);  // Not reached.
  };
  EXPECT_EXIT(twice(), testing::ExitedWithCode(128 + SIGINT), "");
}

TEST_F(SignalStopDeathTest, AHangUpStopsUnlessItIsIgnored) {
  const auto hang_up = [](auto before) {
    std::signal(SIGHUP, before);
    Stop stop;
    const SignalStop routed(stop);
    std::raise(SIGHUP);
    std::exit(stop.signal());
  };
  EXPECT_EXIT(hang_up(SIG_DFL), testing::ExitedWithCode(SIGHUP), "");
  EXPECT_EXIT(hang_up(SIG_IGN), testing::ExitedWithCode(0), "");
}

TEST_F(SignalStopDeathTest, AfterItSignalsKillAgain) {
  const auto after = [] {
    Stop stop;
    { const SignalStop routed(stop); }
    std::raise(SIGTERM);
    std::exit(0);  // Not reached.
  };
  EXPECT_EXIT(after(), testing::KilledBySignal(SIGTERM), "");
}

TEST_F(SignalStopDeathTest, OnlyOneMayLive) {
  const auto two = [] {
    Stop stop;
    const SignalStop first(stop);
    const SignalStop second(stop);
  };
  EXPECT_DEATH(two(), "broken invariant");
}

}  // namespace
}  // namespace weir::sys
