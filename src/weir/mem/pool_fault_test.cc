// The pool when things go wrong, at random moments; and the rules of hydration that are its own
// (docs/decisions/hydration-rules.md).
#include <cmath>
#include <condition_variable>
#include <random>
#include <set>
#include <thread>

#include "tests/support/faulty_pool.h"
#include "tests/support/pool.h"
#include "tests/support/seeds.h"
#include "weir/mem/block_allocator.h"

namespace weir::mem {
namespace {

using test::CodesOf;
using test::FileFault;
using test::FillPage;
using test::HoldsPage;

constexpr int64_t kLeastInjected = 100;

Result<Page> NewPage(Pool& pool, uint64_t id, int64_t bytes, int depth = 0) {
  WEIR_TRY(OpenPage open, pool.New(bytes));
  FillPage(open.data(), bytes, id);
  return pool.Seal(std::move(open), bytes, depth);
}

PoolOptions Options(int spill_threads) {
  PoolOptions options;
  options.spill_threads = spill_threads;
  options.reserve_bytes = 1 << 20;
  return options;
}

// Pages that are made, read and dropped at random. What goes wrong has to be one of `codes`.
class RandomWork {
 public:
  RandomWork(Pool& pool, uint64_t seed, std::set<Code> codes)
      : pool_(pool), rng_(seed), next_id_(seed << 32), codes_(std::move(codes)) {}

