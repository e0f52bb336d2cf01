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
    Charge joined;
    joined.Join(std::move(moved));
    joined.Join(Charge::Take(budget, 2).value());
    joined.Join(Charge());
    EXPECT_EQ(joined.bytes(), 9);
    EXPECT_EQ(budget.used_bytes(), 9);
  }
  EXPECT_EQ(budget.used_bytes(), 0);
}

// Gives back what it holds, of which a thief takes the first bytes.
class RobbedReclaimer final : public Reclaimer {
 public:
  RobbedReclaimer(Budget& budget, int64_t held_bytes, int64_t stolen_bytes)
      : budget_(budget), held_(held_bytes), to_steal_(stolen_bytes) {
    budget_.ForceCharge(held_);
  }
  int64_t Reclaim(int64_t bytes) override {
    const int64_t given = std::min(bytes, held_);
    budget_.Release(given);
    held_ -= given;
    const int64_t stolen = std::min(given, to_steal_ - stolen_);
    budget_.ForceCharge(stolen);
    stolen_ += stolen;
    return given;
  }
  int64_t held() const { return held_; }
  int64_t stolen() const { return stolen_; }

 private:
  Budget& budget_;
  int64_t held_;
  const int64_t to_steal_;
  int64_t stolen_ = 0;
};

TEST(Budget, ChargesAsLongAsAnythingIsReclaimed) {
  Budget budget("process", 1000);
  RobbedReclaimer reclaimer(budget, 1000, 995);
  budget.SetReclaimer(&reclaimer);
  EXPECT_TRUE(budget.ChargeOrReclaim(5).ok());  // Robbed 199 times before.
  EXPECT_EQ(reclaimer.held(), 0);
  EXPECT_EQ(budget.ChargeOrReclaim(5).error().code, Code::kExhausted);
  budget.Release(5 + reclaimer.stolen());
}

TEST(Budget, GivesUpWhenOthersTakeAllThatIsReclaimed) {
  constexpr int64_t kAsked = 8 << 20;
  Budget budget("process", 0);
  RobbedReclaimer reclaimer(budget, 100 * kAsked, 100 * kAsked);
  budget.SetReclaimer(&reclaimer);
  EXPECT_EQ(budget.ChargeOrReclaim(kAsked).error().code, Code::kExhausted);
  EXPECT_EQ(reclaimer.stolen(), 16 * kAsked);
  budget.Release(reclaimer.held() + reclaimer.stolen());
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
