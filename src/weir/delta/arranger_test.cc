#include "weir/delta/arranger.h"

#include <map>
#include <random>

#include "tests/support/pool.h"
#include "tests/support/seeds.h"
#include "weir/delta/record_internal.h"

namespace weir::delta {
namespace {

using Collection = std::map<std::string, std::map<Time, Diff>>;

struct TestUpdate {
  std::string row;
  int32_t key_size;
  Time time;
  Diff diff;
};

// Rows as a codec writes them: none is the beginning of another. Few keys, so that many meet.
TestUpdate RandomUpdate(std::mt19937_64& rng, Time earliest, int64_t most_value_bytes) {
  const std::string key = fmt::format("k{:02}\x1f", rng() % 12);
  std::string value(rng() % 4 == 0 ? rng() % static_cast<uint64_t>(most_value_bytes) : rng() % 3,
                    static_cast<char>('a' + rng() % 2));
  return {key + value + '\0', static_cast<int32_t>(key.size()), earliest + rng() % 3,
          rng() % 2 == 0 ? 1 : -1};
}

struct Variant {
  BatcherKind kind;
  int workers;
};

class ArrangerTest : public testing::TestWithParam<Variant> {
 protected:
  static constexpr Time kAsOf = 10;

  void Make(int64_t pool_bytes) {
    arranger_.reset();
    spilling_ = std::make_unique<test::SpillingPool>(pool_bytes);
    ArrangerOptions arranger;
    arranger.kind = GetParam().kind;
    arranger.worker_count = GetParam().workers;
    arranger.as_of = kAsOf;
    arranger.ladder.chunk_bytes = 64 << 10;
    arranger.snapshot.leaf_bytes = 64 << 10;
    arranger.snapshot.range_bytes = 8 << 10;
    arranger_ = NewArranger(arranger, spilling_->pool(), blocks_);
  }

  void Push(const std::vector<TestUpdate>& updates) {
    for (const TestUpdate& update : updates) {
      table::EncodedRows rows(blocks_);
      rows.starts.Push(int64_t{0});
      std::memcpy(rows.bytes.Extend(std::ssize(update.row) + table::kRowSlack), update.row.data(),
                  update.row.size());
      rows.bytes.DropBack(table::kRowSlack);
      rows.starts.Push(std::ssize(update.row));
      rows.key_sizes.Push(update.key_size);
      rows.row_count = 1;
      const int worker = next_worker_++ % GetParam().workers;
      ASSERT_TRUE(arranger_->Push(worker, rows, update.time, update.diff).ok());
      if (next_worker_ % 1000 == 0) ReceiveAll();
    }
  }

  // One thread plays all workers: none may wait for another.
  void ReceiveAll() {
    for (int worker = 0; worker < GetParam().workers; ++worker) {
      ASSERT_TRUE(arranger_->Receive(worker).ok());
    }
  }

  using Batches = std::vector<std::unique_ptr<Batch>>;

  // Of all shards.
  Batches Seal(Frontier upper) {
    Batches batches;
    for (int worker = 0; worker < GetParam().workers; ++worker) {
      EXPECT_TRUE(arranger_->Finish(worker).ok());
    }
    for (int worker = 0; worker < GetParam().workers; ++worker) {
      EXPECT_TRUE(arranger_->Receive(worker).ok());
      batches.push_back(arranger_->Seal(worker, upper).value());
      EXPECT_EQ(batches.back()->description().upper, upper);
    }
    return batches;
  }

  // Reads from `from` on, and checks what batches promise.
  static Collection Read(const Batches& batches, const std::string& from = "") {
    Collection read;
    for (size_t shard = 0; shard < batches.size(); ++shard) {
      const auto cursor = batches[shard]->Seek(AsBytes(from)).value();
      std::pair<std::string, Time> last;
      for (Update update; cursor->Next(update).value();) {
        const std::string row(AsText(update.row));
        EXPECT_LT(last, std::pair(row, update.time + 1));
        EXPECT_GE(row, from);
        EXPECT_NE(update.diff, 0);
        EXPECT_EQ(update.key_size, 4) << row;
        EXPECT_EQ(ShardOf(update.row.first(4), static_cast<int>(batches.size())),
                  static_cast<int>(shard));
        EXPECT_TRUE(read[row].emplace(update.time, update.diff).second);
        last = {row, update.time + 1};
      }
    }
    return read;
  }

