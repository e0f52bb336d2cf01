#include "weir/pg/copy_block.h"

#include <random>

#include "tests/support/copy_stream.h"
#include "tests/support/seeds.h"
#include "tests/support/wire.h"

namespace weir::pg {
namespace {

using test::FakeServer;

class CopyBlockTest : public testing::Test {
 protected:
  CopyBlock NewBlock(int64_t full_bytes) { return {blocks_, full_bytes}; }
  // Gives `block` the next bytes of `stream`, as a socket would.
  static void Receive(CopyBlock& block, std::string_view& stream, size_t most) {
    const std::span<uint8_t> room = block.Room();
    ASSERT_FALSE(room.empty());
    const size_t count = std::min({room.size(), stream.size(), most});
    std::memcpy(room.data(), stream.data(), count);
    stream.remove_prefix(count);
    block.Received(static_cast<int64_t>(count));
  }
  static std::vector<std::string> Held(const CopyBlock& block) {
    std::vector<std::string> held;
    EXPECT_TRUE(block
                    .ForEach([&](Bytes bytes) {
                      held.emplace_back(AsText(bytes));
                      return Ok();
                    })
                    .ok());
    return held;
  }

  mem::Budget budget_{"test", mem::kUnlimited};
  mem::BlockAllocator blocks_{budget_, 0};
};

// Goal:   whatever the sizes of messages, blocks and reads, messages come out as they went in.
TEST_F(CopyBlockTest, MessagesComeOutAsTheyWentIn) {
  for (const uint64_t seed : test::Seeds(200)) {
    SCOPED_TRACE(fmt::format("to repeat: WEIR_SEED={}", seed));
    std::mt19937_64 random(seed);
    std::vector<std::string> sent;
    std::string bytes;
    int64_t rows = 0;
    for (uint64_t count = random() % 40; count > 0; --count) {
      const size_t size = random() % 8 == 0 ? random() % 300'000 : random() % 10;
      sent.emplace_back(size, static_cast<char>('a' + random() % 26));
      bytes += FakeServer::Message('d', sent.back());
      rows += size > 2 ? 1 : 0;
    }
    const size_t most = 1 + random() % (random() % 2 == 0 ? 100'000 : 20);
    CopyBlock block = NewBlock(static_cast<int64_t>(1 + random() % 200'000));
    std::string_view stream = bytes;
    std::vector<std::string> came;
    int64_t counted = 0;
    while (true) {
      if (!stream.empty() && !block.full()) {
        Receive(block, stream, most);
        continue;
      }
      const auto held = Held(block);
      came.insert(came.end(), held.begin(), held.end());
      counted += block.rows();
      block = block.SplitRest();
      if (stream.empty() && block.bytes() == 0) break;
    }
    EXPECT_TRUE(block.rest().empty());
    EXPECT_EQ(came, sent);
    EXPECT_EQ(counted, rows);
  }
}

TEST_F(CopyBlockTest, AMessageOfAnotherKindIsNotPassed) {
  CopyBlock block = NewBlock(1000);
  const std::string bytes = FakeServer::Message('d', "row one") +
                            FakeServer::Message('N', "words") +
                            FakeServer::Message('d', "row two");
  std::string_view stream = bytes;
  Receive(block, stream, stream.size());
  EXPECT_EQ(Held(block), (std::vector<std::string>{"row one"}));
  ASSERT_TRUE(block.at_other());
  EXPECT_EQ(block.other_bytes(), 10);
  EXPECT_EQ(block.rest()[0], 'N');
  block.DropRest(block.other_bytes());
  EXPECT_FALSE(block.at_other());
  EXPECT_EQ(Held(block), (std::vector<std::string>{"row one", "row two"}));
}

// A length below its own four bytes, or of two gigabytes and more, is for libpq to complain of.
TEST_F(CopyBlockTest, LengthsThatCannotBeAreNoCopyData) {
  for (const int64_t length : {0L, 3L, 0x80000000L, 0xffffffffL}) {
    CopyBlock block = NewBlock(1000);
    const std::string bytes = "d" + test::Big32(length) + "rest";
    std::string_view stream = bytes;
    Receive(block, stream, stream.size());
    EXPECT_TRUE(block.at_other()) << length;
    EXPECT_EQ(block.bytes(), 0);
    EXPECT_GE(block.other_bytes(), CopyBlock::kHeaderBytes);
  }
}

// What comes without its header is gathered as well, not handed over a message at a time.
TEST_F(CopyBlockTest, AppendedMessagesFillABlock) {
  CopyBlock block = NewBlock(100'000);
  const std::string row(1000, 'r');
  int64_t rows = 0;
  for (; !block.full(); ++rows) block.Append(AsBytes(row));
  EXPECT_GT(rows, 80);
  EXPECT_EQ(block.rows(), rows);
  EXPECT_EQ(Held(block), std::vector<std::string>(static_cast<size_t>(rows), row));
}

// The promise of a long message takes no memory; only its bytes do.
TEST_F(CopyBlockTest, MemoryFollowsWhatCameNotWhatWasPromised) {
  CopyBlock block = NewBlock(1000);
  const std::string bytes = "d" + test::Big32(0x7fffffff) + std::string(1 << 20, 'x');
  std::string_view stream = bytes;
  while (!stream.empty()) Receive(block, stream, stream.size());
  EXPECT_LE(budget_.used_bytes(), 10 << 20);
  EXPECT_EQ(block.bytes(), 0);
  EXPECT_FALSE(block.full());
}

}  // namespace
}  // namespace weir::pg
