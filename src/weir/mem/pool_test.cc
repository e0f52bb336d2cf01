#include "weir/mem/pool.h"

#include <random>
#include <thread>

#include "tests/support/pool.h"
#include "tests/support/seeds.h"
#include "weir/mem/block_allocator.h"

namespace weir::mem {
namespace {

using test::FillPage;
using test::HoldsPage;

// Charged for what is known of pages, in budgets of a few frames; less than one more would take.
constexpr int64_t kStates = 100 * Pool::kStateBytes;

class PoolTest : public testing::Test {
 protected:
  void Make(int64_t limit_bytes, PoolOptions options, int64_t spill_limit = int64_t{1} << 32) {
    spilling_ = std::make_unique<test::SpillingPool>(limit_bytes, options, spill_limit);
    pool_ = &spilling_->pool();
    budget_ = &spilling_->budget();
    file_ = &spilling_->file();
  }

  Result<Page> NewPage(uint64_t id, int64_t bytes, int depth = 0) {
    WEIR_TRY(OpenPage open, pool_->New(bytes));
    FillPage(open.data(), bytes, id);
    return pool_->Seal(std::move(open), bytes, depth);
  }

  std::unique_ptr<test::SpillingPool> spilling_;
  Pool* pool_ = nullptr;
  Budget* budget_ = nullptr;
  sys::FailingScratchFile* file_ = nullptr;
};

// Goal:   pages keep their bytes under any budget, while threads make, read and drop them.
// Method: every page is filled from its number; each read compares; each thread drops some.
TEST_F(PoolTest, PagesKeepTheirBytesUnderAnyBudget) {
  struct Setting {
    int64_t limit_bytes;
    int threads;
    SpillHandoff handoff;
    bool eager;
    int min_depth;
  };
  const Setting settings[] = {{kUnlimited, 2, SpillHandoff::kHelp, false, 1},
                              {24 << 20, 2, SpillHandoff::kHelp, false, 1},
                              {24 << 20, 0, SpillHandoff::kHelp, false, 0},
                              {24 << 20, 1, SpillHandoff::kBlock, false, 255},
                              {24 << 20, 3, SpillHandoff::kHelp, true, 2}};
  for (const uint64_t seed : test::Seeds(2)) {
    SCOPED_TRACE(fmt::format("to repeat: WEIR_SEED={}", seed));
    for (const Setting& setting : settings) {
      PoolOptions options;
      options.spill_threads = setting.threads;
      options.handoff = setting.handoff;
      options.eager_backing = setting.eager;
      options.compress_min_depth = setting.min_depth;
      options.reserve_bytes = 2 << 20;
      Make(setting.limit_bytes, options);
      std::vector<std::thread> threads;
      for (uint64_t number = 0; number < 3; ++number) {
        threads.emplace_back([&, number] {
          std::mt19937_64 rng(seed * 10 + number);
          std::vector<std::pair<uint64_t, Page>> pages;
          for (uint64_t id = number << 32; pages.size() < 100; ++id) {
            const int64_t bytes = 1 + static_cast<int64_t>(rng() % (rng() % 8 == 0 ? 2'000'000
                                                                                    : 200'000));
            auto page = NewPage(id, bytes, static_cast<int>(rng() % 5));
            ASSERT_TRUE(page.ok()) << page.error().message;
            pages.emplace_back(id, std::move(page).value());
            auto& [read_id, read] = pages[rng() % pages.size()];
            if (rng() % 3 == 0) read.Prefetch();
            const auto guard = read.Read();
            ASSERT_TRUE(guard.ok()) << guard.error().message;
            ASSERT_TRUE(HoldsPage(guard.value().bytes(), read_id));
            if (rng() % 3 == 0) {
              const size_t drop = rng() % pages.size();
              if (&pages[drop].second != &read) {
                std::swap(pages[drop], pages.back());
                if (&pages.back().second != &read) pages.pop_back();
              }
            }
          }
        });
      }
      for (auto& thread : threads) thread.join();
      // Pages that were dropped while being written go when that is done.
      while (pool_->counters().live_pages > 0) std::this_thread::yield();
      const PoolCounters counters = pool_->counters();
      EXPECT_EQ(counters.resident_bytes, 0);
      EXPECT_LE(budget_->peak_bytes(), setting.limit_bytes);
      if (setting.limit_bytes == kUnlimited && !setting.eager) {
        EXPECT_EQ(counters.extent_bytes_written, 0);
      } else {
        EXPECT_GT(counters.extent_bytes_written, 0);
      }
    }
  }
}

TEST_F(PoolTest, TheDeepestPagesGoFirstAndThoseReadLastStay) {
  PoolOptions options;
  options.spill_threads = 0;
  Make(kStates + ((2 * 2 + 4) << 20), options);  // Two buffers and room for four pages.
  const Page young = NewPage(1, 1 << 20, 0).value();
  const Page read = NewPage(2, 1 << 20, 2).value();
  const Page deep = NewPage(3, 1 << 20, 2).value();
  const Page other = NewPage(4, 1 << 20, 1).value();
  read.Read().value();
  const Page more = NewPage(5, 1 << 20, 0).value();
  EXPECT_EQ(pool_->counters().evictions_compress, 1);
  for (const Page* page : {&young, &read, &other, &more}) page->Read().value();
  EXPECT_EQ(pool_->counters().extent_bytes_read, 0);
  EXPECT_TRUE(HoldsPage(deep.Read().value().bytes(), 3));
  EXPECT_GT(pool_->counters().extent_bytes_read, 0);
}

// What is known of pages grows with them, evicted or not.
TEST_F(PoolTest, WhatIsKnownOfAPageIsCharged) {
  PoolOptions options;
  options.spill_threads = 0;
  Make(8 << 20, options);
  const int64_t before = budget_->used_bytes();
  std::vector<Page> pages;
  for (uint64_t id = 0; id < 300; ++id) pages.push_back(NewPage(id, 64 << 10).value());
  const auto charged = [&] {
    pool_->Reclaim(8 << 20);
    return budget_->used_bytes() - before;
  };
  while (pool_->Reclaim(8 << 20) > 0) {
  }
  EXPECT_EQ(charged(), 300 * Pool::kStateBytes);
  { const OpenPage dropped = pool_->New(64 << 10).value(); }
  EXPECT_EQ(charged(), 300 * Pool::kStateBytes);
  const Charge fences = pool_->ChargeBeside(5000).value();
  EXPECT_EQ(charged(), 300 * Pool::kStateBytes + 5000);
  pages.clear();
  EXPECT_EQ(charged(), 5000);
  EXPECT_EQ(pool_->ChargeBeside(8 << 20).error().code, Code::kExhausted);
  EXPECT_LE(budget_->peak_bytes(), 8 << 20);
}

TEST_F(PoolTest, PinnedPagesStayAndAFullBudgetIsSaid) {
  PoolOptions options;
  options.spill_threads = 0;
  Make(kStates + ((2 * 2 + 2) << 20), options);
  const Page first = NewPage(1, 1 << 20).value();
  const Page second = NewPage(2, 1 << 20).value();
  const PageGuard one = first.Read().value();
  PageGuard two = second.Read().value();
  const auto refused = NewPage(3, 1 << 20);
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.error().code, Code::kExhausted);
  two.Drop();
  const auto third = NewPage(3, 1 << 20);
  ASSERT_TRUE(third.ok()) << third.error().message;
  EXPECT_TRUE(HoldsPage(one.bytes(), 1));
}

// Pages that go without freeing memory wake up whoever waits for some; it goes on waiting.
TEST_F(PoolTest, WhoeverWaitsIsNotWornOutByWakeUps) {
  constexpr int kGone = 100;
  PoolOptions options;
  options.spill_threads = 0;
  Make((1 + kGone) * Pool::kStateBytes + ((2 * 2 + 1) << 20), options);
  std::vector<Page> gone;
  for (uint64_t id = 0; id < kGone; ++id) gone.push_back(NewPage(id, 64 << 10).value());
  Page pinned = NewPage(kGone, 1 << 20).value();
  PageGuard guard = pinned.Read().value();
  ASSERT_EQ(pool_->counters().resident_bytes, 1 << 20);
  std::thread waits([&] {
    const auto page = NewPage(kGone + 1, 1 << 20);
    EXPECT_TRUE(page.ok()) << page.error().message;
  });
  const auto await_a_look = [&] {
    const int64_t before = pool_->counters().producer_evictions;
    while (pool_->counters().producer_evictions == before) std::this_thread::yield();
  };
  for (int times = 0; times < kGone; ++times) {
    gone.pop_back();
    await_a_look();
  }
  guard.Drop();
  waits.join();
}

TEST_F(PoolTest, AFailedWriteLosesNothingAndGoesOnWhenItCan) {
  for (const auto step :
       {sys::FailingScratchFile::Step::kReserve, sys::FailingScratchFile::Step::kWrite}) {
    PoolOptions options;
    options.spill_threads = 0;
    Make(kStates + ((2 * 2 + 4) << 20), options);
    file_->Fail(step, 0, 1'000'000);
    std::vector<Page> pages;
    for (uint64_t id = 0; id < 4; ++id) pages.push_back(NewPage(id, 1 << 20).value());
    for (int again = 0; again < 100; ++again) {
      const auto refused = NewPage(9, 1 << 20);
      ASSERT_FALSE(refused.ok());
      EXPECT_EQ(refused.error().message, "the device is gone");
    }
    file_->Fail(sys::FailingScratchFile::Step::kNone, 0, 0);
    for (uint64_t id = 4; id < 20; ++id) pages.push_back(NewPage(id, 1 << 20).value());
    for (uint64_t id = 0; id < 20; ++id) {
      EXPECT_TRUE(HoldsPage(pages[id].Read().value().bytes(), id));
    }
  }
}

// A page that is in the file already gives way without a write, whoever stands in line before it.
TEST_F(PoolTest, WhatIsBackedGivesWayWhileWritesFail) {
  PoolOptions options;
  options.spill_threads = 0;
  Make(kStates + ((2 * 2 + 4) << 20), options);
  std::vector<Page> pages;
  for (uint64_t id = 0; id < 5; ++id) pages.push_back(NewPage(id, 1 << 20, 0).value());
  EXPECT_TRUE(HoldsPage(pages[0].Read().value().bytes(), 0));  // Backed, and read lately.
  pages.push_back(NewPage(5, 1 << 20, 2).value());  // Deeper: the first to go, and not written yet.
  EXPECT_TRUE(HoldsPage(pages[0].Read().value().bytes(), 0));
  file_->Fail(sys::FailingScratchFile::Step::kWrite, 0, 1'000'000);
  const auto page = NewPage(6, 1 << 20);
  ASSERT_TRUE(page.ok()) << page.error().message;
  EXPECT_EQ(pool_->counters().evictions_cheap, 1);
  EXPECT_EQ(file_->strikes(), 1);
  EXPECT_EQ(NewPage(7, 1 << 20).error().message, "the device is gone");
  file_->Fail(sys::FailingScratchFile::Step::kNone, 0, 0);
  for (uint64_t id = 0; id < 6; ++id) {
    EXPECT_TRUE(HoldsPage(pages[id].Read().value().bytes(), id));
  }
}

// What a spill thread met once is no reason to refuse memory later.
TEST_F(PoolTest, AMendedDeviceIsForgiven) {
  for (const auto handoff : {SpillHandoff::kHelp, SpillHandoff::kBlock}) {
    PoolOptions options;
    options.spill_threads = 1;
    options.handoff = handoff;
    options.reserve_bytes = 1 << 20;
    Make(kStates + ((3 * 2 + 4) << 20), options);
    std::vector<Page> pages;
    for (uint64_t id = 0; id < 3; ++id) pages.push_back(NewPage(id, 1 << 20).value());
    file_->Fail(sys::FailingScratchFile::Step::kWrite, 0, 1'000'000);
    Result<Page> refused = NewPage(3, 1 << 20);
    while (refused.ok()) {
      pages.push_back(std::move(refused).value());
      refused = NewPage(pages.size(), 1 << 20);
    }
    EXPECT_EQ(refused.error().message, "the device is gone");
    // The second one shows that the spill thread is through with the first.
    const int64_t before = file_->strikes();
    while (file_->strikes() < before + 2) std::this_thread::yield();
    file_->Fail(sys::FailingScratchFile::Step::kNone, 0, 0);
    for (int more = 0; more < 20; ++more) {
      auto page = NewPage(pages.size(), 1 << 20);
      ASSERT_TRUE(page.ok()) << page.error().message;
      pages.push_back(std::move(page).value());
    }
    for (uint64_t id = 0; id < pages.size(); ++id) {
      EXPECT_TRUE(HoldsPage(pages[id].Read().value().bytes(), id));
    }
  }
}

TEST_F(PoolTest, AFullSpillFileIsSaidAndARaisedBudgetHelps) {
  PoolOptions options;
  options.spill_threads = 0;
  options.compress_min_depth = 255;
  Make(kStates + ((2 * 2 + 4) << 20), options, ExtentStore::kSegmentBytes);
  std::vector<Page> pages;
  Result<Page> refused = NewPage(0, 1 << 20);
  for (uint64_t id = 1; refused.ok() && id < 100; ++id) {
    pages.push_back(std::move(refused).value());
    refused = NewPage(id, 1 << 20);
  }
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.error().code, Code::kExhausted);
  EXPECT_NE(refused.error().message.find("raise --spill-limit or --memory"), std::string::npos)
      << refused.error().message;
  EXPECT_EQ(pages.size(), 16u + 4u);
  budget_->SetLimit(64 << 20);
  pages.push_back(NewPage(20, 1 << 20).value());
  for (uint64_t id = 0; id < pages.size(); ++id) {
    EXPECT_TRUE(HoldsPage(pages[id].Read().value().bytes(), id));
  }
}

TEST_F(PoolTest, WhatIsReadBackWrongIsNeverHandedOut) {
  for (const int min_depth : {0, 255}) {
    PoolOptions options;
    options.spill_threads = 0;
    options.compress_min_depth = min_depth;
    Make(kStates + ((2 * 2 + 1) << 20), options);
    const Page page = NewPage(1, 1 << 20).value();
    const Page pusher = NewPage(2, 1 << 20).value();
    for (int again = 0; again < 100; ++again) {
      file_->Fail(sys::FailingScratchFile::Step::kCorruptRead, 0, 1);
      const auto read = page.Read();
      ASSERT_FALSE(read.ok());
      EXPECT_EQ(read.error().code, Code::kCorrupt);
      file_->Fail(sys::FailingScratchFile::Step::kRead, 0, 1);
      const auto failed = page.Read();
      ASSERT_FALSE(failed.ok());
      EXPECT_EQ(failed.error().code, Code::kUnavailable);
    }
    EXPECT_TRUE(HoldsPage(page.Read().value().bytes(), 1));
  }
}

TEST_F(PoolTest, ALoweredLimitIsObeyed) {
  PoolOptions options;
  Make(64 << 20, options);
  std::vector<Page> pages;
  for (uint64_t id = 0; id < 40; ++id) pages.push_back(NewPage(id, 1 << 20).value());
  budget_->SetLimit(16 << 20);
  ASSERT_TRUE(pool_->Shrink().ok());
  EXPECT_LE(budget_->used_bytes(), 16 << 20);
  for (uint64_t id = 0; id < pages.size(); ++id) {
    EXPECT_TRUE(HoldsPage(pages[id].Read().value().bytes(), id));
  }
}

TEST_F(PoolTest, ALimitThatCannotBeObeyedIsSaid) {
  Make(64 << 20, PoolOptions());
  const Page page = NewPage(1, 8 << 20).value();
  PageGuard pinned = page.Read().value();
  budget_->SetLimit(12 << 20);  // Buffers, 8 MiB, are part of it.
  EXPECT_EQ(pool_->Shrink().error().code, Code::kExhausted);
  pinned.Drop();
  EXPECT_TRUE(pool_->Shrink().ok());
  EXPECT_LE(budget_->used_bytes(), 12 << 20);
}

// Stored forms in memory are given up when their own limit is lowered, and for others.
TEST(PoolTier, StoredFormsGiveWay) {
  const test::TempFolder folder;
  Budget process("process", 40 << 20);
  Budget own("pool", 8 << 20, &process);
  Budget tier("tier", kUnlimited, &process);
  Frames frames(own, int64_t{1} << 32);
  auto store = std::make_unique<ExtentStore>(sys::OpenScratchFile(folder.path()).value(),
                                             int64_t{1} << 32, &tier);
  PoolOptions options;
  options.spill_threads = 0;
  const auto pool = Pool::Make(frames, std::move(store), options).value();
  process.SetReclaimer(pool.get());
  std::vector<Page> pages;
  for (uint64_t id = 0; id < 24; ++id) {
    OpenPage open = pool->New(1 << 20).value();
    FillPage(open.data(), 1 << 20, id);
    pages.push_back(pool->Seal(std::move(open), 1 << 20, 0));
  }
  EXPECT_GE(tier.used_bytes(), 20 << 20);
  tier.SetLimit(15 << 20);
  ASSERT_TRUE(pool->Shrink().ok());
  EXPECT_LE(tier.used_bytes(), 15 << 20);
  EXPECT_GT(tier.used_bytes(), 0);
  ASSERT_TRUE(process.ChargeOrReclaim(33 << 20).ok());  // More than is free without the tier's.
  EXPECT_LE(tier.used_bytes(), 7 << 20);
  process.Release(33 << 20);
  for (uint64_t id = 0; id < pages.size(); ++id) {
    EXPECT_TRUE(HoldsPage(pages[id].Read().value().bytes(), id));
  }
  pages.clear();
  process.SetReclaimer(nullptr);
}

// Buffers that are charged to the same budget get what pages took.
TEST_F(PoolTest, PagesGiveWayToBlocks) {
  Make(32 << 20, PoolOptions());
  std::vector<Page> pages;
  for (uint64_t id = 0; id < 30; ++id) pages.push_back(NewPage(id, 1 << 20).value());
  {
    BlockAllocator blocks(*budget_, 0);
    for (const bool forced : {false, true}) {
      uint8_t* block = forced ? blocks.ForceAllocate(12 << 20) : blocks.Allocate(12 << 20).value();
      blocks.Free(block, 12 << 20);
    }
    EXPECT_FALSE(blocks.Allocate(40 << 20).ok());
  }
  EXPECT_LE(budget_->peak_bytes(), 32 << 20);
  for (uint64_t id = 0; id < pages.size(); ++id) {
    EXPECT_TRUE(HoldsPage(pages[id].Read().value().bytes(), id));
  }
}

TEST_F(PoolTest, ManyPagesGiveWayToOneLargeBlock) {
  Make(200 << 20, PoolOptions());
  std::vector<Page> pages;
  for (uint64_t id = 0; id < 180; ++id) pages.push_back(NewPage(id, 1 << 20).value());
  BlockAllocator blocks(*budget_, 0);
  const auto block = blocks.Allocate(160 << 20);
  ASSERT_TRUE(block.ok()) << block.error().message;
  blocks.Free(block.value(), 160 << 20);
  EXPECT_LE(budget_->peak_bytes(), 200 << 20);
}

// Wide pages give their memory back at once: nothing of it is warm, and it counts all the same.
TEST_F(PoolTest, AWidePageGivesWayToABlock) {
  PoolOptions options;
  options.spill_threads = 0;
  Make(80 << 20, options);
  const Page page = NewPage(1, 60'000'000).value();
  ASSERT_TRUE(budget_->ChargeOrReclaim(40 << 20).ok());
  budget_->Release(40 << 20);
  EXPECT_TRUE(HoldsPage(page.Read().value().bytes(), 1));
}

// Nobody evicts for itself here, and far more is asked than spill threads keep free.
TEST_F(PoolTest, WhoeverWaitsForSpillThreadsGetsMoreThanTheReserve) {
  PoolOptions options;
  options.spill_threads = 1;
  options.handoff = SpillHandoff::kBlock;
  options.reserve_bytes = 1 << 20;
  Make(kStates + ((3 * 2 + 100) << 20), options);
  std::vector<Page> pages;
  for (uint64_t id = 0; id < 80; ++id) pages.push_back(NewPage(id, 1 << 20).value());
  auto wide = NewPage(80, 64 << 20);
  ASSERT_TRUE(wide.ok()) << wide.error().message;
  pages.push_back(std::move(wide).value());
  EXPECT_EQ(pool_->counters().producer_evictions, 0);
  for (uint64_t id = 0; id < pages.size(); ++id) {
    EXPECT_TRUE(HoldsPage(pages[id].Read().value().bytes(), id));
  }
}

// Rows may be wider than the largest frame.
TEST_F(PoolTest, AWidePageIsAPageLikeAnyOther) {
  PoolOptions options;
  options.spill_threads = 0;
  Make(96 << 20, options);
  std::vector<Page> pages;
  for (uint64_t id = 0; id < 3; ++id) pages.push_back(NewPage(id, 60'000'000).value());
  for (uint64_t id = 0; id < 3; ++id) {
    EXPECT_TRUE(HoldsPage(pages[id].Read().value().bytes(), id));
  }
}

}  // namespace
}  // namespace weir::mem
