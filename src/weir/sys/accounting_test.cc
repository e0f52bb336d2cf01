#include "weir/sys/accounting.h"

#include <gtest/gtest.h>

#include <thread>

#include "weir/sys/process.h"

namespace weir::sys {
namespace {

// By which the processor's clock and the steady one may differ over one test.
constexpr Duration kClocksApart = std::chrono::milliseconds(1);

// Bounded by the clock it measures.
void Spend(std::chrono::milliseconds time) {
  const Duration end = ThreadCpuTime() + time;
  volatile uint64_t state = 1;
  while (ThreadCpuTime() < end) {
    for (int round = 0; round < 10'000; ++round) state = state * 6364136223846793005u + 1;
  }
}

// Waits until another thread has spent `work`; how long that took it.
Duration WaitForAnother(std::chrono::milliseconds work) {
  Duration took{0};
  std::thread([&] {
    const Duration start = SteadyNow();
    Spend(work);
    took = SteadyNow() - start;
  }).join();
  return took;
}

Duration Grown(const Accounting& before, auto what) {
  return ReadAccounting().of(what) - before.of(what);
}

TEST(Accounting, AScopeInsideAnotherTakesOver) {
  using std::chrono::milliseconds;
  const Accounting before = ReadAccounting();
  const Duration start = ThreadCpuTime();
  Duration outside{0};
  {
    const ActivityScope outer(Activity::kSort);
    Spend(milliseconds(10));
    outside = ThreadCpuTime();
    {
      const ActivityScope inner(Activity::kIo);
      Spend(milliseconds(30));
    }
    outside = ThreadCpuTime() - outside;
    Spend(milliseconds(10));
  }
  const Duration all = ThreadCpuTime() - start;
  EXPECT_GE(Grown(before, Activity::kSort), milliseconds(20));
  EXPECT_GE(Grown(before, Activity::kIo), milliseconds(30));
  EXPECT_LE(Grown(before, Activity::kIo), outside);
  EXPECT_LE(Grown(before, Activity::kSort) + Grown(before, Activity::kIo), all);
  EXPECT_EQ(Grown(before, Activity::kMerge), Duration(0));
}

// Nothing is lost: neither before a thread's first scope, nor what the reader did since its last.
TEST(Accounting, WhatNoScopeNamesIsOther) {
  using std::chrono::milliseconds;
  const Accounting before = ReadAccounting();
  Accounting after;
  Duration all{0};
  std::thread([&] {
    Spend(milliseconds(10));
    { const ActivityScope scope(Activity::kCopy); }
    Spend(milliseconds(10));
    after = ReadAccounting();
    all = ThreadCpuTime();
  }).join();
  const Duration other = after.of(Activity::kOther) - before.of(Activity::kOther);
  EXPECT_GE(other, milliseconds(20));
  EXPECT_LE(other, all);
}

TEST(Accounting, ThreadsAddUp) {
  const Accounting before = ReadAccounting();
  const auto work = [] {
    const ActivityScope scope(Activity::kMerge);
    Spend(std::chrono::milliseconds(10));
  };
  std::thread first(work);
  std::thread second(work);
  first.join();
  second.join();
  EXPECT_GE(Grown(before, Activity::kMerge), std::chrono::milliseconds(20));
}

// Time on the processor is no wait, and the outer of two waits counts.
TEST(Accounting, WaitsAreTimeOffTheProcessor) {
  using std::chrono::milliseconds;
  const Accounting before = ReadAccounting();
  const Duration start = SteadyNow();
  const Duration cpu_start = ThreadCpuTime();
  Duration least{0};
  {
    const WaitScope outer(Wait::kSpill);
    const WaitScope inner(Wait::kRead);
    Spend(milliseconds(10));
    least = WaitForAnother(milliseconds(20));
  }
  const Duration cpu = ThreadCpuTime() - cpu_start;
  const Duration all = SteadyNow() - start;
  EXPECT_GE(Grown(before, Wait::kSpill), least - (cpu - milliseconds(10)) - kClocksApart);
  EXPECT_LE(Grown(before, Wait::kSpill), all - milliseconds(10) + kClocksApart);
  EXPECT_EQ(Grown(before, Wait::kRead), Duration(0));
}

// What a thread waits for outside of all scopes is a fault; what it waits for in one is not.
TEST(Accounting, WhatNothingExplainsIsAFault) {
  using std::chrono::milliseconds;
  const Accounting before = ReadAccounting();
  Duration unexplained{0};  // At least.
  Duration twice{0};        // In line while it waits: the wait's time too.
  Duration all{0};
  std::thread([&] {
    const Duration start = SteadyNow();
    {
      const ThreadScope thread;
      Spend(milliseconds(10));
      const Duration known = ThreadCpuTime() + ThreadTimeInLine();
      unexplained = WaitForAnother(milliseconds(20));
      unexplained -= ThreadCpuTime() + ThreadTimeInLine() - known;
      const Duration in_line = ThreadTimeInLine();
      const WaitScope waits(Wait::kMeet);
      WaitForAnother(milliseconds(40));
      twice = ThreadTimeInLine() - in_line;
    }
    all = SteadyNow() - start;
  }).join();
  const Duration meeting = Grown(before, Wait::kMeet);
  EXPECT_GT(meeting, Duration(0));
  EXPECT_GE(Grown(before, Wait::kFault), unexplained - twice - kClocksApart);
  EXPECT_LE(Grown(before, Wait::kFault), all - meeting - milliseconds(10) + kClocksApart);
}

TEST(Accounting, EveryKindHasAName) {
  for (size_t at = 0; at < kActivityCount; ++at) {
    EXPECT_FALSE(ActivityName(static_cast<Activity>(at)).empty());
  }
  for (size_t at = 0; at < kWaitCount; ++at) {
    EXPECT_FALSE(WaitName(static_cast<Wait>(at)).empty());
  }
}

}  // namespace
}  // namespace weir::sys
