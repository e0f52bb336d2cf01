#include "weir/delta/spine.h"

#include <map>
#include <random>

#include "tests/support/pool.h"
#include "tests/support/seeds.h"
#include "weir/delta/ladder_batcher.h"
#include "weir/delta/record_internal.h"

namespace weir::delta {
namespace {

struct TestUpdate {
  std::string row;
  Time time;
  Diff diff;
};

class SpineTest : public testing::Test {
 protected:
  void Make(int64_t pool_bytes) {
    batcher_.reset();
    spine_.reset();
    spilling_ = std::make_unique<test::SpillingPool>(pool_bytes);
    SpineOptions spine;
    spine.leaf_bytes = 64 << 10;
    spine_ = std::make_unique<Spine>(spilling_->pool(), spine);
    batcher_ = std::make_unique<LadderBatcher>(spilling_->pool(),
                                               LadderOptions{.chunk_bytes = 64 << 10});
  }

  std::unique_ptr<Batch> BatchOf(const std::vector<TestUpdate>& updates, Frontier upper) {
    for (const TestUpdate& update : updates) {
      std::string row = update.row;
      row.append(table::kRowSlack, '\0');
      const Bytes bytes = AsBytes(row).first(update.row.size());
      EXPECT_TRUE(batcher_->Add({bytes, 4, update.time, update.diff}).ok());
    }
    return batcher_->Seal(upper).value();
  }

  std::map<std::string, Diff> Read(Time time, const std::string& from = "") {
    std::map<std::string, Diff> read;
    const auto cursor = spine_->ReadAt(time, AsBytes(from)).value();
    for (Update update; cursor->Next(update).value();) {
      EXPECT_EQ(update.key_size, 4);
      EXPECT_TRUE(read.emplace(AsText(update.row), update.diff).second);
    }
    return read;
  }

