#pragma once
// ChunkQueue: chunks from the thread that receives the source's stream to the thread that decodes
// and encodes it, bounded in bytes.
#include <condition_variable>
#include <deque>
#include <mutex>
#include <optional>

#include "weir/extract/copy_chunk.h"

namespace weir::extract {

/// First in, first out.
///
/// Bound:   Push waits while keep_bytes are queued; one chunk of any size is always let in.
/// Threads: one pushes, one pops; Abort from either.
class ChunkQueue {
 public:
  explicit ChunkQueue(int64_t keep_bytes) : keep_bytes_(keep_bytes) {}

  /// False when the other side aborted: the chunk was dropped.
  bool Push(CopyChunk chunk);
  /// No more chunks will come.
  void Close();
  /// The next chunk; none after Close() when empty, or after Abort().
  std::optional<CopyChunk> Pop();
  /// Drops what is queued and wakes both sides.
  void Abort();
  bool aborted() const;

 private:
  const int64_t keep_bytes_;
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<CopyChunk> chunks_;
  int64_t bytes_ = 0;
  bool closed_ = false;
  bool aborted_ = false;
};

}  // namespace weir::extract