  void Step() {
    const int64_t bytes = 1 + static_cast<int64_t>(rng_() % 200'000);
    auto page = NewPage(pool_, next_id_, bytes, static_cast<int>(rng_() % 4));
    if (page.ok()) {
      pages_.emplace_back(next_id_++, std::move(page).value());
    } else {
      ExpectKnown(page.error());
    }
    if (pages_.empty()) return;
    ReadOne(pages_[rng_() % pages_.size()]);
    if (pages_.size() > 60 || rng_() % 4 == 0) {
      std::swap(pages_[rng_() % pages_.size()], pages_.back());
      pages_.pop_back();
    }
  }

  // Once all is mended: every page is what it was.
  void ExpectAllThere() {
    for (const auto& [id, page] : pages_) {
      const auto guard = page.Read();
      ASSERT_TRUE(guard.ok()) << guard.error().message;
      ASSERT_TRUE(HoldsPage(guard.value().bytes(), id));
    }
  }

  int64_t failures() const { return failures_; }

 private:
  void ReadOne(const std::pair<uint64_t, Page>& one) {
    if (rng_() % 3 == 0) one.second.Prefetch();
    const auto guard = one.second.Read();
    if (guard.ok()) {
      ASSERT_TRUE(HoldsPage(guard.value().bytes(), one.first)) << "wrong bytes";
    } else {
      ExpectKnown(guard.error());
    }
  }
  void ExpectKnown(const Error& error) {
    ++failures_;
    EXPECT_TRUE(codes_.contains(error.code)) << error.message;
  }

  Pool& pool_;
  std::mt19937_64 rng_;
  uint64_t next_id_;
  const std::set<Code> codes_;
  std::vector<std::pair<uint64_t, Page>> pages_;
  int64_t failures_ = 0;
};

// Goal:   a spill file that breaks in any way, at any moment, costs an error and nothing else.
// Method: random work of three threads while about one call in four fails; every byte read is
//         compared; afterwards, with the file mended, every page has to be there.
TEST(PoolFault, AnyFaultOfTheSpillFileIsAnErrorAndNothingElse) {
  for (const FileFault fault : test::kFileFaults) {
    SCOPED_TRACE(static_cast<int>(fault));
    int64_t injected = 0;
    const int64_t rounds = static_cast<int64_t>(test::Seeds(2).size());
    for (uint64_t seed = 1; injected < rounds * kLeastInjected; ++seed) {
      SCOPED_TRACE(seed);
      ASSERT_LT(seed, 1000U) << "too few calls were struck";
      test::FaultyPool faulty(18 << 20, Options(static_cast<int>(seed % 3)));
      faulty.file().Inject(fault, seed, static_cast<int64_t>(seed % 20),
                           fault == FileFault::kNoSpace ? 1 : 4);
      std::vector<std::unique_ptr<RandomWork>> works;
      std::vector<std::thread> threads;
      for (uint64_t number = 0; number < 3; ++number) {
        works.push_back(std::make_unique<RandomWork>(faulty.pool(), seed * 3 + number,
                                                     CodesOf(fault)));
        threads.emplace_back([work = works.back().get(), fault] {
          const int steps = fault == FileFault::kNoSpace ? 80 : 150;
          for (int step = 0; step < steps; ++step) work->Step();
        });
      }
      for (std::thread& thread : threads) thread.join();
      injected += faulty.file().injected();
      faulty.file().Inject(FileFault::kNone);
      for (const auto& work : works) {
        ASSERT_NO_FATAL_FAILURE(work->ExpectAllThere());
        for (int step = 0; step < 5; ++step) work->Step();
        ASSERT_NO_FATAL_FAILURE(work->ExpectAllThere());
      }
      works.clear();
      faulty.ExpectNothingLeft();
      EXPECT_LE(faulty.budget().peak_bytes(), 18 << 20);
    }
    EXPECT_GE(injected, kLeastInjected);
  }
}

// Goal:   a budget that is full, at any charge, refuses; what is held stays, and when the budget is
//         raised work goes on.
// Method: pages and blocks at random from one budget, whose limit is nothing for every third step.
TEST(PoolFault, AFullBudgetRefusesAndARaisedOneGoesOn) {
  for (const uint64_t seed : test::Seeds(2)) {
    SCOPED_TRACE(fmt::format("to repeat: WEIR_SEED={}", seed));
    constexpr int64_t kLimit = 24 << 20;
    PoolOptions options = Options(0);
    options.spill = false;  // Else a pool makes room from its own pages, and is never refused.
    test::FaultyPool faulty(kLimit, options);
    BlockAllocator blocks(faulty.budget(), 1 << 20);
    std::mt19937_64 rng(seed);
    RandomWork work(faulty.pool(), seed, {Code::kExhausted});
    int64_t refused_blocks = 0;
    while (work.failures() < kLeastInjected || refused_blocks < kLeastInjected) {
      faulty.budget().SetLimit(rng() % 3 == 0 ? 0 : kLimit);
      ASSERT_NO_FATAL_FAILURE(work.Step());
      const auto bytes = static_cast<int64_t>(1 + rng() % 300'000);
      auto block = blocks.Allocate(bytes);
      if (!block.ok()) {
        EXPECT_EQ(block.error().code, Code::kExhausted);
        ++refused_blocks;
        continue;
      }
      auto larger = blocks.Reallocate(block.value(), bytes, 2 * bytes);
      blocks.Free(larger.ok() ? larger.value() : block.value(), larger.ok() ? 2 * bytes : bytes);
    }
    faulty.budget().SetLimit(kLimit);
    ASSERT_NO_FATAL_FAILURE(work.ExpectAllThere());
  }
}

// A pool that may spill makes the most of a limit of nothing, then says that it is full.
TEST(PoolFault, APoolWithoutRoomSaysSoAndGoesOnWithMore) {
  test::FaultyPool faulty(16 << 20, Options(1));
  std::vector<Page> pages;
  std::vector<PageGuard> guards;
  for (uint64_t id = 0; id < 4; ++id) {
    pages.push_back(NewPage(faulty.pool(), id, 1 << 20).value());
    guards.push_back(pages.back().Read().value());
  }
  faulty.budget().SetLimit(0);
  const auto refused = NewPage(faulty.pool(), 9, 1 << 20);
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.error().code, Code::kExhausted);
  faulty.budget().SetLimit(16 << 20);
  pages.push_back(NewPage(faulty.pool(), 4, 1 << 20).value());
  guards.clear();
  for (uint64_t id = 0; id < 5; ++id) {
    EXPECT_TRUE(HoldsPage(pages[id].Read().value().bytes(), id));
  }
}

// ---- Rules.

// Holds up every thread that comes but those that are let pass, until it opens.
class Gate {
 public:
  void LetMePass() { mine = true; }
  void Hold() {
    if (mine) return;
    std::unique_lock lock(mutex_);
    ++held_;
    changed_.notify_all();
    changed_.wait(lock, [&] { return open_; });
  }
  void Open() {
    const std::lock_guard lock(mutex_);
    open_ = true;
    changed_.notify_all();
  }
  void WaitUntilHeld(int threads) {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return held_ >= threads; });
  }

