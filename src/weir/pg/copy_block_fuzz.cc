// Any bytes received into blocks come out as the messages a simple reader finds in them.
//
// Input: a byte that says when a block is full, one that seeds the sizes of reads, then the stream.
#include <cstdint>
#include <random>
#include <string>

#include "weir/base/assert.h"
#include "weir/pg/copy_block.h"
#include "weir/pg/wire_internal.h"

namespace weir::pg {
namespace {

// What the CopyData messages at the front of `stream` hold, one after another.
std::string HeldInFront(Bytes stream) {
  std::string held;
  while (std::ssize(stream) >= CopyBlock::kHeaderBytes && stream[0] == 'd') {
    const int64_t length = ReadI32(stream.data() + 1);
    if (length < 4 || length + 1 > std::ssize(stream)) break;
    held += AsText(stream.subspan(5, static_cast<size_t>(length - 4)));
    stream = stream.subspan(static_cast<size_t>(length + 1));
  }
  return held;
}

std::string HeldInBlocks(Bytes stream, int64_t full_bytes, uint8_t seed) {
  mem::Budget budget("fuzz", mem::kUnlimited);  // Aborts unless all memory comes back.
  mem::BlockAllocator blocks(budget, 0);
  std::minstd_rand random(seed);
  std::string held;
  CopyBlock block(blocks, full_bytes);
  while (true) {
    while (!block.full() && !stream.empty()) {
      const std::span<uint8_t> room = block.Room();
      WEIR_ASSERT(!room.empty());
      const size_t wanted = seed == 0 ? stream.size() : 1 + random() % 64;
      const size_t count = std::min({wanted, stream.size(), room.size()});
      std::memcpy(room.data(), stream.data(), count);
      stream = stream.subspan(count);
      block.Received(static_cast<int64_t>(count));
    }
    const int64_t bytes = block.bytes();
    WEIR_ASSERT(block
                    .ForEach([&](Bytes message) {
                      held += AsText(message);
                      return Ok();
                    })
                    .ok());
    block = block.SplitRest();
    if (stream.empty() && bytes == 0) return held;
  }
}

}  // namespace
}  // namespace weir::pg

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace weir;
  if (size < 2) return 0;
  const Bytes stream(data + 2, size - 2);
  WEIR_ASSERT(pg::HeldInBlocks(stream, 1 + data[0], data[1]) == pg::HeldInFront(stream));
  return 0;
}
