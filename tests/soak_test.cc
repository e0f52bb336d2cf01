// Hours in little: an engine that ticks, in an eighth of the memory that its indexes take, watched
// all the time. Seconds by default; half an hour under WEIR_LONG; WEIR_SOAK_SECONDS=n otherwise.
#include <gtest/gtest.h>

#include <cstdlib>
#include <map>
#include <thread>

#include "tests/support/engine_memory.h"
#include "tests/support/folder.h"
#include "tests/support/watched_source.h"
#include "weir/base/units.h"
#include "weir/feed/tpch_source.h"
#include "weir/hydrate/engine.h"
#include "weir/sys/hash.h"
#include "weir/sys/process.h"

namespace weir {
namespace {

constexpr int64_t kMiB = 1 << 20;
constexpr int kPressure = 8;
constexpr sys::Duration kTick = std::chrono::milliseconds(1);

const std::vector<hydrate::IndexPlan> kIndexes = {
    {"lines_by_order", "lineitem", {"l_orderkey", "l_linenumber"}},
    {"lines_by_part", "lineitem", {"l_partkey", "l_suppkey"}},
    {"lines_by_day", "lineitem", {"l_shipdate"}},
    {"lines_by_text", "lineitem", {"l_comment"}},
    {"orders_by_customer", "orders", {"o_custkey"}},
};

std::chrono::seconds SoakTime() {
  if (const char* seconds = std::getenv("WEIR_SOAK_SECONDS")) {
    return std::chrono::seconds(std::atoi(seconds));
  }
  return std::chrono::seconds(std::getenv("WEIR_LONG") != nullptr ? 30 * 60 : 3);
}

using Digests = std::map<std::string, hydrate::Index::Digest>;

// What the indexes should hold: what they held once, and every change that was handed out since.
class Oracle {
 public:
  explicit Oracle(Digests before) : digests_(std::move(before)) {}

  /// Whose codecs are used.
  void Watch(const hydrate::Engine& engine) { engine_ = &engine; }
  void Note(const std::vector<feed::TableChange>& changes) {
    for (const feed::TableChange& change : changes) NoteOne(change);
  }
  const Digests& digests() const { return digests_; }

 private:
  void NoteOne(const feed::TableChange& change) {
    for (const auto& plan : kIndexes) {
      if (plan.table != change.table) continue;
      table::EncodedRows rows(blocks_);
      engine_->FindIndex(plan.name)->codec().Encode(change.rows, 0, change.rows.row_count, rows);
      auto& digest = digests_[plan.name];
      digest.rows += change.diff * rows.row_count;
      for (int64_t at = 0; at < rows.row_count; ++at) {
        digest.sum += static_cast<unsigned __int128>(static_cast<__int128>(change.diff)) *
                      sys::Xxh3(rows.row(at));
      }
    }
  }

  const hydrate::Engine* engine_ = nullptr;
  mem::Budget budget_{"oracle", mem::kUnlimited};
  mem::BlockAllocator blocks_{budget_, kMiB};
  Digests digests_;
};

// The most that this process held, and the most that its ledger was off by, while this lives.
class MemoryWatch {
 public:
  explicit MemoryWatch(const mem::Budget& ledger)
      : thread_([this, &ledger] {
          sys::RealClock clock;
          while (!done_.asked()) {
            const int64_t held = sys::ReadProcessUsage().anonymous_bytes;
            held_ = std::max(held_.load(), held);
            apart_ = std::max(apart_.load(), std::abs(ledger.used_bytes() - held) - held / 20);
            clock.Wait(std::chrono::milliseconds(2), done_);
          }
        }) {}
  ~MemoryWatch() {
    done_.Ask();
    thread_.join();
  }
  int64_t most_held() const { return held_; }
  /// Beyond 5 %.
  int64_t most_apart() const { return apart_; }

