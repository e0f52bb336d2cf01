#pragma once
// CopyChunk: messages of a COPY stream on their way from the thread that receives them to the one
// that decodes them.
#include <vector>

#include "weir/pg/connection.h"
#include "weir/table/buffer.h"

namespace weir::extract {

/// Messages in the order received. Small ones are copied one after another into one block; of large
/// ones the memory that libpq received them in is kept, which saves a copy of most of the stream.
///
/// Memory:  all of it charged to the budget of `blocks`, past its limit if need be: the receiver
///          looks at the budget between chunks.
/// Threads: one at a time; may be moved to another thread and end there.
class CopyChunk {
 public:
  /// From this size on a message is kept rather than copied. Each kept one is a heap block of its
  /// own until the other thread frees it: too many, where rows are narrow.
  static constexpr int64_t kLeastKept = 1 << 10;

  explicit CopyChunk(mem::BlockAllocator& blocks) : blocks_(&blocks), copied_(blocks) {}
  ~CopyChunk() { blocks_->budget().Release(kept_bytes_); }
  CopyChunk(CopyChunk&& other) noexcept
      : blocks_(other.blocks_),
        copied_(std::move(other.copied_)),
        pieces_(std::move(other.pieces_)),
        kept_bytes_(std::exchange(other.kept_bytes_, 0)) {}
  CopyChunk& operator=(CopyChunk&&) = delete;

  /// Adds a message, which lies in `memory`. Requires: not null from kLeastKept bytes on.
  void Append(Bytes message, pg::CopyMemory memory);

  int64_t bytes() const { return copied_.size() + kept_bytes_; }
  /// Gives the bytes piece by piece, each freed as soon as `take` is done with it, until the end or
  /// the first failure of `take`.
  template <typename Take>
  Status Drain(Take take) {
    int64_t copied_at = 0;
    for (Piece& piece : pieces_) {
      const auto size = static_cast<size_t>(piece.size);
      if (piece.kept == nullptr) {
        WEIR_DO(take(Bytes(copied_.data() + copied_at, size)));
        copied_at += piece.size;
        continue;
      }
      WEIR_DO(take(Bytes(reinterpret_cast<const uint8_t*>(piece.kept.get()), size)));
      Free(piece);
    }
    return Ok();
  }

 private:
  struct Piece {
    pg::CopyMemory kept;  // Null: the next `size` bytes of copied_.
    int64_t size;
  };

  void Free(Piece& piece);

  mem::BlockAllocator* blocks_;
  table::Buffer copied_;
  std::vector<Piece> pieces_;
  int64_t kept_bytes_ = 0;
};

}  // namespace weir::extract
