#include "weir/mem/budget.h"

#include <thread>
#include <vector>

namespace weir::mem {
namespace {

TEST(Budget, ChargesParentsAndRefusesWhole) {
  Budget process("process", 100);
  Budget pool("pool", 80, &process);
  ASSERT_TRUE(pool.TryCharge(60).ok());
  EXPECT_EQ(process.used_bytes(), 60);

  const auto over_child = pool.TryCharge(30);
  ASSERT_FALSE(over_child.ok());
  EXPECT_EQ(over_child.error().code, Code::kExhausted);
  EXPECT_NE(over_child.error().message.find("'pool'"), std::string::npos);

  ASSERT_TRUE(process.TryCharge(30).ok());
  const auto over_parent = pool.TryCharge(15);  // The child has room for it, the parent does not.
  ASSERT_FALSE(over_parent.ok());
  EXPECT_NE(over_parent.error().message.find("'process'"), std::string::npos);
  EXPECT_EQ(pool.used_bytes(), 60);
  EXPECT_EQ(process.used_bytes(), 90);

  pool.Release(60);
  process.Release(30);
  EXPECT_EQ(pool.peak_bytes(), 60);  // What the parent refused was never held.
}

TEST(Budget, ForceAndLoweredLimitsMayExceed) {
  Budget budget("process", 10);
  budget.ForceCharge(25);
  EXPECT_EQ(budget.used_bytes(), 25);
  EXPECT_FALSE(budget.TryCharge(1).ok());
  budget.SetLimit(30);
  EXPECT_TRUE(budget.TryCharge(5).ok());
  budget.Release(30);
}

TEST(Budget, ChargeReleasesWhenDropped) {
  Budget budget("process", 10);
  {
    auto charge = Charge::Take(budget, 7);
    ASSERT_TRUE(charge.ok());
    Charge moved = std::move(charge).value();
    EXPECT_EQ(budget.used_bytes(), 7);
    EXPECT_EQ(moved.bytes(), 7);
  }
  EXPECT_EQ(budget.used_bytes(), 0);
}

TEST(Budget, NeverExceedsItsLimitUnderThreads) {
  Budget budget("process", 1000);
  std::vector<std::thread> threads;
  for (int worker = 0; worker < 4; ++worker) {
    threads.emplace_back([&budget] {
      for (int round = 0; round < 20000; ++round) {
        if (budget.TryCharge(300).ok()) budget.Release(300);
      }
    });
  }
  for (auto& thread : threads) thread.join();
  EXPECT_EQ(budget.used_bytes(), 0);
  EXPECT_LE(budget.peak_bytes(), 1000);
}

TEST(BudgetDeathTest, ReleasingMoreThanHeldAborts) {
  Budget budget("process", 10);
  EXPECT_DEATH(budget.Release(1), "broken invariant");
}

}  // namespace
}  // namespace weir::mem
