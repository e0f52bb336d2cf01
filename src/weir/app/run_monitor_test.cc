#include "weir/app/run_monitor.h"

#include "tests/support/folder.h"

namespace weir::app {
namespace {

// Whoever waits goes on when it is stopped.
class EndlessClock final : public sys::Clock {
 public:
  sys::Duration Now() override { return sys::Duration{0}; }
  int64_t WallMillis() override { return 0; }
  sys::Duration Wait(sys::Duration duration, const sys::Stop& stop) override {
    return real_.Wait(std::max<sys::Duration>(duration, std::chrono::hours(1)), stop);
  }

 private:
  sys::RealClock real_;
};

// The thread looks once, at the start or later; what comes after that is seen by who asks.
TEST(RunMonitor, TheMomentOfAskingIsAmongThoseLookedAt) {
  constexpr size_t kBytes = 64 << 20;
  const test::TempFolder folder;
  EndlessClock clock;
  hydrate::EngineOptions options;
  options.spill_folder = folder.path();
  const auto engine = hydrate::Engine::Make(options, clock).value();
  RunMonitor monitor(*engine, clock);
  const RunFigures before = monitor.figures();
  EXPECT_GT(before.peak_anonymous_bytes, 0);
  EXPECT_GT(before.ledger_gap_bytes, 0);
  {
    const std::vector<char> held(kBytes, 1);
    EXPECT_GE(monitor.figures().peak_anonymous_bytes,
              sys::ReadProcessUsage().anonymous_bytes - static_cast<int64_t>(kBytes) / 2);
    EXPECT_GT(monitor.figures().ledger_gap_bytes, static_cast<int64_t>(kBytes) / 2);
    EXPECT_EQ(held.back(), 1);
  }
  EXPECT_GT(monitor.figures().peak_anonymous_bytes, static_cast<int64_t>(kBytes));
}

}  // namespace
}  // namespace weir::app
