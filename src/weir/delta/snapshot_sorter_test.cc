#include "weir/delta/snapshot_sorter.h"

#include <algorithm>
#include <map>
#include <random>
#include <thread>

#include "tests/support/pool.h"
#include "tests/support/seeds.h"
#include "weir/delta/record_internal.h"

namespace weir::delta {
namespace {

constexpr Time kAsOf = 7;

enum class Order { kRising, kRisingThenShuffled, kShuffled };

class SnapshotSorterTest : public testing::Test {
 protected:
  // Rows of eight-digit keys, one to three times each, in `order`.
  static std::vector<std::string> Rows(Order order, std::mt19937_64& rng) {
    std::vector<std::string> rows;
    for (int key = 0; key < 60'000; ++key) {
      std::string row = fmt::format("{:08}\x1f{}", key, std::string(rng() % 200, 'v')) + '\0';
      if (order != Order::kRising && rng() % 100 == 0) rows.push_back(row);
      rows.push_back(std::move(row));
    }
    if (order == Order::kShuffled) std::shuffle(rows.begin(), rows.end(), rng);
    if (order == Order::kRisingThenShuffled) std::shuffle(rows.begin() + 40'000, rows.end(), rng);
    return rows;
  }

  // Lane `lane` pushes every row whose number leaves `lane`: each lane keeps the order.
  void PushLane(SnapshotSorter& sorter, int lane, int lanes, const std::vector<std::string>& rows) {
    for (size_t at = static_cast<size_t>(lane); at < rows.size();) {
      table::EncodedRows encoded(blocks_);
      encoded.starts.Push(int64_t{0});
      for (; at < rows.size() && encoded.row_count < 1000; at += static_cast<size_t>(lanes)) {
        std::memcpy(encoded.bytes.Extend(std::ssize(rows[at]) + table::kRowSlack), rows[at].data(),
                    rows[at].size());
        encoded.bytes.DropBack(table::kRowSlack);
        encoded.starts.Push(encoded.bytes.size());
        encoded.key_sizes.Push(int32_t{9});
        ++encoded.row_count;
      }
      ASSERT_TRUE(sorter.Push(lane, encoded).ok());
    }
    ASSERT_TRUE(sorter.Close(lane).ok());
  }

  mem::Budget budget_{"test", mem::kUnlimited};
  mem::BlockAllocator blocks_{budget_, 0};
};

// Goal:   the same rows in the same order, whatever the number of lanes and shards, the budget and
//         the order in which they come.
// Method: against a map; lanes push and shards seal on threads of their own.
TEST_F(SnapshotSorterTest, TheSameBatchesFromAnyLanesShardsAndBudget) {
  for (const uint64_t seed : test::Seeds(1)) {
    SCOPED_TRACE(fmt::format("to repeat: WEIR_SEED={}", seed));
    for (const Order order : {Order::kRising, Order::kRisingThenShuffled, Order::kShuffled}) {
      std::mt19937_64 rng(seed);
      const auto rows = Rows(order, rng);
      std::map<std::string, Diff> want;
      for (const auto& row : rows) ++want[row];
      for (const int threads : {1, 3}) {
        test::SpillingPool spilling(threads == 1 ? mem::kUnlimited : 24 << 20);
        SnapshotOptions options;
        options.expected_bytes = 6 << 20;
        options.range_bytes = 64 << 10;
        SnapshotSorter sorter(spilling.pool(), options, kAsOf, threads, threads);
        std::vector<std::thread> running;
        for (int lane = 0; lane < threads; ++lane) {
          running.emplace_back([&, lane] { PushLane(sorter, lane, threads, rows); });
        }
        for (auto& thread : running) thread.join();
        running.clear();
        std::vector<std::unique_ptr<LeafBatch>> batches(static_cast<size_t>(threads));
        for (int shard = 0; shard < threads; ++shard) {
          running.emplace_back([&, shard] {
            batches[static_cast<size_t>(shard)] =
                sorter.Seal(shard, {Time{0}, kAsOf + 1, 0}).value();
          });
        }
        for (auto& thread : running) thread.join();
        std::map<std::string, Diff> read;
        for (int shard = 0; shard < threads; ++shard) {
          const auto cursor = batches[static_cast<size_t>(shard)]->Seek({}).value();
          std::string last;
          for (Update update; cursor->Next(update).value();) {
            const std::string row(AsText(update.row));
            EXPECT_LT(last, row);
            EXPECT_EQ(update.time, kAsOf);
            EXPECT_EQ(ShardOf(update.row.first(9), threads), shard);
            read[row] = update.diff;
            last = row;
          }
        }
        ASSERT_TRUE(read == want) << threads << " " << static_cast<int>(order);
      }
    }
  }
}

TEST_F(SnapshotSorterTest, NoRowsAreAnEmptyBatch) {
  test::SpillingPool spilling(mem::kUnlimited);
  SnapshotSorter sorter(spilling.pool(), {}, kAsOf, 2, 1);
  ASSERT_TRUE(sorter.Close(0).ok());
  for (const int shard : {0, 1}) {
    const auto batch = sorter.Seal(shard, {Time{0}, kAsOf + 1, 0}).value();
    EXPECT_EQ(batch->update_count(), 0);
    Update update;
    EXPECT_FALSE(batch->Seek({}).value()->Next(update).value());
  }
}

}  // namespace
}  // namespace weir::delta
