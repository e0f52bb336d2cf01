#include "weir/delta/leaf_batch.h"

#include "tests/support/faulty_pool.h"
#include "weir/table/row_codec.h"

namespace weir::delta {
namespace {

constexpr int kRows = 2'000;
constexpr int64_t kLeafBytes = 64 << 10;
constexpr mem::PoolOptions kNoThreads = {.spill_threads = 0};

// Rows differ in their first bytes only, so that fences are short.
std::string RowOf(int number) { return fmt::format("{:05}", number) + std::string(1000, 'v'); }

int NumberOf(Bytes row) { return std::stoi(std::string(AsText(row.first(5)))); }

Status Add(LeafBatchBuilder& builder, int number) {
  const std::string row = RowOf(number) + std::string(table::kRowSlack, '\0');
  return builder.Add({AsBytes(row).first(row.size() - table::kRowSlack), 5, 1, 1});
}

std::unique_ptr<LeafBatch> NewBatch(mem::Pool& pool) {
  LeafBatchBuilder builder(pool, kLeafBytes, 1);
  for (int number = 0; number < kRows; ++number) WEIR_ASSERT(Add(builder, number).ok());
  return builder.Finish({}).value();
}

// What stays in memory of a batch is charged, and no more than twice what it needs.
TEST(LeafBatch, FencesAndHandlesAreCharged) {
  test::FaultyPool faulty(8 << 20, kNoThreads);
  const auto held = [&] {
    while (faulty.pool().Reclaim(8 << 20) > 0) {
    }
    return faulty.budget().used_bytes();
  };
  const int64_t before = held();
  auto batch = NewBatch(faulty.pool());
  const int64_t leaves = batch->leaf_count();
  EXPECT_GT(leaves, 30);
  const int64_t beside = held() - before - leaves * mem::Pool::kStateBytes;
  const int64_t handles = static_cast<int64_t>(sizeof(mem::Page) + sizeof(uint32_t));
  EXPECT_GE(beside, leaves * (handles + 2));
  EXPECT_LE(beside, 2 * leaves * (handles + 5));
  EXPECT_LE(faulty.budget().peak_bytes(), 8 << 20);
  batch.reset();
  EXPECT_EQ(held(), before);
}

// Goal:   a cursor that met an error goes on where it was when it is asked again.
// Method: every other read of the spill file fails; each call is made until it succeeds.
TEST(LeafBatch, ACursorMaySucceedAfterAnError) {
  test::FaultyPool faulty(6 << 20, kNoThreads);
  const auto batch = NewBatch(faulty.pool());
  const auto pusher = NewBatch(faulty.pool());  // For which the first one is evicted.
  faulty.file().Inject(test::FileFault::kRead, 1, 0, 2);
  const auto cursor = batch->Seek({}).value();
  Update update;
  const auto next = [&] {
    auto more = cursor->Next(update);
    while (!more.ok()) more = cursor->Next(update);
    return more.value();
  };
  for (int number = 0; number < kRows; ++number) {
    if (number % 300 == 200) {
      number += number % 200;  // On the same leaf, or some leaves on.
      const std::string row = RowOf(number);
      while (!cursor->SkipTo(AsBytes(row)).ok()) {
      }
    }
    ASSERT_TRUE(next());
    ASSERT_EQ(NumberOf(update.row), number);
  }
  for (int again = 0; again < 2; ++again) EXPECT_FALSE(next());
  EXPECT_TRUE(cursor->SkipTo(AsBytes(RowOf(kRows))).ok());
  EXPECT_GT(faulty.file().injected(), 10);
}

}  // namespace
}  // namespace weir::delta
