#include "weir/hydrate/lookup.h"

#include <map>
#include <random>

#include "tests/support/folder.h"
#include "tests/support/seeds.h"
#include "weir/feed/tpch_source.h"
#include "weir/hydrate/digest.h"
#include "weir/hydrate/engine.h"
#include "weir/hydrate/probe.h"

namespace weir::hydrate {
namespace {

// Rows and how often each is there, in their order.
using Rows = std::map<std::string, delta::Diff>;

struct Shape {
  delta::BatcherKind batcher;
  int workers;
};

class LookupTest : public testing::TestWithParam<Shape> {
 protected:
  // Lines by order, two ticks after they were hydrated.
  void Hydrate() {
    EngineOptions options;
    options.batcher = GetParam().batcher;
    options.worker_count = GetParam().workers;
    options.spill_folder = folder_.path();
    engine_ = Engine::Make(options, clock_).value();
    ASSERT_TRUE(engine_
                    ->AddSource("tpch", feed::NewTpchSource({.scale_factor = 0.01,
                                                             .seed = 7,
                                                             .tick_interval = kTick}))
                    .ok());
    ASSERT_TRUE(engine_->AddIndex({"lines", "lineitem", {"l_orderkey"}}).ok());
    ASSERT_TRUE(engine_->Hydrate(stop_).ok());
    clock_.Advance(2 * kTick);
    ASSERT_TRUE(engine_->ApplyDueTicks(stop_).ok());
    lines_ = engine_->FindIndex("lines");
  }
  delta::Time Now() const { return lines_->frontier() - 1; }

  Rows Read(Bytes from) const {
    Rows rows;
    std::string last;
    const auto cursor = lines_->ReadAt(Now(), from).value();
    for (delta::Update update; cursor->Next(update).value();) {
      const std::string row(AsText(update.row));
      EXPECT_LT(last, row);
      EXPECT_GT(update.diff, 0);
      rows[row] = update.diff;
      last = row;
      key_sizes_[row] = update.key_size;
    }
    return rows;
  }
  std::string KeyOf(const std::string& row) const {
    return row.substr(0, static_cast<size_t>(key_sizes_.at(row)));
  }

  static constexpr sys::Duration kTick = std::chrono::milliseconds(10);
  test::TempFolder folder_;
  sys::ManualClock clock_;
  sys::Stop stop_;
  mem::Budget budget_{"probe", mem::kUnlimited};
  mem::BlockAllocator blocks_{budget_, 0};
  std::unique_ptr<Engine> engine_;
  const Index* lines_ = nullptr;
  mutable std::map<std::string, int32_t> key_sizes_;
};

// Keys that are there and keys that are not, in rising order: what a read of everything has.
TEST_P(LookupTest, FindsWhatAReadOfAllHas) {
  ASSERT_NO_FATAL_FAILURE(Hydrate());
  const Rows all = Read({});
  std::map<std::string, Rows> by_key;
  for (const auto& [row, diff] : all) by_key[KeyOf(row)][row] = diff;
  ASSERT_GT(by_key.size(), 10'000U);
  for (const uint64_t seed : test::Seeds(4)) {
    SCOPED_TRACE(seed);
    std::mt19937_64 rng(seed);
    Lookup lookup(*lines_, Now());
    for (const auto& [key, rows] : by_key) {
      if (rng() % 5 != 0) continue;
      if (rng() % 3 == 0 && key.back() != 0) {  // Order keys have gaps; this may lie in one.
        std::string absent = key;
        absent.back() = static_cast<char>(absent.back() - 1);
        if (!by_key.contains(absent)) {
          ASSERT_TRUE(lookup.Find(AsBytes(absent), [](const auto&) { FAIL(); }).ok());
        }
      }
      Rows found;
      ASSERT_TRUE(lookup
                      .Find(AsBytes(key),
                            [&](const delta::Update& update) {
                              found[std::string(AsText(update.row))] = update.diff;
                            })
                      .ok());
      ASSERT_EQ(found, rows);
    }
    ASSERT_TRUE(lookup.Find(AsBytes("\xff"), [](const auto&) { FAIL(); }).ok());
  }
}

TEST_P(LookupTest, RangesBeginWhereTheyAreAskedTo) {
  ASSERT_NO_FATAL_FAILURE(Hydrate());
  const Rows all = Read({});
  for (const size_t skipped : {size_t{1}, all.size() / 3, all.size() - 1}) {
    const auto first = std::next(all.begin(), static_cast<int64_t>(skipped));
    EXPECT_EQ(Read(AsBytes(first->first)), Rows(first, all.end()));
    EXPECT_EQ(Read(AsBytes(KeyOf(first->first))),
              Rows(all.lower_bound(KeyOf(first->first)), all.end()));
  }
}

// The same keys and the same answers, however an index was built.
TEST_P(LookupTest, ProbesAnswerTheSameFromEveryBatcher) {
  static std::map<ProbeOrder, uint64_t> want;
  static std::string want_hash;
  ASSERT_NO_FATAL_FAILURE(Hydrate());
  for (const ProbeOrder order : {ProbeOrder::kSorted, ProbeOrder::kRandom}) {
    const auto probed = Probe(*lines_, Now(), 5'000, order, blocks_, stop_);
    ASSERT_TRUE(probed.ok()) << probed.error().message;
    EXPECT_EQ(probed.value().probes, 5'000);
    EXPECT_GT(probed.value().rows, 5'000);
    EXPECT_EQ(probed.value().digest, want.emplace(order, probed.value().digest).first->second);
  }
  EXPECT_EQ(want[ProbeOrder::kSorted], want[ProbeOrder::kRandom]);
  // More than there are keys: each once, and so every row.
  const auto sorted = Probe(*lines_, Now(), 1'000'000, ProbeOrder::kSorted, blocks_, stop_).value();
  const auto random = Probe(*lines_, Now(), 1'000'000, ProbeOrder::kRandom, blocks_, stop_).value();
  EXPECT_EQ(sorted.probes, random.probes);
  EXPECT_EQ(sorted.digest, random.digest);
  EXPECT_EQ(sorted.rows, lines_->DigestAt(Now(), stop_).value().rows);
  const std::string hash = ContentHashOf(*lines_, Now(), blocks_, stop_).value();
  if (want_hash.empty()) want_hash = hash;
  EXPECT_EQ(hash, want_hash);
}

TEST_P(LookupTest, AStopEndsProbesAndDigests) {
  ASSERT_NO_FATAL_FAILURE(Hydrate());
  stop_.Ask();
  EXPECT_EQ(Probe(*lines_, Now(), 10, ProbeOrder::kSorted, blocks_, stop_).error().code,
            Code::kCancelled);
  EXPECT_EQ(lines_->DigestAt(Now(), stop_).error().code, Code::kCancelled);
  EXPECT_EQ(ContentHashOf(*lines_, Now(), blocks_, stop_).error().code, Code::kCancelled);
}

INSTANTIATE_TEST_SUITE_P(Shapes, LookupTest,
                         testing::Values(Shape{delta::BatcherKind::kSnapshot, 1},
                                         Shape{delta::BatcherKind::kSnapshot, 3},
                                         Shape{delta::BatcherKind::kLegacy, 2},
                                         Shape{delta::BatcherKind::kPaged, 2}),
                         [](const auto& shape) {
                           return std::string(delta::BatcherName(shape.param.batcher)) +
                                  std::to_string(shape.param.workers);
                         });

}  // namespace
}  // namespace weir::hydrate
