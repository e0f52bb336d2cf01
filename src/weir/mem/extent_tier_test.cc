#include "weir/mem/extent_tier.h"

#include <atomic>
#include <random>
#include <thread>

#include "tests/support/folder.h"
#include "tests/support/seeds.h"
#include "weir/sys/process.h"

namespace weir::mem {
namespace {

constexpr int64_t kBlock = sys::kScratchBlock;

// A piece of `blocks` blocks, its bytes all the same.
class Piece {
 public:
  Piece(int64_t blocks, uint8_t value)
      : bytes_(static_cast<uint8_t*>(std::aligned_alloc(kBlock, Size(blocks)))),
        size_(blocks * kBlock) {
    std::memset(bytes_, value, Size(blocks));
  }
  ~Piece() { std::free(bytes_); }
  Piece(const Piece&) = delete;
  Piece& operator=(const Piece&) = delete;

  std::span<uint8_t> span() const { return {bytes_, static_cast<size_t>(size_)}; }
  Bytes bytes() const { return span(); }
  bool IsAll(uint8_t value) const {
    return std::all_of(bytes_, bytes_ + size_, [&](uint8_t byte) { return byte == value; });
  }

 private:
  static size_t Size(int64_t blocks) { return static_cast<size_t>(blocks * kBlock); }
  uint8_t* const bytes_;
  const int64_t size_;
};

class ExtentTierTest : public testing::Test {
 protected:
  Status Write(int64_t block, int64_t blocks, uint8_t value) {
    const Piece piece(blocks, value);
    const Bytes bytes = piece.bytes();
    return tier_.Write({block * kBlock, blocks * kBlock}, {&bytes, 1});
  }
  bool Holds(int64_t block, int64_t blocks, uint8_t value) {
    const Piece piece(blocks, static_cast<uint8_t>(~value));
    return tier_.Read({block * kBlock, blocks * kBlock}, piece.span()).ok() && piece.IsAll(value);
  }
  bool IsInFile(int64_t block, int64_t blocks, uint8_t value) {
    const Piece piece(blocks, static_cast<uint8_t>(~value));
    return file_.Read(block * kBlock, piece.span()).ok() && piece.IsAll(value);
  }

