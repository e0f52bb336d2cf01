#include "weir/sys/accounting.h"

#include <gtest/gtest.h>

#include <condition_variable>
#include <mutex>
#include <thread>

#include "weir/sys/process.h"

namespace weir::sys {
namespace {

// Bounded by the clock it measures.
void Spend(std::chrono::milliseconds time) {
  const Duration end = ThreadCpuTime() + time;
  volatile uint64_t state = 1;
  while (ThreadCpuTime() < end) {
    for (int round = 0; round < 10'000; ++round) state = state * 6364136223846793005u + 1;
  }
}

// Waits for a signal that nobody gives.
void WaitInVain(std::chrono::milliseconds time) {
  std::mutex mutex;
  std::condition_variable never;
  std::unique_lock lock(mutex);
  never.wait_for(lock, time, [] { return false; });
}

Duration Grown(const Accounting& before, auto what) {
  return ReadAccounting().of(what) - before.of(what);
}

TEST(Accounting, AScopeInsideAnotherTakesOver) {
  using std::chrono::milliseconds;
  const Accounting before = ReadAccounting();
  {
    const ActivityScope outer(Activity::kSort);
    Spend(milliseconds(10));
    {
      const ActivityScope inner(Activity::kIo);
      Spend(milliseconds(30));
    }
    Spend(milliseconds(10));
  }
  EXPECT_GE(Grown(before, Activity::kSort), milliseconds(20));
  EXPECT_LT(Grown(before, Activity::kSort), milliseconds(30));
  EXPECT_GE(Grown(before, Activity::kIo), milliseconds(30));
  EXPECT_LT(Grown(before, Activity::kIo), milliseconds(40));
  EXPECT_EQ(Grown(before, Activity::kMerge), Duration(0));
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
  {
    const WaitScope outer(Wait::kSpill);
    const WaitScope inner(Wait::kRead);
    WaitInVain(milliseconds(20));
  }
  EXPECT_GE(Grown(before, Wait::kSpill), milliseconds(19));
  EXPECT_EQ(Grown(before, Wait::kRead), Duration(0));
}

// What a thread waits for outside of all scopes is a fault; what it waits for in one is not.
TEST(Accounting, WhatNothingExplainsIsAFault) {
  using std::chrono::milliseconds;
  const Accounting before = ReadAccounting();
  std::thread([] {
    const ThreadScope thread;
    Spend(milliseconds(10));
    WaitInVain(milliseconds(20));
    const WaitScope waits(Wait::kMeet);
    WaitInVain(milliseconds(200));
  }).join();
  EXPECT_GE(Grown(before, Wait::kFault), milliseconds(15));
  EXPECT_LT(Grown(before, Wait::kFault), milliseconds(150));
  EXPECT_GE(Grown(before, Wait::kMeet), milliseconds(199));
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
