// Hydration when files, budgets and threads fail, at random moments of a whole build.
#include <dlfcn.h>
#include <pthread.h>

#include <cerrno>
#include <map>
#include <random>
#include <set>

#include "tests/support/faulty_pool.h"
#include "tests/support/kept_table.h"
#include "tests/support/seeds.h"
#include "weir/feed/tpch_source.h"
#include "weir/hydrate/build.h"

namespace weir::hydrate {
namespace {

// Threads that may still be started before one is refused; negative: none is.
std::atomic<int> threads_until_refusal{-1};
std::atomic<int64_t> threads_refused{0};

}  // namespace
}  // namespace weir::hydrate

// In front of the C library's, for std::thread too: the one that was chosen is refused.
extern "C" int pthread_create(pthread_t* thread, const pthread_attr_t* attributes,
                              void* (*body)(void*), void* argument) {
  using Create = int (*)(pthread_t*, const pthread_attr_t*, void* (*)(void*), void*);
  static const auto real = reinterpret_cast<Create>(dlsym(RTLD_NEXT, "pthread_create"));
  if (weir::hydrate::threads_until_refusal >= 0 && weir::hydrate::threads_until_refusal-- == 0) {
    ++weir::hydrate::threads_refused;
    return EAGAIN;
  }
  return real(thread, attributes, body, argument);
}

namespace weir::hydrate {
namespace {

using test::CodesOf;
using test::FileFault;

constexpr int64_t kLeastInjected = 100;
// Buffers of rows that are being filled may pass the limit, and are checked when they are full.
constexpr int64_t kForcedBytes = 1 << 20;
constexpr int64_t kBatchRows = 1024;
constexpr double kScaleFactor = 0.004;  // 24,000 lineitems, 3 MB.

const std::vector<IndexPlan> kIndexes = {
    {"by_order", "lineitem", {"l_orderkey"}},
    {"by_part", "lineitem", {"l_partkey", "l_suppkey"}},
};

class FaultTest : public testing::Test {
 protected:
  // About half of what the indexes need, and the buffers for spilling: 2 MiB for each thread, and
  // for two producers.
  static int64_t PoolBytes(int spill_threads) { return (5 + 2 * (spill_threads + 2)) << 20; }

  // A pool, and buffers from the same budget, as in an engine.
  struct Place {
    Place(int64_t limit_bytes, mem::PoolOptions options)
        : faulty(limit_bytes, options), blocks(faulty.budget(), 1 << 20) {}

    test::FaultyPool faulty;
    mem::BlockAllocator blocks;
    std::vector<std::unique_ptr<Index>> indexes;
  };

  static mem::PoolOptions PoolOptionsFor(int spill_threads) {
    mem::PoolOptions options;
    options.spill_threads = spill_threads;
    options.reserve_bytes = 1 << 20;
    return options;
  }

  FaultTest()
      : source_(feed::NewTpchSource(
            {.scale_factor = kScaleFactor, .seed = 1, .tick_interval = {}})),
        lineitem_(*source_->Find("lineitem"), kBatchRows, kept_) {
    Place place(mem::kUnlimited, PoolOptionsFor(0));
    EXPECT_TRUE(Build(place, {}).ok());
    for (const auto& index : place.indexes) want_.push_back(index->DigestAt(0, {}).value());
    EXPECT_EQ(want_[0].rows, lineitem_.row_count());
  }

  // Builds the place's indexes anew.
  Status Build(Place& place, const BuildOptions& options) {
    place.indexes.clear();
    std::vector<Index*> indexes;
    for (const IndexPlan& plan : kIndexes) {
      place.indexes.push_back(
          Index::Make(plan, lineitem_.schema(), options.worker_count, place.faulty.pool())
              .value());
      indexes.push_back(place.indexes.back().get());
    }
    auto built = BuildIndexes(lineitem_, indexes, options, place.faulty.pool(), place.blocks,
                              clock_, stop_);
    if (!built.ok()) return std::move(built).error();
    return Ok();
  }

  // Indexes are hydrated and hold what they should, or failed for one of these reasons.
  void ExpectRightOrFailed(const Place& place, const Status& built,
                           const std::set<Code>& codes) {
    if (!built.ok()) {
      EXPECT_TRUE(codes.contains(built.error().code)) << built.error().message;
    }
    for (size_t at = 0; at < place.indexes.size(); ++at) {
      const Index& index = *place.indexes[at];
      ASSERT_TRUE(!built.ok() || index.stage() == Stage::kHydrated);
      if (index.stage() == Stage::kHydrated) {
        const auto digest = index.DigestAt(0, {});
        ASSERT_TRUE(digest.ok()) << digest.error().message;
        ASSERT_TRUE(digest.value() == want_[at]) << "wrong rows in " << index.plan().name;
      } else {
        ASSERT_EQ(index.stage(), Stage::kFailed);
        const Error failure = index.failure().value();
        EXPECT_TRUE(codes.contains(failure.code)) << failure.message;
      }
    }
  }

