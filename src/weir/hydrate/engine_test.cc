#include "weir/hydrate/engine.h"

#include "tests/support/engine_memory.h"
#include "tests/support/folder.h"
#include "tests/support/watched_source.h"
#include "weir/feed/tpch_source.h"
#include "weir/feed/tpch_ticks.h"
#include "weir/sys/hash.h"
#include "weir/sys/process.h"

namespace weir::hydrate {
namespace {

constexpr double kScaleFactor = 0.01;
constexpr uint64_t kSeed = 3;

const std::vector<IndexPlan> kIndexes = {
    {"orders_by_key", "orders", {"o_orderkey"}},
    {"lines_by_order", "lineitem", {"l_orderkey"}},
    {"customers_by_nation", "customer", {"c_nationkey"}},
    {"lines_by_part", "lineitem", {"l_partkey", "l_suppkey"}},
    {"orders_by_customer", "orders", {"o_custkey"}},
};

class EngineTest : public testing::Test {
 protected:
  EngineOptions Options() {
    EngineOptions options;
    options.spill_folder = folder_.path();
    options.pool.reserve_bytes = 1 << 20;
    return options;
  }
  static std::unique_ptr<feed::Source> Tpch(std::optional<sys::Duration> tick_interval = {}) {
    return feed::NewTpchSource(
        {.scale_factor = kScaleFactor, .seed = kSeed, .tick_interval = tick_interval});
  }
  std::unique_ptr<Engine> MakeEngine(const EngineOptions& options,
                                     std::optional<sys::Duration> tick_interval = {}) {
    auto engine = Engine::Make(options, clock_).value();
    EXPECT_TRUE(engine->AddSource("tpch", Tpch(tick_interval)).ok());
    for (const IndexPlan& plan : kIndexes) EXPECT_TRUE(engine->AddIndex(plan).ok());
    return engine;
  }

  // One with 24 MiB beside what the process holds and a spill file of so much, and a source that
  // never ticks.
  std::unique_ptr<Engine> MakeShortOfRoom(int64_t spill_limit_bytes, int concurrency,
                                          double scale_factor) {
    EngineOptions options = Options();
    options.memory_bytes = test::EngineMemory(24 << 20);
    options.spill_limit_bytes = spill_limit_bytes;
    options.concurrency = concurrency;
    auto engine = Engine::Make(options, clock_).value();
    auto source = feed::NewTpchSource(
        {.scale_factor = scale_factor, .seed = kSeed, .tick_interval = {}});
    EXPECT_TRUE(engine->AddSource("still", std::move(source)).ok());
    return engine;
  }

  // The digest that an index of `table` should have after some ticks, from the generator alone.
  Index::Digest Expected(const Index& index, feed::TpchTable table, int64_t tick_count = 0) {
    const feed::TpchGenerator generator(kScaleFactor, kSeed);
    feed::TpchTicks ticks(generator, kSeed);
    std::map<int64_t, uint64_t> versions;
    for (int64_t at = 0; at < tick_count; ++at) {
      const feed::TpchTick tick = ticks.Next();
      versions[tick.unit] = tick.new_version;
    }
    const bool changes =
        table == feed::TpchTable::kOrders || table == feed::TpchTable::kLineitem;
    auto builders = table::BuildersFor(feed::TpchSchema(table), blocks_);
    for (int64_t unit = 0; unit < generator.UnitCount(table); ++unit) {
      const bool changed = changes && versions.contains(unit);
      generator.Append(table, unit, unit + 1, changed ? versions[unit] : 0, builders);
    }
    const table::Batch batch = table::FinishBatch(builders);
    table::EncodedRows rows(blocks_);
    index.codec().Encode(batch, 0, batch.row_count, rows);
    Index::Digest digest;
    for (int64_t at = 0; at < rows.row_count; ++at) digest.sum += sys::Xxh3(rows.row(at));
    digest.rows = rows.row_count;
    return digest;
  }
  static feed::TpchTable TableOf(const IndexPlan& plan) {
    if (plan.table == "orders") return feed::TpchTable::kOrders;
    return plan.table == "customer" ? feed::TpchTable::kCustomer : feed::TpchTable::kLineitem;
  }
  void ExpectAllRight(Engine& engine, int64_t ticks, delta::Time time) {
    for (const IndexPlan& plan : kIndexes) {
      const Index& index = *engine.FindIndex(plan.name);
      const auto digest = index.DigestAt(time, {});
      ASSERT_TRUE(digest.ok()) << digest.error().message;
      EXPECT_TRUE(digest.value() == Expected(index, TableOf(plan), ticks)) << plan.name;
    }
  }

