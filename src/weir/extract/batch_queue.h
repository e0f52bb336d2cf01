#pragma once
// BatchQueue: batches from the thread that reads the source to the thread that encodes, bounded in
// bytes.
#include <condition_variable>
#include <deque>
#include <mutex>
#include <optional>

#include "weir/table/column.h"

namespace weir::extract {

/// First in, first out.
///
/// Bound:   Push waits while kept_bytes are queued; one batch of any size is always let in.
/// Threads: one pushes, one pops; Abort from either.
class BatchQueue {
 public:
  explicit BatchQueue(int64_t keep_bytes) : keep_bytes_(keep_bytes) {}

  /// False when the other side aborted: the batch was dropped.
  bool Push(table::Batch batch);
  /// No more batches will come.
  void Close();
  /// The next batch; none after Close() when empty, or after Abort().
  std::optional<table::Batch> Pop();
  /// Drops what is queued and wakes both sides.
  void Abort();
  bool aborted() const;

 private:
  const int64_t keep_bytes_;
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<table::Batch> batches_;
  int64_t bytes_ = 0;
  bool closed_ = false;
  bool aborted_ = false;
};

}  // namespace weir::extract