  mem::Budget budget_{"test", mem::kUnlimited};
  mem::BlockAllocator blocks_{budget_, 0};
  std::unique_ptr<test::SpillingPool> spilling_;
  std::unique_ptr<Arranger> arranger_;
  int next_worker_ = 0;
};

void AddTo(Collection& collection, const TestUpdate& update) {
  auto& times = collection[update.row];
  if ((times[update.time] += update.diff) == 0) times.erase(update.time);
  if (times.empty()) collection.erase(update.row);
}

Collection Before(const Collection& collection, Time upper) {
  Collection before;
  for (const auto& [row, times] : collection) {
    for (const auto& [time, diff] : times) {
      if (time < upper) before[row][time] = diff;
    }
  }
  return before;
}

// Goal:   batches hold exactly the updates before their upper, from any batcher, in any number of
//         shards and any budget.
// Method: random updates against a map, sealed at rising times; reads from the start and from rows
//         that are and are not there.
TEST_P(ArrangerTest, BatchesAgreeWithAMap) {
  for (const uint64_t seed : test::Seeds(4)) {
    SCOPED_TRACE(fmt::format("to repeat: WEIR_SEED={}", seed));
    for (const int64_t pool_bytes : {int64_t{14} << 20, mem::kUnlimited}) {
      std::mt19937_64 rng(seed);
      Make(pool_bytes);
      Collection want;
      for (Time lower = kAsOf; lower < kAsOf + 6; lower += 2) {
        std::vector<TestUpdate> updates;
        const uint64_t count = rng() % 2 == 0 ? rng() % 20 : rng() % 4000;
        const int64_t widest = seed % 4 == 0 ? 300'000 : 300;
        for (uint64_t left = widest > 1000 ? count % 200 : count; left > 0; --left) {
          updates.push_back(RandomUpdate(rng, lower, widest));
          if (lower == kAsOf && seed % 2 == 0) updates.back().time = kAsOf, updates.back().diff = 1;
          AddTo(want, updates.back());
        }
        Push(updates);
        const Batches batch = Seal(lower + 2);
        const Collection shipped = Before(want, lower + 2);
        ASSERT_EQ(Read(batch), shipped);
        for (int probe = 0; probe < 20; ++probe) {
          std::string from = RandomUpdate(rng, 0, 300).row;
          from.resize(rng() % (from.size() + 1));
          Collection rest = shipped;
          rest.erase(rest.begin(), rest.lower_bound(from));
          ASSERT_EQ(Read(batch, from), rest) << from;
        }
        for (const auto& [row, times] : shipped) {
          for (const auto& [time, diff] : times) AddTo(want, {row, 4, time, -diff});
        }
      }
      ASSERT_EQ(Read(Seal({})), want);
    }
  }
}

// A snapshot of many rows, in any order: once in order, once with every row twice.
TEST_P(ArrangerTest, ASnapshotLargerThanMemoryIsSorted) {
  for (const bool in_order : {true, false}) {
    Make(14 << 20);
    std::vector<TestUpdate> updates;
    std::mt19937_64 rng(3);
    for (int at = 0; at < 50'000; ++at) {
      updates.push_back({fmt::format("{:03}\x1f{:08}{}", at / 1000, at, std::string(200, 'x')), 4,
                         kAsOf, 1});
    }
    Collection want;
    for (const TestUpdate& update : updates) AddTo(want, update);
    if (!in_order) {
      for (int at = 0; at < 1000; ++at) {
        updates.push_back(updates[rng() % 50'000]);
        AddTo(want, updates.back());
      }
      std::shuffle(updates.begin(), updates.end(), rng);
    }
    Push(updates);
    EXPECT_TRUE(Read(Seal(kAsOf + 1)) == want);
    if (GetParam().kind != BatcherKind::kLegacy) {
      EXPECT_GT(spilling_->pool().counters().extent_bytes_written, 0);
    }
  }
}

// Rows that no choice of ranges spreads: most are the same, or differ only far behind.
TEST_P(ArrangerTest, SkewedSnapshotsAreSortedInLittleMemory) {
  enum class Skew { kSameRows, kLongSharedStart, kOneKey };
  for (const Skew skew : {Skew::kSameRows, Skew::kLongSharedStart, Skew::kOneKey}) {
    Make(20 << 20);
    std::mt19937_64 rng(4);
    std::vector<TestUpdate> updates;
    for (int at = 0; at < 60'000; ++at) {
      const bool usual = rng() % 10 != 0;
      std::string row = fmt::format("{:03}\x1f", usual ? 500 : rng() % 1000);
      if (skew == Skew::kLongSharedStart) row += std::string(300, 'x');
      const bool same = skew == Skew::kSameRows && usual;
      row += fmt::format("{:08}", same ? 0 : at);
      row += std::string(skew == Skew::kLongSharedStart ? 50 : 350, 'y');
      updates.push_back({row, 4, kAsOf, 1});
    }
    Collection want;
    for (const TestUpdate& update : updates) AddTo(want, update);
    Push(updates);
    EXPECT_TRUE(Read(Seal(kAsOf + 1)) == want) << static_cast<int>(skew);
  }
}

INSTANTIATE_TEST_SUITE_P(
    All, ArrangerTest,
    testing::Values(Variant{BatcherKind::kLegacy, 1}, Variant{BatcherKind::kLegacy, 3},
                    Variant{BatcherKind::kPaged, 1}, Variant{BatcherKind::kPaged, 3},
                    Variant{BatcherKind::kSnapshot, 1}, Variant{BatcherKind::kSnapshot, 3}),
    [](const auto& info) {
      return fmt::format("{}_{}", BatcherName(info.param.kind), info.param.workers);
    });

}  // namespace
}  // namespace weir::delta