  test::TempFolder folder_;
  Budget budget_{"tier", 4 * kBlock};
  sys::FailingScratchFile file_{sys::OpenScratchFile(folder_.path()).value(),
                                Fail(Code::kUnavailable, "the device is gone")};
  ExtentTier tier_{file_, budget_};
};

TEST_F(ExtentTierTest, TheOldestGoToTheFileWhenTheBudgetRefuses) {
  ASSERT_TRUE(Write(0, 2, 1).ok());
  ASSERT_TRUE(Write(2, 2, 2).ok());
  EXPECT_EQ(tier_.held_bytes(), 4 * kBlock);
  EXPECT_FALSE(IsInFile(0, 2, 1));
  ASSERT_TRUE(Write(10, 1, 3).ok());
  EXPECT_TRUE(IsInFile(0, 2, 1));
  EXPECT_TRUE(IsInFile(2, 2, 2));  // They lie side by side: one write took both.
  EXPECT_EQ(tier_.held_bytes(), kBlock);
  EXPECT_TRUE(Holds(0, 2, 1));
  EXPECT_TRUE(Holds(2, 2, 2));
  EXPECT_TRUE(Holds(10, 1, 3));
  ASSERT_TRUE(Write(20, 5, 4).ok());  // Larger than the whole budget.
  EXPECT_TRUE(IsInFile(20, 5, 4));
  tier_.Free({0, 100 * kBlock});
  EXPECT_EQ(tier_.held_bytes(), 0);
}

TEST_F(ExtentTierTest, WhatIsFreedNeverGetsToTheFile) {
  ASSERT_TRUE(Write(0, 4, 1).ok());
  tier_.Free({0, 4 * kBlock});
  ASSERT_TRUE(Write(0, 4, 2).ok());
  ASSERT_TRUE(Write(4, 1, 3).ok());
  EXPECT_TRUE(IsInFile(0, 4, 2));
  tier_.Free({0, 5 * kBlock});
}

TEST_F(ExtentTierTest, AFailedWriteLosesNothing) {
  ASSERT_TRUE(Write(0, 3, 1).ok());
  file_.Fail(sys::FailingScratchFile::Step::kWrite, 0, 1);
  EXPECT_EQ(Write(3, 2, 2).error().code, Code::kUnavailable);
  EXPECT_EQ(file_.strikes(), 1);
  EXPECT_TRUE(Holds(0, 3, 1));
  ASSERT_TRUE(Write(3, 2, 2).ok());
  EXPECT_TRUE(IsInFile(0, 3, 1));
  EXPECT_TRUE(Holds(3, 2, 2));
  tier_.Free({0, 5 * kBlock});
}

TEST_F(ExtentTierTest, GivesUpTheOldestAndObeysALoweredLimit) {
  for (int64_t at = 0; at < 4; ++at) ASSERT_TRUE(Write(10 * at, 1, static_cast<uint8_t>(at)).ok());
  EXPECT_EQ(tier_.GiveUp(1).value(), kBlock);
  EXPECT_TRUE(IsInFile(0, 1, 0));
  EXPECT_FALSE(IsInFile(10, 1, 1));
  budget_.SetLimit(kBlock);
  ASSERT_TRUE(tier_.Shrink().ok());
  EXPECT_EQ(tier_.held_bytes(), kBlock);
  EXPECT_TRUE(IsInFile(20, 1, 2));
  EXPECT_FALSE(IsInFile(30, 1, 3));
  file_.Fail(sys::FailingScratchFile::Step::kWrite, 0, 1);
  EXPECT_EQ(tier_.GiveUp(kBlock).error().code, Code::kUnavailable);
  EXPECT_EQ(tier_.GiveUp(100 * kBlock).value(), kBlock);
  EXPECT_EQ(tier_.GiveUp(kBlock).value(), 0);
  for (int64_t at = 0; at < 4; ++at) EXPECT_TRUE(Holds(10 * at, 1, static_cast<uint8_t>(at)));
  tier_.Free({0, 100 * kBlock});
}

// What comes and goes leaves no memory behind.
TEST_F(ExtentTierTest, MemoryGrowsByWhatIsHeldOnly) {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  GTEST_SKIP() << "the sanitizer keeps what is freed, or as much again";
#endif
  budget_.SetLimit(64 << 20);
  const int64_t before = sys::ReadProcessUsage().anonymous_bytes;
  std::mt19937_64 rng(1);
  constexpr int64_t kPieces = 512;
  std::array<int64_t, kPieces> blocks{};
  for (int round = 0; round < 20'000; ++round) {
    const auto place = static_cast<int64_t>(rng() % kPieces);
    int64_t& held = blocks[static_cast<size_t>(place)];
    if (held > 0) tier_.Free({place * 64 * kBlock, held * kBlock});
    held = held > 0 ? 0 : 1 + static_cast<int64_t>(rng() % 32);
    if (held == 0) continue;
    ASSERT_TRUE(Write(place * 64, held, 1).ok());
  }
  const int64_t grown = sys::ReadProcessUsage().anonymous_bytes - before;
  EXPECT_LE(grown, tier_.held_bytes() + (8 << 20));
  tier_.Free({0, kPieces * 64 * kBlock});
}

// Goal:   owners find what they wrote last, whatever others do meanwhile.
// Method: each thread has places of its own, and writes, reads and frees them at random.
TEST_F(ExtentTierTest, ThreadsFindWhatTheyWrote) {
  constexpr int kThreads = 4;
  constexpr int64_t kPlaces = 6;
  for (const uint64_t seed : test::Seeds(4)) {
    SCOPED_TRACE(seed);
    std::atomic<int> wrong{0};
    std::vector<std::thread> threads;
    for (int thread = 0; thread < kThreads; ++thread) {
      threads.emplace_back([&, thread] {
        std::mt19937_64 rng(seed * kThreads + static_cast<uint64_t>(thread));
        std::array<uint8_t, kPlaces> written{};  // 0: nothing.
        const auto block = [&](size_t place) {
          return (static_cast<int64_t>(place) * kThreads + thread) * 2;
        };
        for (int round = 0; round < 300; ++round) {
          const size_t place = rng() % kPlaces;
          if (written[place] == 0) {
            written[place] = static_cast<uint8_t>(1 + rng() % 200);
            if (!Write(block(place), 2, written[place]).ok()) ++wrong;
          } else if (rng() % 2 == 0) {
            if (!Holds(block(place), 2, written[place])) ++wrong;
          } else {
            tier_.Free({block(place) * kBlock, 2 * kBlock});
            written[place] = 0;
          }
        }
      });
    }
    for (std::thread& thread : threads) thread.join();
    tier_.Free({0, kPlaces * kThreads * 2 * kBlock});
    EXPECT_EQ(wrong.load(), 0);
    EXPECT_EQ(tier_.held_bytes(), 0);
  }
}

}  // namespace
}  // namespace weir::mem
