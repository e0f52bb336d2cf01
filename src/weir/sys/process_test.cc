#include "weir/sys/process.h"

#include <sys/mman.h>
#include <sys/resource.h>

#include <cstring>

#include "weir/base/assert.h"

namespace weir::sys {
namespace {

// Pages straight from the kernel, touched: no allocator keeps them when it goes.
class TouchedPages {
 public:
  explicit TouchedPages(int64_t bytes)
      : bytes_(static_cast<size_t>(bytes)),
        start_(mmap(nullptr, bytes_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0)) {
    WEIR_ASSERT(start_ != MAP_FAILED);
    std::memset(start_, 1, bytes_);
  }
  ~TouchedPages() { munmap(start_, bytes_); }
  TouchedPages(const TouchedPages&) = delete;
  TouchedPages& operator=(const TouchedPages&) = delete;

 private:
  const size_t bytes_;
  void* const start_;
};

// The kernel counts pages per processor and adds them up now and then: a few may be missing.
constexpr int64_t kSlackBytes = 2 << 20;

TEST(Process, MemoryShowsWhileItIsHeldAndInThePeakAfter) {
  constexpr int64_t kBytes = 64 << 20;
  const ProcessUsage before = ReadProcessUsage();
  EXPECT_GT(before.rss_bytes, 0);
  ProcessUsage held;
  {
    const TouchedPages pages(kBytes);
    held = ReadProcessUsage();
  }
  const ProcessUsage after = ReadProcessUsage();
  EXPECT_GE(held.rss_bytes, before.rss_bytes + kBytes - kSlackBytes);
  EXPECT_GE(held.anonymous_bytes, before.anonymous_bytes + kBytes - kSlackBytes);
  EXPECT_LE(after.rss_bytes, held.rss_bytes - kBytes + kSlackBytes);
  EXPECT_GE(after.peak_rss_bytes, held.rss_bytes - kSlackBytes);
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

TEST(RaiseDescriptorLimit, GrantsAllThatMayBeHad) {
  rlimit limit{};
  ASSERT_EQ(getrlimit(RLIMIT_NOFILE, &limit), 0);
  const rlimit low{64, limit.rlim_max};
  ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &low), 0);
  EXPECT_EQ(RaiseDescriptorLimit(), static_cast<int64_t>(limit.rlim_max));
  rlimit now{};
  ASSERT_EQ(getrlimit(RLIMIT_NOFILE, &now), 0);
  EXPECT_EQ(now.rlim_cur, limit.rlim_max);
  ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &limit), 0);
}

}  // namespace
}  // namespace weir::sys