 private:
  static thread_local bool mine;
  std::mutex mutex_;
  std::condition_variable changed_;
  int held_ = 0;
  bool open_ = false;
};
thread_local bool Gate::mine = false;

// D4. However slow the spill threads are - here they never end a write - producers go on.
TEST(HydrationRule, D4ProducersGoOnWhileSpillThreadsHang) {
  Gate gate;
  test::FaultyPool faulty(24 << 20, Options(2));
  faulty.file().OnCall([&] { gate.Hold(); });
  std::vector<std::vector<Page>> pages(2);
  std::vector<std::thread> producers;
  for (size_t number = 0; number < 2; ++number) {
    producers.emplace_back([&, number] {
      gate.LetMePass();
      for (uint64_t id = 0; id < 150; ++id) {
        auto page = NewPage(faulty.pool(), id + 1000 * number, 256 << 10, 1);
        ASSERT_TRUE(page.ok()) << page.error().message;
        pages[number].push_back(std::move(page).value());
      }
    });
  }
  for (std::thread& producer : producers) producer.join();
  const PoolCounters counters = faulty.pool().counters();
  EXPECT_GT(counters.producer_evictions, 100);
  EXPECT_GT(counters.evictions_compress, 100);
  EXPECT_LE(faulty.budget().peak_bytes(), 24 << 20);
  gate.Open();
  for (size_t number = 0; number < 2; ++number) {
    for (uint64_t id = 0; id < 150; ++id) {
      ASSERT_TRUE(HoldsPage(pages[number][id].Read().value().bytes(), id + 1000 * number));
    }
  }
}

// All pages are on their way to the file: whoever needs their memory waits for them.
TEST(PoolFault, AChargeWaitsForWritesInFlight) {
  constexpr int64_t kLimit = (2 * 2 + 1) << 20;  // Two buffers, the pages and their states.
  Gate gate;
  test::FaultyPool faulty(kLimit, Options(0));
  faulty.file().OnCall([&] { gate.Hold(); });
  std::vector<Page> pages;
  for (uint64_t id = 0; id < 7; ++id) {
    pages.push_back(NewPage(faulty.pool(), id, 128 << 10).value());
  }
  std::thread writer([&] { faulty.pool().Reclaim(kLimit); });
  gate.WaitUntilHeld(1);
  std::atomic<bool> ended{false};
  Status charged = Ok();
  std::thread asker([&] {
    charged = faulty.budget().ChargeOrReclaim(512 << 10);
    ended = true;
  });
  for (int turn = 0; !ended && turn < 1000; ++turn) std::this_thread::yield();
  gate.Open();
  asker.join();
  writer.join();
  ASSERT_TRUE(charged.ok()) << charged.error().message;
  faulty.budget().Release(512 << 10);
}

// D3. No spill threads: whoever needs memory spills. It never waits for anybody.
TEST(HydrationRule, D3WithoutSpillThreadsProducersSpill) {
  test::FaultyPool faulty((16 << 20) + 100 * Pool::kStateBytes, Options(0));
  std::vector<Page> pages;
  for (uint64_t id = 0; id < 60; ++id) {
    pages.push_back(NewPage(faulty.pool(), id, 1 << 20, 1).value());
  }
  const PoolCounters counters = faulty.pool().counters();
  EXPECT_EQ(counters.evictions_compress, counters.inserts - 12);  // Two buffers of 2 MiB.
  EXPECT_GE(counters.producer_evictions, counters.evictions_compress);
}

// D13. Nobody who makes room waits for a page that is being read back: its lock is only tried.
TEST(HydrationRule, D13EvictionWaitsForNoPage) {
  Gate gate;
  std::atomic<bool> holding{false};
  test::FaultyPool faulty(10 << 20, Options(0));
  faulty.file().OnCall([&] {
    if (holding) gate.Hold();
  });
  std::vector<Page> pages;
  for (uint64_t id = 0; id < 20; ++id) {
    pages.push_back(NewPage(faulty.pool(), id, 1 << 20, 1).value());
  }
  gate.LetMePass();
  holding = true;
  std::thread reader([&] { EXPECT_TRUE(HoldsPage(pages[0].Read().value().bytes(), 0)); });
  gate.WaitUntilHeld(1);
  for (uint64_t id = 20; id < 40; ++id) {
    pages.push_back(NewPage(faulty.pool(), id, 1 << 20, 1).value());
  }
  gate.Open();
  reader.join();
}

// D10. The codec only acts on pages of the depths that it is asked for, and saves what it can.
TEST(HydrationRule, D10OnlyPagesOfSomeDepthAreCompressed) {
  for (const int depth : {0, 1}) {
    test::FaultyPool faulty(10 << 20, Options(0));
    std::vector<Page> pages;
    for (uint64_t id = 0; id < 20; ++id) {
      pages.push_back(NewPage(faulty.pool(), id, 1 << 20, depth).value());
    }
    const PoolCounters counters = faulty.pool().counters();
    EXPECT_GT(counters.extent_raw_bytes_written, 0);
    if (depth == 0) {
      EXPECT_EQ(counters.extent_bytes_written, counters.extent_raw_bytes_written);
    } else {
      EXPECT_LT(counters.extent_bytes_written, counters.extent_raw_bytes_written * 6 / 10);
    }
  }
}

// D12. Nothing is written ahead of need unless it is asked for.
TEST(HydrationRule, D12NothingIsWrittenAheadOfNeed) {
  EXPECT_FALSE(PoolOptions().eager_backing);
  PoolOptions options = Options(2);
  for (const bool eager : {false, true}) {
    options.eager_backing = eager;
    test::FaultyPool faulty(64 << 20, options);
    std::vector<Page> pages;
    for (uint64_t id = 0; id < 20; ++id) {
      pages.push_back(NewPage(faulty.pool(), id, 1 << 20, 1).value());
    }
    if (eager) {
      while (faulty.pool().counters().eager_backs < 20) std::this_thread::yield();
    }
    EXPECT_EQ(faulty.pool().counters().extent_bytes_written > 0, eager);
  }
}

// D26. Pages of one byte to 64 MiB, at random, in a budget that holds the widest twice.
TEST(HydrationRule, D26PagesOfAnyWidthObeyTheBudget) {
  for (const uint64_t seed : test::Seeds(1)) {
    SCOPED_TRACE(fmt::format("to repeat: WEIR_SEED={}", seed));
    std::mt19937_64 rng(seed);
    constexpr int64_t kLimit = 144 << 20;
    test::FaultyPool faulty(kLimit, Options(2));
    std::vector<std::pair<uint64_t, Page>> pages;
    for (uint64_t id = 0; id < 60; ++id) {
      const double log2 = std::uniform_real_distribution<>(0, 24.3)(rng);  // Up to 20 MiB.
      const int64_t bytes = id % 30 == 29 ? 64 << 20 : static_cast<int64_t>(std::exp2(log2));
      auto page = NewPage(faulty.pool(), id, bytes, static_cast<int>(rng() % 4));
      ASSERT_TRUE(page.ok()) << page.error().message;
      EXPECT_EQ(page.value().size_bytes(), bytes);
      pages.emplace_back(id, std::move(page).value());
    }
    for (const auto& [id, page] : pages) {
      ASSERT_TRUE(HoldsPage(page.Read().value().bytes(), id)) << id;
    }
    EXPECT_LE(faulty.budget().peak_bytes(), kLimit);
    EXPECT_GT(faulty.pool().counters().extent_bytes_written, 0);
  }
}

}  // namespace
}  // namespace weir::mem
