#include "weir/mem/block_allocator.h"

#include <cstring>
#include <random>
#include <thread>
#include <vector>

namespace weir::mem {
namespace {

TEST(BlockAllocator, RoundsUpByAtMostAQuarter) {
  for (int64_t bytes : {1, 63, 64, 65, 1000, 65535, 65536, 65537, 1 << 20, (1 << 20) + 1}) {
    const int64_t rounded = BlockAllocator::RoundUp(bytes);
    EXPECT_GE(rounded, bytes);
    EXPECT_EQ(rounded % 64, 0);
    EXPECT_EQ(BlockAllocator::RoundUp(rounded), rounded);
    if (bytes >= 4096) {
      EXPECT_LE(rounded, bytes + bytes / 4 + 4096) << bytes;
    }
  }
}

TEST(BlockAllocator, ObeysTheBudgetAndGivesKeptBlocksUpFirst) {
  Budget budget("process", 1 << 20);
  BlockAllocator blocks(budget, 1 << 20);
  uint8_t* first = blocks.Allocate(768 << 10).value();
  const auto refused = blocks.Allocate(512 << 10);
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.error().code, Code::kExhausted);
  blocks.Free(first, 768 << 10);
  EXPECT_EQ(blocks.kept_bytes(), 768 << 10);
  uint8_t* second = blocks.Allocate(512 << 10).value();  // Fits only without the kept block.
  EXPECT_EQ(blocks.kept_bytes(), 0);
  blocks.Free(second, 512 << 10);
}

// A kept block up to twice as large as asked for is as good as a new one, and stays what it is.
TEST(BlockAllocator, HandsOutTheLeastKeptBlockThatIsLargeEnough) {
  Budget budget("process", kUnlimited);
  BlockAllocator blocks(budget, 4 << 20);
  uint8_t* const large = blocks.Allocate(1 << 20).value();
  uint8_t* const middle = blocks.Allocate(512 << 10).value();
  blocks.Free(large, 1 << 20);
  blocks.Free(middle, 512 << 10);
  const int64_t charged = budget.used_bytes();
  uint8_t* block = blocks.Allocate(300 << 10).value();
  EXPECT_EQ(block, middle);
  block = blocks.Reallocate(block, 300 << 10, 500 << 10).value();
  EXPECT_EQ(block, middle);  // It had the room.
  uint8_t* const other = blocks.Allocate(200 << 10).value();
  EXPECT_NE(other, large);  // Five times as large: too good for it.
  blocks.Free(other, 200 << 10);
  EXPECT_EQ(budget.used_bytes(), charged + (224 << 10));
  block = blocks.Reallocate(block, 500 << 10, 100 << 10).value();
  blocks.Free(block, 100 << 10);
  EXPECT_EQ(budget.used_bytes(), blocks.kept_bytes());
}

// Blocks that grow by being moved leave addresses which other threads are given at once.
TEST(BlockAllocator, ManyThreadsGrowAndFree) {
  Budget budget("process", kUnlimited);
  {
    BlockAllocator blocks(budget, 1 << 20);
    std::vector<std::thread> threads;
    for (int seed = 0; seed < 4; ++seed) {
      threads.emplace_back([&blocks, seed] {
        std::mt19937_64 rng(static_cast<uint64_t>(seed));
        for (int step = 0; step < 2000; ++step) {
          const int64_t size = 1 + static_cast<int64_t>(rng() % (200 << 10));
          const int64_t next = 1 + static_cast<int64_t>(rng() % (800 << 10));
          uint8_t* block = blocks.Allocate(size).value();
          block[size - 1] = 1;
          block = blocks.Reallocate(block, size, next).value();
          block[next - 1] = 1;
          blocks.Free(block, next);
        }
      });
    }
    for (auto& thread : threads) thread.join();
    EXPECT_EQ(budget.used_bytes(), blocks.kept_bytes());
  }
  EXPECT_EQ(budget.used_bytes(), 0);
}

TEST(BlockAllocator, ForcedBlocksMayExceedTheLimit) {
  Budget budget("process", 1 << 10);
  BlockAllocator blocks(budget, 0);
  uint8_t* block = blocks.ForceAllocate(1 << 20);
  EXPECT_GT(budget.used_bytes(), budget.limit_bytes());
  blocks.Free(block, 1 << 20);
  EXPECT_EQ(budget.used_bytes(), 0);
}

// Goal:   contents survive any sequence of growing and shrinking, across the small/mapped border.
// Method: random sizes; every byte is checked after each step.
TEST(BlockAllocator, ReallocateKeepsContents) {
  const uint64_t seed = 7;
  std::mt19937_64 rng(seed);
  Budget budget("process", kUnlimited);
  BlockAllocator blocks(budget, 4 << 20);
  int64_t size = 100;
  uint8_t* block = blocks.Allocate(size).value();
  std::memset(block, 0xAB, static_cast<size_t>(size));
  for (int step = 0; step < 300; ++step) {
    const int64_t next = 1 + static_cast<int64_t>(rng() % (1 << (8 + rng() % 13)));
    block = blocks.Reallocate(block, size, next).value();
    ASSERT_EQ(reinterpret_cast<uintptr_t>(block) % 64, 0u);
    for (int64_t at = 0; at < std::min(size, next); ++at) ASSERT_EQ(block[at], 0xAB);
    std::memset(block, 0xAB, static_cast<size_t>(next));
    size = next;
  }
  blocks.Free(block, size);
  EXPECT_EQ(budget.used_bytes(), blocks.kept_bytes());
}

// More than there are addresses: an error, and what is there stays.
TEST(BlockAllocator, WhatTheKernelRefusesIsAnError) {
  constexpr int64_t kTooMuch = int64_t{1} << 47;
  constexpr int64_t kSome = 1 << 20;
  Budget budget("test", kUnlimited);
  BlockAllocator blocks(budget, 0);
  EXPECT_EQ(blocks.Allocate(kTooMuch).error().code, Code::kExhausted);
  EXPECT_EQ(budget.used_bytes(), 0);
  uint8_t* const block = blocks.Allocate(kSome).value();
  const int64_t before = budget.used_bytes();
  EXPECT_EQ(blocks.Reallocate(block, kSome, kTooMuch).error().code, Code::kExhausted);
  EXPECT_EQ(budget.used_bytes(), before);
  std::memset(block, 1, kSome);
  blocks.Free(block, kSome);
  EXPECT_EQ(budget.used_bytes(), 0);
}

}  // namespace
}  // namespace weir::mem