  test::TempFolder folder_;
  sys::ManualClock clock_;
  sys::Stop stop_;
  mem::Budget budget_{"test", mem::kUnlimited};
  mem::BlockAllocator blocks_{budget_, 0};
};

// Goal: the same indexes, whatever builds them, on how many workers, how many at a time, in how
//       much memory.
TEST_F(EngineTest, HydratesWhatItIsAskedFor) {
  const int64_t program_bytes = sys::ReadProcessUsage().anonymous_bytes;
  for (const auto batcher : {delta::BatcherKind::kSnapshot, delta::BatcherKind::kLegacy}) {
    for (const int workers : {1, 3}) {
      for (const int concurrency : {0, 1, 2}) {
        EngineOptions options = Options();
        options.batcher = batcher;
        options.worker_count = workers;
        options.concurrency = concurrency;
        const bool tight = batcher == delta::BatcherKind::kSnapshot;
        if (tight) options.memory_bytes = program_bytes + (56 << 20);
        const auto engine = MakeEngine(options);
        for (const ObjectStatus& status : engine->statuses()) {
          EXPECT_EQ(status.stage, Stage::kPending);
          EXPECT_FALSE(status.started.has_value());
        }
        const Status hydrated = engine->Hydrate(stop_);
        ASSERT_TRUE(hydrated.ok()) << hydrated.error().message;
        ExpectAllRight(*engine, 0, 0);
        for (const ObjectStatus& status : engine->statuses()) {
          EXPECT_EQ(status.stage, Stage::kHydrated) << status.name;
          EXPECT_EQ(status.rows_read, status.rows_expected) << status.name;
          EXPECT_EQ(status.frontier, delta::Time{1});
          EXPECT_TRUE(status.time.has_value() && status.hydration_time.has_value());
        }
        if (tight) {
          EXPECT_LE(engine->budget().peak_bytes(), options.memory_bytes);
        }
      }
    }
  }
}

// Goal: after any number of ticks, indexes hold what the source would say now.
TEST_F(EngineTest, TicksAreAppliedWhenTheirTimeComes) {
  for (const int workers : {1, 3}) {
    EngineOptions options = Options();
    options.worker_count = workers;
    const auto engine = MakeEngine(options, std::chrono::milliseconds(100));
    ASSERT_TRUE(engine->Hydrate(stop_).ok());
    clock_.Advance(std::chrono::milliseconds(99));
    ASSERT_TRUE(engine->ApplyDueTicks(stop_).ok());
    ExpectAllRight(*engine, 0, 0);
    int64_t ticks = 0;
    for (const int64_t more : {1, 4, 300}) {
      ticks += more;
      clock_.Advance(std::chrono::milliseconds(100) * more);
      const auto applied = engine->ApplyDueTicks(stop_);
      ASSERT_TRUE(applied.ok()) << applied.error().message;
      const auto time = static_cast<delta::Time>(100 * ticks);
      ExpectAllRight(*engine, ticks, time);
      for (const ObjectStatus& status : engine->statuses()) {
        EXPECT_EQ(status.frontier, time + 1) << status.name;
      }
    }
    // What was taken away is forgotten, not kept beside what replaced it.
    const Index& lines = *engine->FindIndex("lines_by_order");
    EXPECT_LT(lines.update_count(), lines.DigestAt(100 * static_cast<delta::Time>(ticks), stop_)
                                            .value()
                                            .rows + 305 * 14);
  }
}

TEST_F(EngineTest, APausedSourceCatchesUpWithNothing) {
  const auto engine = MakeEngine(Options(), std::chrono::milliseconds(100));
  ASSERT_TRUE(engine->Hydrate(stop_).ok());
  clock_.Advance(std::chrono::milliseconds(250));
  ASSERT_TRUE(engine->PauseSource("tpch", true).ok());
  ASSERT_TRUE(engine->ApplyDueTicks(stop_).ok());
  ExpectAllRight(*engine, 0, 0);
  clock_.Advance(std::chrono::seconds(100));
  ASSERT_TRUE(engine->PauseSource("tpch", false).ok());
  ASSERT_TRUE(engine->ApplyDueTicks(stop_).ok());
  ExpectAllRight(*engine, 2, 200);
  EXPECT_EQ(engine->PauseSource("other", true).error().code, Code::kNotFound);
}

// However far behind it is: the stop is seen after every tick.
TEST_F(EngineTest, AStopIsSeenBetweenTicks) {
  const auto engine = MakeEngine(Options(), std::chrono::milliseconds(100));
  ASSERT_TRUE(engine->Hydrate(stop_).ok());
  clock_.Advance(std::chrono::hours(1));
  stop_.Ask();
  ASSERT_TRUE(engine->Follow(stop_, [](const Error&) {}).ok());
  ExpectAllRight(*engine, 1, 100);
}

// What is created late, or again, holds what all the others hold, and goes on with them.
TEST_F(EngineTest, AnIndexCreatedAfterTicksCatchesUp) {
  const auto engine = MakeEngine(Options(), std::chrono::milliseconds(100));
  ASSERT_TRUE(engine->Hydrate(stop_).ok());
  clock_.Advance(std::chrono::seconds(30));
  ASSERT_TRUE(engine->ApplyDueTicks(stop_).ok());
  for (const IndexPlan& plan : kIndexes) {
    if (plan.table == "orders") continue;
    ASSERT_TRUE(engine->DropIndex(plan.name).ok());
    ASSERT_TRUE(engine->AddIndex(plan).ok());
  }
  ASSERT_TRUE(engine->Hydrate(stop_).ok());
  ExpectAllRight(*engine, 300, 30'000);
  for (const ObjectStatus& status : engine->statuses()) {
    EXPECT_EQ(status.rows_read, status.rows_expected) << status.name;
    EXPECT_EQ(status.frontier, 30'001) << status.name;
  }
  clock_.Advance(std::chrono::seconds(1));
  ASSERT_TRUE(engine->ApplyDueTicks(stop_).ok());
  ExpectAllRight(*engine, 310, 31'000);
}

// Bounds move while an index hydrates: less and more again, and the answer is the same.
TEST_F(EngineTest, MemoryIsRetunedWhileItHydrates) {
  EngineOptions options = Options();
  options.memory_bytes = int64_t{1} << 30;
  options.budget_fraction = 0.5;
  options.pool_rss_target_bytes = int64_t{600} << 20;
  options.worker_count = 2;
  const auto engine = MakeEngine(options);
  const int64_t least = engine->budget().used_bytes() + (40 << 20);
  std::atomic<bool> done{false};
  int64_t changes = 0;
  std::thread tuner([&] {
    for (uint64_t round = 0; !done; ++round) {
      EXPECT_TRUE(engine->SetMemory(round % 2 == 0 ? least : int64_t{1} << 30).ok());
      EXPECT_TRUE(engine->SetBudgetFraction(round % 3 == 0 ? 1 : 0.3).ok());
      EXPECT_TRUE(engine->SetPoolRssTarget(round % 5 == 0 ? 0 : int64_t{200} << 20).ok());
      ++changes;
      std::this_thread::yield();
    }
  });
  const Status hydrated = engine->Hydrate(stop_);
  done = true;
  tuner.join();
  ASSERT_TRUE(hydrated.ok()) << hydrated.error().message;
  EXPECT_GT(changes, 0);
  ExpectAllRight(*engine, 0, 0);
  ASSERT_TRUE(engine->SetMemory(least).ok());
  EXPECT_LE(engine->budget().used_bytes(), least);
  EXPECT_EQ(engine->budget().limit_bytes(), least);
  ExpectAllRight(*engine, 0, 0);
  EXPECT_EQ(engine->SetMemory(1 << 20).error().code, Code::kUsage);
  EXPECT_EQ(engine->budget().limit_bytes(), least);
}

TEST_F(EngineTest, TicksThatTimesCannotTellApartAreRefused) {
  const auto engine = Engine::Make(Options(), clock_).value();
  const Status added = engine->AddSource("tpch", Tpch(std::chrono::microseconds(999)));
  ASSERT_FALSE(added.ok());
  EXPECT_EQ(added.error().code, Code::kInvalid);
  EXPECT_TRUE(engine->AddSource("tpch", Tpch(std::chrono::milliseconds(1))).ok());
}

TEST_F(EngineTest, FollowEndsWhenItIsAsked) {
  const auto engine = MakeEngine(Options(), std::chrono::milliseconds(100));
  ASSERT_TRUE(engine->Hydrate(stop_).ok());
  stop_.Ask();
  EXPECT_TRUE(engine->Follow(stop_, [](const Error&) {}).ok());
  EXPECT_EQ(engine->AddIndex({"late", "orders", {"o_orderkey"}}).ok(), true);
  EXPECT_EQ(engine->Hydrate(stop_).error().code, Code::kCancelled);
  EXPECT_EQ(engine->statuses().back().stage, Stage::kFailed);
}

TEST_F(EngineTest, NamesThatAreNotThereOrThereAlready) {
  const auto engine = MakeEngine(Options());
  const auto message = [](Status status) {
    return status.ok() ? std::string() : std::move(status).error().message;
  };
  EXPECT_EQ(message(engine->AddIndex({"a", "order", {"o_orderkey"}})),
            "index a: there is no table order; the sources have: region nation supplier part "
            "partsupp customer orders lineitem");
  EXPECT_EQ(message(engine->AddIndex({"a", "orders", {"o_key"}})),
            "index a: table orders has no column o_key");
  EXPECT_EQ(message(engine->AddIndex({"a", "orders", {"o_custkey", "o_orderkey", "o_custkey"}})),
            "index a has column o_custkey twice; name it once");
  EXPECT_EQ(message(engine->AddIndex({"orders_by_key", "orders", {"o_orderkey"}})),
            "index orders_by_key exists already; drop it first or choose another name");
  EXPECT_EQ(message(engine->AddSource("tpch", Tpch())),
            "source tpch exists already; drop it first or choose another name");
  EXPECT_EQ(message(engine->DropSource("tpch")),
            "source tpch is read by orders_by_key; drop that first");
  EXPECT_EQ(message(engine->DropIndex("a")), "there is no index a");
  ASSERT_TRUE(engine->AddSource("more", Tpch()).ok());
  EXPECT_EQ(message(engine->AddIndex({"a", "orders", {"o_orderkey"}})),
            "index a: table orders is in the sources more and tpch; write more.orders");
  EXPECT_TRUE(engine->AddIndex({"a", "more.orders", {"o_orderkey"}}).ok());
  EXPECT_TRUE(engine->DropIndex("a").ok());
  EXPECT_TRUE(engine->DropSource("more").ok());
  EXPECT_EQ(message(engine->DropSource("more")), "there is no source more");
}

TEST_F(EngineTest, LessMemoryThanTheProgramTakesIsRefused) {
  EngineOptions options = Options();
  options.memory_bytes = 1 << 20;
  const auto engine = Engine::Make(options, clock_);
  ASSERT_FALSE(engine.ok());
  EXPECT_EQ(engine.error().code, Code::kUsage);
  // Enough for the program, not for the buffers that spilling needs.
  options.memory_bytes = test::EngineMemory(2 << 20);
  const auto less = Engine::Make(options, clock_);
  ASSERT_FALSE(less.ok());
  EXPECT_TRUE(less.error().message.ends_with("; give it more memory")) << less.error().message;
}

// What does not fit on the device fails; what does is there.
TEST_F(EngineTest, AnObjectThatFindsNoRoomFailsAlone) {
  const auto engine = MakeShortOfRoom(16 << 20, 1, 0.2);
  ASSERT_TRUE(engine->AddIndex({"lines", "lineitem", {"l_orderkey"}}).ok());
  ASSERT_TRUE(engine->AddIndex({"nations", "nation", {"n_nationkey"}}).ok());
  const Status hydrated = engine->Hydrate(stop_);
  ASSERT_FALSE(hydrated.ok());
  EXPECT_EQ(hydrated.error().code, Code::kExhausted) << hydrated.error().message;
  const auto statuses = engine->statuses();
  EXPECT_EQ(statuses[0].stage, Stage::kFailed);
  EXPECT_EQ(statuses[0].failure.value().code, Code::kExhausted);
  EXPECT_EQ(statuses[1].stage, Stage::kHydrated);

  // It goes on when there is more.
  ASSERT_TRUE(engine->SetMemory(int64_t{1} << 30).ok());
  const Status again = engine->Hydrate(stop_);
  ASSERT_TRUE(again.ok()) << again.error().message;
  EXPECT_EQ(engine->statuses()[0].stage, Stage::kHydrated);
  EXPECT_EQ(engine->statuses()[0].rows_read, engine->statuses()[0].rows_expected);
}

// A tick that finds no room is applied when there is some, to each index once.
TEST_F(EngineTest, ATickWaitsForRoom) {
  EngineOptions options = Options();
  options.spill_limit_bytes = 1 << 20;
  options.memory_bytes = int64_t{1} << 30;
  const auto engine = MakeEngine(options, std::chrono::seconds(1));
  ASSERT_TRUE(engine->Hydrate(stop_).ok());
  // As if something else took all of the memory; the device has room for a few pages.
  mem::Budget& memory = engine->blocks().budget();
  memory.ForceCharge(options.memory_bytes);
  EXPECT_EQ(engine->SetMemory(options.memory_bytes).error().code, Code::kExhausted);
  int64_t refused = 0;
  for (int tick = 1; tick <= 20; ++tick) {
    clock_.Advance(std::chrono::seconds(1));
    const Status applied = engine->ApplyDueTicks(stop_);
    if (applied.ok()) continue;
    EXPECT_EQ(applied.error().code, Code::kExhausted) << applied.error().message;
    ++refused;
  }
  EXPECT_EQ(refused, 20);
  memory.Release(options.memory_bytes);
  for (const auto& status : engine->statuses()) EXPECT_EQ(status.stage, Stage::kHydrated);
  ASSERT_TRUE(engine->SetMemory(options.memory_bytes).ok());
  ASSERT_TRUE(engine->ApplyDueTicks(stop_).ok());
  ExpectAllRight(*engine, 20, 20'000);
}

// Two that find no room together are tried one by one, and the first of them does.
TEST_F(EngineTest, WhatFindsNoRoomTogetherIsTriedAlone) {
  const auto engine = MakeShortOfRoom(96 << 20, 2, 0.1);
  ASSERT_TRUE(engine->AddIndex({"by_part", "lineitem", {"l_partkey"}}).ok());
  ASSERT_TRUE(engine->AddIndex({"by_day", "lineitem", {"l_shipdate"}}).ok());
  const Status hydrated = engine->Hydrate(stop_);
  ASSERT_FALSE(hydrated.ok());
  EXPECT_TRUE(hydrated.error().message.starts_with("by_day: ")) << hydrated.error().message;
  const auto statuses = engine->statuses();
  EXPECT_EQ(statuses[0].stage, Stage::kHydrated);
  EXPECT_TRUE(statuses[0].time.has_value());
  EXPECT_EQ(statuses[1].stage, Stage::kFailed);
}

// An index that finds no room is told of once, tried again and again, and keeps no other from its
// ticks.
TEST_F(EngineTest, FollowGoesOnWithTheOthers) {
  constexpr int kTicks = 40;
  const auto engine = MakeShortOfRoom(16 << 20, 1, 0.1);
  ASSERT_TRUE(engine->AddIndex({"lines", "lineitem", {"l_orderkey"}}).ok());
  int ticks = 0;
  auto ticking = std::make_unique<test::WatchedSource>(
      Tpch(std::chrono::seconds(1)), [&](const auto&) {
        if (++ticks == kTicks) stop_.Ask();
      });
  ASSERT_TRUE(engine->AddSource("tpch", std::move(ticking)).ok());
  ASSERT_TRUE(engine->AddIndex({"orders_by_key", "tpch.orders", {"o_orderkey"}}).ok());
  sys::Stop never;
  ASSERT_EQ(engine->Hydrate(never).error().code, Code::kExhausted);
  std::vector<std::string> warnings;
  const Status followed =
      engine->Follow(stop_, [&](const Error& error) { warnings.push_back(error.message); });
  ASSERT_TRUE(followed.ok()) << followed.error().message;
  ASSERT_EQ(warnings.size(), 1U);
  EXPECT_TRUE(warnings[0].starts_with("lines: ")) << warnings[0];
  const Index& orders = *engine->FindIndex("orders_by_key");
  EXPECT_EQ(orders.frontier(), delta::Time{kTicks * 1000 + 1});
  EXPECT_TRUE(orders.DigestAt(kTicks * 1000, {}).value() ==
              Expected(orders, feed::TpchTable::kOrders, kTicks));
}

}  // namespace
}  // namespace weir::hydrate
