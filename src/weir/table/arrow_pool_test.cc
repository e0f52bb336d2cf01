#include "weir/table/arrow_pool.h"

#include <arrow/status.h>

#include <cstring>

#include "weir/table/arrow_batch.h"

namespace weir::table {
namespace {

constexpr int64_t kAlignment = 64;

TEST(ArrowPool, ChargesWhatArrowHoldsAndGivesItBack) {
  mem::Budget budget("test", mem::kUnlimited);
  mem::BlockAllocator blocks(budget, 0);
  ArrowPool pool(blocks);
  uint8_t* block = nullptr;
  ASSERT_TRUE(pool.Allocate(1000, kAlignment, &block).ok());
  EXPECT_EQ(reinterpret_cast<uintptr_t>(block) % kAlignment, 0U);
  std::memset(block, 7, 1000);
  EXPECT_EQ(pool.bytes_allocated(), 1000);
  EXPECT_GE(budget.used_bytes(), 1000);
  ASSERT_TRUE(pool.Reallocate(1000, 5'000'000, kAlignment, &block).ok());
  for (int at = 0; at < 1000; ++at) ASSERT_EQ(block[at], 7);
  EXPECT_EQ(pool.bytes_allocated(), 5'000'000);
  ASSERT_TRUE(pool.Reallocate(5'000'000, 10, kAlignment, &block).ok());
  EXPECT_EQ(block[9], 7);
  pool.Free(block, 10, kAlignment);
  EXPECT_EQ(pool.bytes_allocated(), 0);
  EXPECT_EQ(budget.used_bytes(), 0);
  EXPECT_EQ(pool.max_memory(), 5'000'000);
}

TEST(ArrowPool, ZeroBytesAreABlockToo) {
  mem::Budget budget("test", 0);
  mem::BlockAllocator blocks(budget, 0);
  ArrowPool pool(blocks);
  uint8_t* block = nullptr;
  ASSERT_TRUE(pool.Allocate(0, kAlignment, &block).ok());
  EXPECT_NE(block, nullptr);
  pool.Free(block, 0, kAlignment);
  budget.SetLimit(1 << 20);
  ASSERT_TRUE(pool.Allocate(0, kAlignment, &block).ok());
  ASSERT_TRUE(pool.Reallocate(0, 100, kAlignment, &block).ok());
  ASSERT_TRUE(pool.Reallocate(100, 0, kAlignment, &block).ok());
  EXPECT_EQ(budget.used_bytes(), 0);
  pool.Free(block, 0, kAlignment);
}

TEST(ArrowPool, AFullBudgetIsOutOfMemoryAndSoExhausted) {
  mem::Budget budget("small", 10'000);
  mem::BlockAllocator blocks(budget, 0);
  ArrowPool pool(blocks);
  uint8_t* block = nullptr;
  const arrow::Status refused = pool.Allocate(20'000, kAlignment, &block);
  EXPECT_TRUE(refused.IsOutOfMemory());
  EXPECT_EQ(FromArrow(refused).code, Code::kExhausted);
  EXPECT_NE(FromArrow(refused).message.find("'small' is full"), std::string::npos);
  ASSERT_TRUE(pool.Allocate(5000, kAlignment, &block).ok());
  block[4999] = 9;
  EXPECT_TRUE(pool.Reallocate(5000, 20'000, kAlignment, &block).IsOutOfMemory());
  EXPECT_EQ(block[4999], 9) << "a refused growth leaves the block as it was";
  EXPECT_EQ(pool.bytes_allocated(), 5000);
  pool.Free(block, 5000, kAlignment);
  EXPECT_EQ(budget.used_bytes(), 0);
}

TEST(ArrowPool, StrongerAlignmentIsRefused) {
  mem::Budget budget("test", mem::kUnlimited);
  mem::BlockAllocator blocks(budget, 0);
  ArrowPool pool(blocks);
  uint8_t* block = nullptr;
  EXPECT_FALSE(pool.Allocate(100, 128, &block).ok());
}

}  // namespace
}  // namespace weir::table
