#include "weir/extract/batch_queue.h"

#include <thread>

namespace weir::extract {
namespace {

table::Batch BatchOf(int64_t rows, int64_t size_bytes) {
  table::Batch batch;
  batch.row_count = rows;
  batch.size_bytes = size_bytes;
  return batch;
}

TEST(BatchQueue, FirstInFirstOutUntilClosed) {
  BatchQueue queue(100);
  EXPECT_TRUE(queue.Push(BatchOf(1, 10)));
  EXPECT_TRUE(queue.Push(BatchOf(2, 10)));
  queue.Close();
  EXPECT_EQ(queue.Pop()->row_count, 1);
  EXPECT_EQ(queue.Pop()->row_count, 2);
  EXPECT_FALSE(queue.Pop().has_value());
  EXPECT_FALSE(queue.aborted());
}

TEST(BatchQueue, OneBatchOfAnySizeIsLetIn) {
  BatchQueue queue(100);
  EXPECT_TRUE(queue.Push(BatchOf(1, 1'000'000)));
  EXPECT_EQ(queue.Pop()->row_count, 1);
}

TEST(BatchQueue, AFullQueueWaitsForThePopOrTheAbort) {
  for (const bool abort : {false, true}) {
    BatchQueue queue(100);
    ASSERT_TRUE(queue.Push(BatchOf(1, 100)));
    bool pushed = false;
    std::thread pusher([&] { pushed = queue.Push(BatchOf(2, 1)); });
    if (abort) {
      queue.Abort();
    } else {
      EXPECT_EQ(queue.Pop()->row_count, 1);
      EXPECT_EQ(queue.Pop()->row_count, 2);
    }
    pusher.join();
    EXPECT_EQ(pushed, !abort);
  }
}

TEST(BatchQueue, AbortWakesThePopperAndDropsWhatWaits) {
  BatchQueue queue(100);
  bool got = true;
  std::thread popper([&] {
    while (queue.Pop().has_value()) {
    }
    got = false;
  });
  queue.Push(BatchOf(1, 1));
  queue.Abort();
  popper.join();
  EXPECT_FALSE(got);
  EXPECT_TRUE(queue.aborted());
  EXPECT_FALSE(queue.Push(BatchOf(2, 1)));
  EXPECT_FALSE(queue.Pop().has_value());
}

}  // namespace
}  // namespace weir::extract
