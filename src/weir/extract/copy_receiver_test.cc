#include "weir/extract/copy_receiver.h"

#include "tests/support/postgres.h"

namespace weir::extract {
namespace {

class CopyReceiverTest : public testing::Test {
 protected:
  // One bigint column of `rows` rows, 21 bytes each in the stream.
  std::unique_ptr<Source> OpenRows(int64_t rows) {
    db_.Exec(fmt::format(
        "CREATE TABLE t AS SELECT i::bigint FROM generate_series(1, {}) i; ANALYZE t", rows));
    SourceRequest request;
    request.target = pg::Target::Parse(db_.url()).value();
    request.table = pg::TableName{"public", "t"};
    return Source::Open(request, stop_).value();
  }
  // Rows of every block to the end.
  Result<std::vector<int64_t>> BlockRows(CopyReceiver& receiver) {
    std::vector<int64_t> rows;
    while (true) {
      WEIR_TRY(const auto block, receiver.Next());
      if (!block.has_value()) return rows;
      rows.push_back(block->rows());
    }
  }
  static int64_t Sum(const std::vector<int64_t>& values) {
    int64_t sum = 0;
    for (const int64_t value : values) sum += value;
    return sum;
  }

  test::Database db_;
  sys::Stop stop_;
  Progress progress_;
  mem::Budget budget_{"test", mem::kUnlimited};
  mem::BlockAllocator blocks_{budget_, 0};
};

// Goal: pumping alone takes in its bound and a block at most, however often; nothing is lost.
TEST_F(CopyReceiverTest, ReceivesAheadUpToItsBound) {
  const auto source = OpenRows(100'000);
  sys::RealClock clock;
  CopyReceiver receiver(*source, {.block_bytes = 64 << 10, .ahead_bytes = 256 << 10, .pace = {}},
                        blocks_, clock, stop_, progress_);
  EXPECT_FALSE(receiver.copy_time().has_value());
  ASSERT_TRUE(receiver.Start().ok());
  sys::Duration waited{0};
  while (receiver.bytes() < 256 << 10) {
    ASSERT_TRUE(source->connection().AwaitCopy(sys::Duration{0}, &waited).ok());
    receiver.Pump();
  }
  const int64_t ahead = receiver.bytes();
  for (int pump = 0; pump < 1000; ++pump) receiver.Pump();
  EXPECT_EQ(receiver.bytes(), ahead);
  EXPECT_LT(ahead, (256 + 3 * 64) << 10);  // A block ends with the bytes of one read.
  const auto rows = BlockRows(receiver);
  ASSERT_TRUE(rows.ok()) << rows.error().message;
  EXPECT_GT(rows.value().size(), 10U);
  EXPECT_EQ(Sum(rows.value()), 100'000);
  EXPECT_EQ(progress_.read_bytes, receiver.bytes());
  EXPECT_GT(receiver.copy_time().value().count(), 0);
}

// Goal: nothing is received while a rest lasts; rests last as long as the pace says, in all.
TEST_F(CopyReceiverTest, RestsAsThePaceSays) {
  const auto source = OpenRows(20'000);
  sys::ManualClock clock;
  const ThrottlePace pace = {.throttle_ms = 100, .batch_size = 1000};
  CopyReceiver receiver(*source, {.block_bytes = 16 << 10, .ahead_bytes = 1 << 20, .pace = pace},
                        blocks_, clock, stop_, progress_);
  ASSERT_TRUE(receiver.Start().ok());
  const auto first = receiver.Next();
  ASSERT_TRUE(first.ok());
  EXPECT_GT(first.value()->rows(), 500);
  const int64_t received = receiver.bytes();
  sys::Duration waited{0};
  ASSERT_TRUE(source->connection().AwaitCopy(sys::Duration{0}, &waited).ok());  // There is more.
  receiver.Pump();
  EXPECT_EQ(receiver.bytes(), received);
  const auto rest = BlockRows(receiver);  // The clock moves when it is waited for.
  ASSERT_TRUE(rest.ok()) << rest.error().message;
  EXPECT_EQ(first.value()->rows() + Sum(rest.value()), 20'000);
  // Every block but the last is followed by its rest: 100 ms for 1,000 rows.
  const int64_t paid = 20'000 - rest.value().back();
  EXPECT_EQ(receiver.times().slept, pace.RestAfter(1) * paid);
}

TEST_F(CopyReceiverTest, AStopEndsARest) {
  const auto source = OpenRows(20'000);
  sys::ManualClock clock;
  CopyReceiver receiver(*source,
                        {.block_bytes = 16 << 10,
                         .ahead_bytes = 1 << 20,
                         .pace = {.throttle_ms = 100, .batch_size = 1000}},
                        blocks_, clock, stop_, progress_);
  ASSERT_TRUE(receiver.Start().ok());
  ASSERT_TRUE(receiver.Next().ok());
  stop_.Ask();
  const auto next = receiver.Next();
  ASSERT_FALSE(next.ok());
  EXPECT_EQ(next.error().code, Code::kCancelled);
}

}  // namespace
}  // namespace weir::extract
