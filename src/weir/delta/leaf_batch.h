#pragma once
// LeafBatch: a batch in leaves of the pool, each of which may be on disk.
#include <vector>

#include "weir/delta/batch.h"
#include "weir/delta/leaf.h"

namespace weir::delta {

/// What stays in memory is a handle and a fence for each leaf: enough bytes of its first row to
/// tell it from the last row of the leaf before. Both are charged to the pool's budget.
class LeafBatch final : public Batch {
 public:
  const Description& description() const override { return description_; }
  void Describe(Description description) { description_ = description; }
  int64_t update_count() const override { return update_count_; }
  Result<std::unique_ptr<Cursor>> Seek(Bytes from) const override;

  int64_t leaf_count() const { return static_cast<int64_t>(leaves_.size()); }

 private:
  friend class LeafBatchBuilder;
  class LeafCursor;

  /// From `leaf` on, the leaf before the first that begins at `row` or after it: updates from `row`
  /// on are there or later.
  int64_t LeafOf(int64_t leaf, Bytes row) const;
  Bytes Fence(int64_t leaf) const;

  Description description_;
  int64_t update_count_ = 0;
  mem::Charge charge_;  // For the three that follow.
  std::vector<mem::Page> leaves_;
  std::vector<uint32_t> fence_ends_;
  std::vector<uint8_t> fences_;
};

/// Makes a LeafBatch of updates that come in order.
///
/// Threads: one.
class LeafBatchBuilder {
 public:
  LeafBatchBuilder(mem::Pool& pool, int64_t leaf_bytes, int depth)
      : pool_(pool),
        writer_(pool, leaf_bytes),
        depth_(depth),
        batch_(std::make_unique<LeafBatch>()) {}

  /// Requires: the update comes after the last one; kRowSlack bytes after its row are readable.
  /// Errors:   of mem::Pool::New; the update is not in, and may be added again.
  Status Add(const Update& update);
  int64_t update_count() const { return batch_->update_count_; }
  /// Of the last update. Requires: update_count() > 0.
  Bytes last_row() const { return writer_.count() > 0 ? writer_.last_row() : Bytes(last_row_); }
  /// Everything that is left of the cursor.
  Status AddAll(Cursor& cursor);
  Result<std::unique_ptr<LeafBatch>> Finish(Description description);

 private:
  void TakeLeaf();
  Bytes FenceOf(Bytes row) const;
  template <typename T>
  Status MakeRoom(std::vector<T>& in, size_t more);

  mem::Pool& pool_;
  LeafWriter writer_;
  const int depth_;
  std::unique_ptr<LeafBatch> batch_;
  std::vector<uint8_t> last_row_;  // Of the leaf before.
};

}  // namespace weir::delta
