#pragma once
// Spine: all updates of one arrangement, in batches that merge as they age.
#include <memory>
#include <vector>

#include "weir/delta/leaf_batch.h"

namespace weir::delta {

struct SpineOptions {
  int64_t leaf_bytes = 128 << 10;
  /// Updates that each merge at work merges for each one inserted. With sizes that double, log2(n)
  /// merges can be at work; each has to end before the next batch of its size is there.
  int64_t effort = 8;
};

/// Two frontiers free a spine to forget. Since `since` has passed a time, updates before it may be
/// moved to it: reads at earlier times are no longer answered. Batches below `physical` may be
/// merged: who has read up to there no longer asks for what came in one of them alone.
///
/// Batches of adjoining times merge when the younger has half the updates of the older; the work is
/// done in pieces, as fuel is given. The number of batches is logarithmic in the updates.
///
/// Threads: one. Cursors hold what they read and may be used from any thread.
class Spine {
 public:
  Spine(mem::Pool& pool, SpineOptions options);
  ~Spine();

  /// Requires: the batch begins at upper().
  /// Errors:   of mem::Pool::New and Page::Read from merging: the batch is in all the same, and the
  ///           merge is begun anew by the next call.
  Status Insert(std::unique_ptr<Batch> batch);
  /// Nothing comes before `upper`: what a batch of no updates would say.
  /// Requires: `upper` is not before upper().
  void AdvanceTo(Time upper) { upper_ = upper; }
  /// Merges up to `fuel` updates. Whether anything is left to merge.
  Result<bool> Work(int64_t fuel);

  void AllowTimeCompaction(Time since);
  void AllowBatchCompaction(Frontier physical) { physical_ = physical; }

  /// Times before it have all come.
  Frontier upper() const { return upper_; }
  Time since() const { return since_; }
  int64_t update_count() const;
  int64_t batch_count() const { return static_cast<int64_t>(batches_.size()); }

  /// The collection at `time`, from row `from` on: each row once, its diff the number of times that
  /// it is there.
  /// Requires: since() <= time, and upper() is beyond it.
  Result<std::unique_ptr<Cursor>> ReadAt(Time time, Bytes from) const;

 private:
  struct Merging;

  void Begin(int64_t fuel);
  bool IsMerging(size_t batch) const;
  Status Advance(int64_t fuel_each, int64_t fuel);
  Result<bool> Step(Merging& merging, int64_t& fuel) const;
  Status Finish(Merging& merging);
  Result<std::unique_ptr<Cursor>> SeekAll(Bytes from) const;

  mem::Pool& pool_;
  const SpineOptions options_;
  Time since_ = 0;
  Frontier physical_;
  Frontier upper_ = Time{0};
  std::vector<std::shared_ptr<const Batch>> batches_;  // The oldest first.
  std::vector<std::unique_ptr<Merging>> merges_;       // Of two batches each, the oldest first.
};

}  // namespace weir::delta
