#include "weir/extract/copy_chunk.h"

namespace weir::extract {

void CopyChunk::Append(Bytes message, pg::CopyMemory memory) {
  const int64_t size = static_cast<int64_t>(message.size());
  if (size >= kLeastKept) {
    WEIR_ASSERT(memory != nullptr);
    blocks_->budget().ForceCharge(size);
    kept_bytes_ += size;
    pieces_.push_back({std::move(memory), size});
    return;
  }
  std::memcpy(copied_.Extend(size), message.data(), message.size());
  const bool joins = !pieces_.empty() && pieces_.back().kept == nullptr;
  if (joins) {
    pieces_.back().size += size;
  } else {
    pieces_.push_back({nullptr, size});
  }
}

void CopyChunk::Free(Piece& piece) {
  piece.kept.reset();
  kept_bytes_ -= piece.size;
  blocks_->budget().Release(piece.size);
}

}  // namespace weir::extract