 private:
  sys::Stop done_;
  std::atomic<int64_t> held_{0};
  std::atomic<int64_t> apart_{0};
  std::thread thread_;
};

class Soak : public testing::Test {
 protected:
  static std::unique_ptr<feed::Source> Tpch() {
    return feed::NewTpchSource({.scale_factor = 0.1, .seed = 11, .tick_interval = kTick});
  }
  static Digests DigestsOf(const hydrate::Engine& engine) {
    Digests digests;
    for (const auto& status : engine.statuses()) {
      EXPECT_EQ(status.stage, hydrate::Stage::kHydrated) << status.name;
      if (!status.frontier.has_value()) continue;
      const auto digest = engine.FindIndex(status.name)->DigestAt(*status.frontier - 1, {});
      EXPECT_TRUE(digest.ok()) << digest.error().message;
      if (digest.ok()) digests[status.name] = digest.value();
    }
    return digests;
  }
  std::unique_ptr<hydrate::Engine> Make(std::unique_ptr<feed::Source> source,
                                        int64_t memory_bytes) {
    hydrate::EngineOptions options;
    options.spill_folder = folder_.path();
    options.worker_count = 2;
    options.memory_bytes = memory_bytes;
    options.pool.reserve_bytes = 2 * kMiB;
    auto engine = hydrate::Engine::Make(options, clock_).value();
    EXPECT_TRUE(engine->AddSource("t", std::move(source)).ok());
    for (const auto& plan : kIndexes) EXPECT_TRUE(engine->AddIndex(plan).ok());
    const auto done = engine->Hydrate(stop_);
    EXPECT_TRUE(done.ok()) << done.error().message;
    return engine;
  }

  test::TempFolder folder_;
  sys::ManualClock clock_;
  sys::Stop stop_;
};

TEST_F(Soak, IndexesStayRightInAnEighthOfTheirMemory) {
  int64_t data_bytes = 0;
  Digests before;
  {
    const auto unlimited = Make(Tpch(), mem::kUnlimited);
    data_bytes = unlimited->counters().resident_bytes;
    before = DigestsOf(*unlimited);
  }
  Oracle oracle(std::move(before));
  const int64_t memory_bytes = test::EngineMemory(data_bytes / kPressure);
  auto watched = std::make_unique<test::WatchedSource>(
      Tpch(), [&](const auto& changes) { oracle.Note(changes); });
  const auto engine = Make(std::move(watched), memory_bytes);
  oracle.Watch(*engine);
  ASSERT_EQ(DigestsOf(*engine), oracle.digests());

  const MemoryWatch watch(engine->budget());
  const sys::Duration end = sys::SteadyNow() + SoakTime();
  int64_t ticks = 0;
  int64_t checks = 0;
  while (sys::SteadyNow() < end || checks < 2) {
    constexpr int kTicks = 500;
    clock_.Advance(kTicks * kTick);
    const auto applied = engine->ApplyDueTicks(stop_);
    ASSERT_TRUE(applied.ok()) << applied.error().message;
    ticks += kTicks;
    ASSERT_EQ(DigestsOf(*engine), oracle.digests()) << "after " << ticks << " ticks";
    ++checks;
    ASSERT_LE(watch.most_held(), memory_bytes);
    ASSERT_LE(watch.most_apart(), 32 * kMiB);
    ASSERT_LE(engine->budget().peak_bytes(), memory_bytes);
  }
  const auto counters = engine->counters();
  EXPECT_GT(counters.extent_raw_bytes_written, data_bytes * (kPressure - 1) / kPressure);
  fmt::print("{} of indexes in {}: {} ticks, {} checks, {} held at most, {} written, {} read\n",
             FormatBytes(data_bytes), FormatBytes(data_bytes / kPressure), ticks, checks,
             FormatBytes(watch.most_held()), FormatBytes(counters.extent_raw_bytes_written),
             FormatBytes(counters.extent_bytes_read));
}

}  // namespace
}  // namespace weir
