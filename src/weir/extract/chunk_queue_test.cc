#include "weir/extract/chunk_queue.h"

#include <thread>

namespace weir::extract {
namespace {

class ChunkQueueTest : public testing::Test {
 protected:
  CopyChunk ChunkOf(int64_t bytes) {
    CopyChunk chunk(blocks_);
    const std::string text(static_cast<size_t>(bytes), 'x');
    chunk.Append(AsBytes(text), nullptr);
    return chunk;
  }
  int64_t PopBytes() { return queue_.Pop()->bytes(); }

  mem::Budget budget_{"test", mem::kUnlimited};
  mem::BlockAllocator blocks_{budget_, 0};
  ChunkQueue queue_{100};
};

TEST_F(ChunkQueueTest, FirstInFirstOutUntilClosed) {
  EXPECT_TRUE(queue_.Push(ChunkOf(10)));
  EXPECT_TRUE(queue_.Push(ChunkOf(20)));
  queue_.Close();
  EXPECT_EQ(PopBytes(), 10);
  EXPECT_EQ(PopBytes(), 20);
  EXPECT_FALSE(queue_.Pop().has_value());
  EXPECT_FALSE(queue_.aborted());
}

TEST_F(ChunkQueueTest, OneChunkOfAnySizeIsLetIn) {
  EXPECT_TRUE(queue_.Push(ChunkOf(900)));
  EXPECT_EQ(PopBytes(), 900);
}

TEST_F(ChunkQueueTest, AFullQueueWaitsForThePop) {
  ASSERT_TRUE(queue_.Push(ChunkOf(100)));
  bool pushed = false;
  std::thread pusher([&] { pushed = queue_.Push(ChunkOf(1)); });
  EXPECT_EQ(PopBytes(), 100);
  EXPECT_EQ(PopBytes(), 1);
  pusher.join();
  EXPECT_TRUE(pushed);
}

// However fast the receiver is: what is queued, what it holds, and one chunk that was let in.
TEST_F(ChunkQueueTest, NoMoreThanItsBoundIsEverHeld) {
  constexpr int kChunks = 2000;
  std::thread pusher([&] {
    for (int count = 0; count < kChunks; ++count) ASSERT_TRUE(queue_.Push(ChunkOf(40)));
    queue_.Close();
  });
  int popped = 0;
  while (const auto chunk = queue_.Pop()) {
    ++popped;
    // A block of 1 KiB for each of: three queued, one being pushed, one popped.
    EXPECT_LE(budget_.used_bytes(), 5 << 10);
  }
  pusher.join();
  EXPECT_EQ(popped, kChunks);
}

TEST_F(ChunkQueueTest, AFullQueueWaitsForTheAbort) {
  ASSERT_TRUE(queue_.Push(ChunkOf(100)));
  bool pushed = true;
  std::thread pusher([&] { pushed = queue_.Push(ChunkOf(1)); });
  queue_.Abort();
  pusher.join();
  EXPECT_FALSE(pushed);
}

TEST_F(ChunkQueueTest, AbortWakesThePopperAndDropsWhatWaits) {
  bool got = true;
  std::thread popper([&] {
    while (queue_.Pop().has_value()) {
    }
    got = false;
  });
  queue_.Push(ChunkOf(1));
  queue_.Abort();
  popper.join();
  EXPECT_FALSE(got);
  EXPECT_TRUE(queue_.aborted());
  EXPECT_FALSE(queue_.Push(ChunkOf(2)));
  EXPECT_FALSE(queue_.Pop().has_value());
  EXPECT_EQ(budget_.used_bytes(), 0);
}

}  // namespace
}  // namespace weir::extract
