#include "weir/sys/process.h"

#include <cstring>
#include <memory>

namespace weir::sys {
namespace {

TEST(Process, TouchedMemoryShows) {
  constexpr int64_t kBytes = 32 << 20;
  const ProcessUsage before = ReadProcessUsage();
  EXPECT_GT(before.rss_bytes, 0);
  EXPECT_GE(before.peak_rss_bytes, before.rss_bytes);

  auto block = std::make_unique_for_overwrite<char[]>(kBytes);
  std::memset(block.get(), 1, kBytes);
  const ProcessUsage held = ReadProcessUsage();
  // A little less than all of it: other pages may have gone meanwhile.
  EXPECT_GE(held.rss_bytes - before.rss_bytes, kBytes * 9 / 10);
  EXPECT_GE(held.anonymous_bytes - before.anonymous_bytes, kBytes * 9 / 10);
  EXPECT_EQ(block[kBytes - 1], 1);
}

TEST(Process, PeakStaysWhenMemoryGoes) {
  constexpr int64_t kBytes = 64 << 20;
  auto block = std::make_unique_for_overwrite<char[]>(kBytes);
  std::memset(block.get(), 1, kBytes);
  const int64_t held = ReadProcessUsage().rss_bytes;
  block.reset();
  const ProcessUsage after = ReadProcessUsage();
  EXPECT_LT(after.rss_bytes, held - kBytes / 2);
  // The kernel counts pages per processor and adds them up now and then: a few may be missing.
  EXPECT_GE(after.peak_rss_bytes, held - (1 << 20));
}

TEST(Process, ProcessorTimeGrowsWithWork) {
  const ProcessUsage before = ReadProcessUsage();
  volatile uint64_t state = 1;
  // Bounded by the clock it measures: it ends when 20 ms of processor time are spent.
  while (ReadProcessUsage().user_micros + ReadProcessUsage().system_micros <
         before.user_micros + before.system_micros + 20'000) {
    for (int round = 0; round < 100'000; ++round) state = state * 6364136223846793005u + 1;
  }
  EXPECT_GE(ReadProcessUsage().user_micros, before.user_micros);
  EXPECT_GE(ReadProcessUsage().major_faults, before.major_faults);
}

}  // namespace
}  // namespace weir::sys
