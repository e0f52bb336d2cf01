#include "weir/extract/chunk_queue.h"

namespace weir::extract {

bool ChunkQueue::Push(CopyChunk chunk) {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [&] { return aborted_ || bytes_ < keep_bytes_; });
  if (aborted_) return false;
  bytes_ += chunk.bytes();
  chunks_.push_back(std::move(chunk));
  changed_.notify_all();
  return true;
}

void ChunkQueue::Close() {
  const std::lock_guard lock(mutex_);
  closed_ = true;
  changed_.notify_all();
}

std::optional<CopyChunk> ChunkQueue::Pop() {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [&] { return aborted_ || closed_ || !chunks_.empty(); });
  if (aborted_ || chunks_.empty()) return std::nullopt;
  CopyChunk chunk = std::move(chunks_.front());
  chunks_.pop_front();
  bytes_ -= chunk.bytes();
  changed_.notify_all();
  return chunk;
}

void ChunkQueue::Abort() {
  const std::lock_guard lock(mutex_);
  aborted_ = true;
  chunks_.clear();
  bytes_ = 0;
  changed_.notify_all();
}

bool ChunkQueue::aborted() const {
  const std::lock_guard lock(mutex_);
  return aborted_;
}

}  // namespace weir::extract