  std::unique_ptr<test::SpillingPool> spilling_;
  std::unique_ptr<LadderBatcher> batcher_;
  std::unique_ptr<Spine> spine_;
};

std::map<std::string, Diff> Accumulate(const std::vector<TestUpdate>& updates, Time time,
                                       const std::string& from = "") {
  std::map<std::string, Diff> collection;
  for (const TestUpdate& update : updates) {
    if (update.time > time || update.row < from) continue;
    if ((collection[update.row] += update.diff) == 0) collection.erase(update.row);
  }
  return collection;
}

TestUpdate RandomUpdate(std::mt19937_64& rng, Time time) {
  const std::string value(rng() % 8 == 0 ? rng() % 5000 : rng() % 3, 'v');
  return {fmt::format("k{:02}\x1f{}", rng() % 12, value) + '\0', time, rng() % 2 == 0 ? 1 : -1};
}

// Goal:   a spine holds the same collection at every time that may be asked for, under any budget.
// Method: random updates in batches, merged as far as random fuel goes, times let go now and then;
//         read back at every time from the start and from a random row, and compared with a sum.
TEST_F(SpineTest, AgreesWithASumAtEveryTimeUnderAnyBudget) {
  constexpr Time kTimes = 40;
  for (const uint64_t seed : test::Seeds(6)) {
    SCOPED_TRACE(fmt::format("to repeat: WEIR_SEED={}", seed));
    for (const int64_t pool_bytes : {int64_t{12} << 20, mem::kUnlimited}) {
      std::mt19937_64 rng(seed);
      Make(pool_bytes);
      std::vector<TestUpdate> updates;
      for (Time lower = 0; lower < kTimes;) {
        const Time upper = lower + 1 + rng() % 3;
        std::vector<TestUpdate> batch;
        for (uint64_t left = rng() % 3 == 0 ? rng() % 1000 : rng() % 10; left > 0; --left) {
          batch.push_back(RandomUpdate(rng, lower + rng() % (upper - lower)));
        }
        updates.insert(updates.end(), batch.begin(), batch.end());
        ASSERT_TRUE(spine_->Insert(BatchOf(batch, upper)).ok());
        lower = upper;
        if (rng() % 4 == 0) spine_->AllowTimeCompaction(rng() % upper);
        ASSERT_TRUE(spine_->Work(static_cast<int64_t>(rng() % 500)).ok());
        const Time time = spine_->since() + rng() % (upper - spine_->since());
        const std::string from = RandomUpdate(rng, 0).row;
        ASSERT_EQ(Read(time), Accumulate(updates, time)) << time;
        ASSERT_EQ(Read(time, from), Accumulate(updates, time, from)) << time;
      }
      for (bool more = true; more;) more = spine_->Work(1000).value();
      for (Time time = spine_->since(); time < *spine_->upper(); ++time) {
        ASSERT_EQ(Read(time), Accumulate(updates, time)) << time;
      }
      EXPECT_LE(spine_->batch_count(), 12);
    }
  }
}

// Old times cost nothing once nobody may ask for them.
TEST_F(SpineTest, WhatCancelledIsForgottenWithItsTimes) {
  Make(mem::kUnlimited);
  for (Time time = 0; time < 100; ++time) {
    std::vector<TestUpdate> batch = {{"k00\x1fnew" + std::to_string(time), time, 1}};
    if (time > 0) batch.push_back({"k00\x1fnew" + std::to_string(time - 1), time, -1});
    ASSERT_TRUE(spine_->Insert(BatchOf(batch, time + 1)).ok());
    spine_->AllowTimeCompaction(time);
  }
  while (spine_->Work(1000).value()) {
  }
  EXPECT_EQ(Read(99), (std::map<std::string, Diff>{{"k00\x1fnew99", 1}}));
  EXPECT_LE(spine_->update_count(), 8);
}

// However long a large merge takes, small ones do not wait for it.
TEST_F(SpineTest, TheNumberOfBatchesIsLogarithmic) {
  Make(mem::kUnlimited);
  std::mt19937_64 rng(5);
  int64_t most = 0;
  for (Time time = 0; time < 3000; ++time) {
    std::vector<TestUpdate> batch;
    for (uint64_t left = time == 0 ? 50'000 : rng() % 20; left > 0; --left) {
      batch.push_back({fmt::format("k{:02}\x1f{:08}", rng() % 12, rng()) + '\0', time, 1});
    }
    ASSERT_TRUE(spine_->Insert(BatchOf(batch, time + 1)).ok());
    spine_->AllowTimeCompaction(time);
    most = std::max(most, spine_->batch_count());
  }
  EXPECT_LE(most, 20);
}

TEST_F(SpineTest, BatchesThatAreAskedForAloneAreNotMerged) {
  Make(mem::kUnlimited);
  spine_->AllowBatchCompaction(Time{0});
  for (Time time = 0; time < 10; ++time) {
    ASSERT_TRUE(spine_->Insert(BatchOf({{"k00\x1f", time, 1}}, time + 1)).ok());
  }
  EXPECT_EQ(spine_->batch_count(), 10);
  spine_->AllowBatchCompaction(Time{10});
  while (spine_->Work(1000).value()) {
  }
  EXPECT_EQ(spine_->batch_count(), 1);
  EXPECT_EQ(Read(9), (std::map<std::string, Diff>{{"k00\x1f", 10}}));
}

// A cursor is not disturbed by what merges under it.
TEST_F(SpineTest, ACursorReadsOnWhileBatchesMerge) {
  Make(mem::kUnlimited);
  std::vector<TestUpdate> updates;
  std::mt19937_64 rng(1);
  for (Time time = 0; time < 20; ++time) {
    std::vector<TestUpdate> batch;
    for (int at = 0; at < 200; ++at) batch.push_back(RandomUpdate(rng, time));
    updates.insert(updates.end(), batch.begin(), batch.end());
    ASSERT_TRUE(spine_->Insert(BatchOf(batch, time + 1)).ok());
    const auto cursor = spine_->ReadAt(time, {}).value();
    while (spine_->Work(1000).value()) {
    }
    std::map<std::string, Diff> read;
    for (Update update; cursor->Next(update).value();) {
      read[std::string(AsText(update.row))] = update.diff;
    }
    ASSERT_EQ(read, Accumulate(updates, time));
  }
}

// A spill device that fails loses nothing, and what was begun goes on when it is back.
TEST_F(SpineTest, AFailedMergeIsBegunAnew) {
  Make(12 << 20);
  int failures = 0;
  std::vector<TestUpdate> updates;
  std::mt19937_64 rng(2);
  for (Time time = 0; time < 6; ++time) {
    std::vector<TestUpdate> batch;
    for (int at = 0; at < 3000; ++at) {
      batch.push_back({fmt::format("k{:02}\x1f{:06}{}", rng() % 100, rng() % 1000,
                                   std::string(rng() % 1500, 'x')) + '\0', time, 1});
    }
    updates.insert(updates.end(), batch.begin(), batch.end());
    auto sealed = BatchOf(batch, time + 1);
    spilling_->file().Fail(sys::FailingScratchFile::Step::kWrite, 0, 1'000'000);
    const Status inserted = spine_->Insert(std::move(sealed));
    failures += inserted.ok() ? 0 : 1;
    spilling_->file().Fail(sys::FailingScratchFile::Step::kNone, 0, 0);
    ASSERT_EQ(spine_->upper(), Frontier(time + 1));
    ASSERT_EQ(Read(time), Accumulate(updates, time));
  }
  EXPECT_GT(failures, 0);
}

}  // namespace
}  // namespace weir::delta
