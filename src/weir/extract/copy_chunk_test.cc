#include "weir/extract/copy_chunk.h"

#include <cstdlib>
#include <random>

#include "tests/support/seeds.h"

namespace weir::extract {
namespace {

// As libpq hands a message over.
struct Message {
  pg::CopyMemory memory;
  Bytes bytes;
};

Message MessageOf(const std::string& text) {
  Message message{pg::CopyMemory(static_cast<char*>(std::malloc(text.size() + 1))), {}};
  std::memcpy(message.memory.get(), text.data(), text.size());
  message.bytes = Bytes(reinterpret_cast<uint8_t*>(message.memory.get()), text.size());
  return message;
}

std::string TextOf(CopyChunk& chunk) {
  std::string text;
  EXPECT_TRUE(chunk.Drain([&](Bytes piece) {
    text += AsText(piece);
    return Status();
  }).ok());
  return text;
}

// Goal:   the stream comes out as it went in, and every byte is charged for as long as it is held.
// Method: random messages around the size from which they are kept; the chunk moves on the way.
TEST(CopyChunk, GivesTheStreamBack) {
  for (const uint64_t seed : test::Seeds(20)) {
    SCOPED_TRACE(fmt::format("to repeat: WEIR_SEED={}", seed));
    std::mt19937_64 random(seed);
    mem::Budget budget("test", mem::kUnlimited);
    mem::BlockAllocator blocks(budget, 0);
    std::string expected;
    {
      CopyChunk first(blocks);
      for (int count = 0; count < 40; ++count) {
        const std::string text(random() % 3 == 0 ? 1000 + random() % 50 : random() % 40,
                               static_cast<char>('a' + count % 26));
        Message message = MessageOf(text);
        first.Append(message.bytes, std::move(message.memory));
        expected += text;
      }
      CopyChunk chunk = std::move(first);
      EXPECT_EQ(chunk.bytes(), static_cast<int64_t>(expected.size()));
      EXPECT_GE(budget.used_bytes(), chunk.bytes());
      EXPECT_EQ(TextOf(chunk), expected);
      EXPECT_LT(budget.used_bytes(), 64 << 10);  // What was kept is gone.
    }
    EXPECT_EQ(budget.used_bytes(), 0);
  }
}

TEST(CopyChunk, DrainEndsAtTheFirstFailure) {
  mem::Budget budget("test", mem::kUnlimited);
  mem::BlockAllocator blocks(budget, 0);
  CopyChunk chunk(blocks);
  for (int count = 0; count < 3; ++count) {
    Message message = MessageOf(std::string(2000, 'x'));
    chunk.Append(message.bytes, std::move(message.memory));
  }
  int seen = 0;
  const Status status = chunk.Drain([&](Bytes) -> Status {
    if (++seen == 2) return Fail(Code::kCorrupt, "no");
    return Ok();
  });
  EXPECT_EQ(status.error().message, "no");
  EXPECT_EQ(seen, 2);
}

}  // namespace
}  // namespace weir::extract