  // What is left of a build goes without a trace, and the next one works.
  void ExpectNextOneWorks(Place& place, const BuildOptions& options) {
    place.indexes.clear();
    place.faulty.ExpectNothingLeft();
    const Status again = Build(place, options);
    ASSERT_TRUE(again.ok()) << again.error().message;
    ExpectRightOrFailed(place, again, {});
  }

  static BuildOptions OptionsFor(uint64_t seed) {
    BuildOptions options;
    options.batcher = seed % 3 == 0 ? delta::BatcherKind::kPaged : delta::BatcherKind::kSnapshot;
    options.worker_count = 1 + static_cast<int>(seed % 2);
    options.ladder.chunk_bytes = 64 << 10;
    options.snapshot.leaf_bytes = 64 << 10;
    options.snapshot.range_bytes = 256 << 10;
    return options;
  }

  sys::ManualClock clock_;
  sys::Stop stop_;
  mem::Budget kept_budget_{"kept", mem::kUnlimited};
  mem::BlockAllocator kept_{kept_budget_, 0};
  std::unique_ptr<feed::Source> source_;
  test::KeptTable lineitem_;
  std::vector<Index::Digest> want_;
};

// Goal:   a build that meets a broken spill file fails with the right code and leaves nothing, or
//         does not mind; never are rows wrong; and once the file is mended, builds work.
// Method: builds in a budget of half of what they need, with the n-th call struck, and some of
//         those that follow.
TEST_F(FaultTest, ABrokenSpillFileFailsABuildOrDoesNot) {
  const auto least = kLeastInjected * static_cast<int64_t>(test::Seeds(1).size());
  for (const FileFault fault : test::kFileFaults) {
    SCOPED_TRACE(static_cast<int>(fault));
    int64_t injected = 0;
    int64_t failed = 0;
    for (uint64_t seed = 1; injected < least; ++seed) {
      SCOPED_TRACE(seed);
      ASSERT_LT(seed, 300U) << "too few calls were struck: " << injected;
      std::mt19937_64 rng(seed);
      const int spill_threads = static_cast<int>(seed / 2 % 2);
      Place place(PoolBytes(spill_threads), PoolOptionsFor(spill_threads));
      const bool once = fault == FileFault::kNoSpace;  // Space is reserved a few times at most.
      place.faulty.file().Inject(fault, seed, once ? 0 : static_cast<int64_t>(rng() % 12),
                                 1);
      const BuildOptions options = OptionsFor(seed);
      const Status built = Build(place, options);
      failed += built.ok() ? 0 : 1;
      injected += place.faulty.file().injected();
      place.faulty.file().Inject(FileFault::kNone);
      ASSERT_NO_FATAL_FAILURE(ExpectRightOrFailed(place, built, CodesOf(fault)));
      EXPECT_LE(place.faulty.budget().peak_bytes(), PoolBytes(spill_threads) + kForcedBytes);
      if (seed % 4 == 0) {
        ASSERT_NO_FATAL_FAILURE(ExpectNextOneWorks(place, options));
      }
      place.indexes.clear();
      place.faulty.ExpectNothingLeft();
    }
    EXPECT_GE(injected, least);
    if (CodesOf(fault).empty()) {
      EXPECT_EQ(failed, 0);
    } else {
      EXPECT_GE(failed, 5);
    }
  }
}

// Goal:   a budget that is full from some moment on fails a build, and a raised one does not.
// Method: without a spill file, where every page is a charge, the limit falls to nothing before
//         the n-th batch, or after the last one, when sorting begins.
TEST_F(FaultTest, ABudgetThatIsFullAtAnyMomentFailsTheBuild) {
  const int64_t moments = lineitem_.batch_count() + 1;  // Every worker finds the end as well.
  int64_t exhausted = 0;
  for (uint64_t seed = 1; exhausted < kLeastInjected; ++seed) {
    SCOPED_TRACE(seed);
    ASSERT_LT(seed, 1'000U) << exhausted;
    mem::PoolOptions pool_options = PoolOptionsFor(0);
    pool_options.spill = false;
    Place place(mem::kUnlimited, pool_options);
    std::atomic<int64_t> left{static_cast<int64_t>(seed) % moments};
    lineitem_.Watch([&] {
      if (left-- == 0) place.faulty.budget().SetLimit(0);
    });
    const BuildOptions options = OptionsFor(seed);
    const Status built = Build(place, options);
    lineitem_.Watch([] {});
    exhausted += built.ok() ? 0 : 1;
    place.faulty.budget().SetLimit(mem::kUnlimited);
    ASSERT_NO_FATAL_FAILURE(ExpectRightOrFailed(place, built, {Code::kExhausted}));
    if (seed % 8 == 0) {
      ASSERT_NO_FATAL_FAILURE(ExpectNextOneWorks(place, options));
    }
  }
}

// The same where pages can be evicted, and the limit falls before some write or read.
TEST_F(FaultTest, ABudgetThatFallsWhilePagesSpillFailsTheBuild) {
  int64_t exhausted = 0;
  for (uint64_t seed = 1; exhausted < 5; ++seed) {
    SCOPED_TRACE(seed);
    ASSERT_LT(seed, 50U) << exhausted;
    Place place(PoolBytes(0), PoolOptionsFor(0));
    std::atomic<int64_t> left{static_cast<int64_t>(seed * 7 % 16)};
    place.faulty.file().OnCall([&] {
      if (left-- == 0) place.faulty.budget().SetLimit(0);
    });
    const BuildOptions options = OptionsFor(seed);
    const Status built = Build(place, options);
    exhausted += built.ok() ? 0 : 1;
    left = -1;
    place.faulty.budget().SetLimit(PoolBytes(0));
    ASSERT_NO_FATAL_FAILURE(ExpectRightOrFailed(place, built, {Code::kExhausted}));
    ASSERT_NO_FATAL_FAILURE(ExpectNextOneWorks(place, options));
  }
}

// All rows are read when the stop comes: ranges are left to be sorted.
TEST_F(FaultTest, AStopIsSeenWhileRowsAreSorted) {
  Place place(mem::kUnlimited, PoolOptionsFor(0));
  int64_t batches = 0;
  lineitem_.Watch([&] {
    if (++batches > lineitem_.batch_count()) stop_.Ask();
  });
  const Status built = Build(place, {});
  lineitem_.Watch([] {});
  ASSERT_FALSE(built.ok());
  EXPECT_EQ(built.error().code, Code::kCancelled);
  for (const auto& index : place.indexes) EXPECT_EQ(index->stage(), Stage::kFailed);
}

// Whichever of its threads is refused, a build fails and ends; so does the making of a pool.
TEST_F(FaultTest, ARefusedThreadFailsWhatAsksForIt) {
  const int64_t before = threads_refused;
  const int rounds = 40 * static_cast<int>(test::Seeds(1).size());
  for (int round = 0; round < rounds; ++round) {
    for (int worker = 0; worker < 3; ++worker) {
      Place place(2 * PoolBytes(0), PoolOptionsFor(0));  // For three workers.
      BuildOptions options = OptionsFor(static_cast<uint64_t>(round));
      options.worker_count = 3;
      threads_until_refusal = worker;
      const Status built = Build(place, options);
      threads_until_refusal = -1;
      ASSERT_FALSE(built.ok());
      EXPECT_TRUE(built.error().message.starts_with("cannot start a thread"));
      ASSERT_NO_FATAL_FAILURE(ExpectRightOrFailed(place, built, {Code::kExhausted}));
      if (round % 20 == 0) {
        ASSERT_NO_FATAL_FAILURE(ExpectNextOneWorks(place, options));
      }
    }
  }
  EXPECT_GE(threads_refused - before, kLeastInjected);

  test::TempFolder folder;
  for (int at = 0; at < 4; ++at) {
    mem::Budget budget("pool", mem::kUnlimited);
    mem::Frames frames(budget, int64_t{1} << 32);
    auto store = std::make_unique<mem::ExtentStore>(
        sys::OpenScratchFile(folder.path()).value(), int64_t{1} << 32);
    threads_until_refusal = at;
    const auto pool = mem::Pool::Make(frames, std::move(store), PoolOptionsFor(4));
    threads_until_refusal = -1;
    ASSERT_FALSE(pool.ok());
    EXPECT_EQ(pool.error().code, Code::kExhausted);
  }
}

}  // namespace
}  // namespace weir::hydrate
