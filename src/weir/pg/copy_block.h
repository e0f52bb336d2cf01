#pragma once
// CopyBlock: CopyData messages as the server sent them, on their way to the parser.
#include "weir/base/result.h"
#include "weir/table/buffer.h"

namespace weir::pg {

/// Whole messages, one after another in one buffer, and at most the begin of one more.
///
/// Memory:  full_bytes, or one message if that is longer (of which no more than 8 MiB are taken
///          before its bytes come); charged past the budget's limit.
/// Threads: one at a time.
class CopyBlock {
 public:
  /// `full_bytes`: from how many on the block should be handed over.
  CopyBlock(mem::BlockAllocator& blocks, int64_t full_bytes)
      : blocks_(&blocks), full_bytes_(full_bytes), buffer_(blocks) {}

  // ---- For who decodes.

  /// Bytes of the whole messages, with their headers.
  int64_t bytes() const { return whole_; }
  /// Messages but for a stream's trailer: PostgreSQL sends each row as one.
  int64_t rows() const { return rows_; }
  bool full() const;
  /// Gives what each message holds, in order, until the end or the first failure of `take`.
  template <typename Take>
  Status ForEach(Take take) const {
    for (int64_t at = 0; at < whole_;) {
      const int64_t size = MessageBytes(at);
      WEIR_DO(take(buffer_.bytes().subspan(static_cast<size_t>(at + kHeaderBytes),
                                           static_cast<size_t>(size - kHeaderBytes))));
      at += size;
    }
    return Ok();
  }
  /// Takes the begun message away into a new block.
  CopyBlock SplitRest();

  // ---- For who receives.

  /// A message's type and length stand before what it holds.
  static constexpr int64_t kHeaderBytes = 5;
  /// Where the next bytes of the stream go. Never empty unless full().
  std::span<uint8_t> Room();
  /// Says that `count` bytes were put there.
  void Received(int64_t count);
  /// Adds a message that came without its header.
  void Append(Bytes held);
  /// True if the bytes after the last whole message begin one that is no CopyData.
  bool at_other() const;
  /// Bytes of that message, whether they have come or not.
  int64_t other_bytes() const { return std::max(kHeaderBytes, MessageBytes(whole_)); }
  /// The bytes after the last whole message; DropRest forgets the first `count` of them.
  Bytes rest() const { return buffer_.bytes().subspan(static_cast<size_t>(whole_)); }
  void DropRest(int64_t count);

 private:
  static constexpr int64_t kLeastRoom = 16 << 10;
  static constexpr int64_t kMostTrusted = 8 << 20;
  static constexpr int64_t kTrailerBytes = 2;

  void ReserveWhole(int64_t least);
  int64_t MessageBytes(int64_t at) const;
  bool IsCopyData(int64_t at) const;
  void Scan();

  mem::BlockAllocator* blocks_;
  int64_t full_bytes_;
  table::Buffer buffer_;
  int64_t whole_ = 0;
  int64_t rows_ = 0;
};

}  // namespace weir::pg
