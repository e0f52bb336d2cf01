#include "weir/extract/batch_queue.h"

namespace weir::extract {

bool BatchQueue::Push(table::Batch batch) {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [&] { return aborted_ || bytes_ < keep_bytes_; });
  if (aborted_) return false;
  bytes_ += batch.size_bytes;
  batches_.push_back(std::move(batch));
  changed_.notify_all();
  return true;
}

void BatchQueue::Close() {
  const std::lock_guard lock(mutex_);
  closed_ = true;
  changed_.notify_all();
}

std::optional<table::Batch> BatchQueue::Pop() {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [&] { return aborted_ || closed_ || !batches_.empty(); });
  if (aborted_ || batches_.empty()) return std::nullopt;
  table::Batch batch = std::move(batches_.front());
  batches_.pop_front();
  bytes_ -= batch.size_bytes;
  changed_.notify_all();
  return batch;
}

void BatchQueue::Abort() {
  const std::lock_guard lock(mutex_);
  aborted_ = true;
  batches_.clear();
  bytes_ = 0;
  changed_.notify_all();
}

bool BatchQueue::aborted() const {
  const std::lock_guard lock(mutex_);
  return aborted_;
}

}  // namespace weir::extract
