#include "weir/delta/leaf_batch.h"

#include <algorithm>

#include "weir/delta/record_internal.h"

namespace weir::delta {

class LeafBatch::LeafCursor final : public Cursor {
 public:
  LeafCursor(const LeafBatch& batch, int64_t leaf) : batch_(batch), leaf_(leaf) {}

  // To the first update of the leaf at hand that is not before `row`.
  Status Find(Bytes row) {
    if (leaf_ == batch_.leaf_count()) return Ok();
    WEIR_DO(Open());
    index_ = reader_.LowerBound(row);
    return Ok();
  }

  Result<bool> Next(Update& update) override {
    while (index_ == reader_.count()) {
      if (opened_) ++leaf_;
      if (leaf_ == batch_.leaf_count()) return false;
      WEIR_DO(Open());
      index_ = 0;
    }
    update = reader_.at(index_++);
    return true;
  }

 private:
  Status Open() {
    guard_.Drop();
    WEIR_TRY(guard_, batch_.leaves_[static_cast<size_t>(leaf_)].Read());
    if (leaf_ + 1 < batch_.leaf_count()) batch_.leaves_[static_cast<size_t>(leaf_ + 1)].Prefetch();
    reader_ = LeafReader(guard_.bytes());
    opened_ = true;
    return Ok();
  }

  const LeafBatch& batch_;
  int64_t leaf_;
  bool opened_ = false;
  mem::PageGuard guard_;
  LeafReader reader_;
  int64_t index_ = 0;
};

Bytes LeafBatch::Fence(int64_t leaf) const {
  const auto at = static_cast<size_t>(leaf);
  const size_t begin = at == 0 ? 0 : fence_ends_[at - 1];
  return Bytes(fences_).subspan(begin, fence_ends_[at] - begin);
}

int64_t LeafBatch::LeafOf(Bytes row) const {
  int64_t low = 0;
  int64_t high = leaf_count();
  while (low < high) {  // The first leaf that begins at `row` or after it.
    const int64_t middle = (low + high) / 2;
    if (CompareRows(Fence(middle), row) < 0) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return std::max<int64_t>(low - 1, 0);
}

Result<std::unique_ptr<Cursor>> LeafBatch::Seek(Bytes from) const {
  auto cursor = std::make_unique<LeafCursor>(*this, from.empty() ? 0 : LeafOf(from));
  if (!from.empty()) WEIR_DO(cursor->Find(from));
  return std::unique_ptr<Cursor>(std::move(cursor));
}

Status LeafBatchBuilder::Add(const Update& update) {
  if (!writer_.Fits(update) && writer_.count() > 0) TakeLeaf();
  if (writer_.count() == 0) {
    const auto differ = std::mismatch(update.row.begin(), update.row.end(), last_row_.begin(),
                                      last_row_.end());
    const auto same = static_cast<size_t>(differ.first - update.row.begin());
    const Bytes fence = update.row.first(std::min(same + 1, update.row.size()));
    batch_->fences_.insert(batch_->fences_.end(), fence.begin(), fence.end());
    batch_->fence_ends_.push_back(static_cast<uint32_t>(batch_->fences_.size()));
  }
  WEIR_DO(writer_.Add(update));
  ++batch_->update_count_;
  return Ok();
}

Status LeafBatchBuilder::AddAll(Cursor& cursor) {
  for (Update update;;) {
    WEIR_TRY(const bool more, cursor.Next(update));
    if (!more) return Ok();
    WEIR_DO(Add(update));
  }
}

void LeafBatchBuilder::TakeLeaf() {
  const Bytes last = writer_.last_row();
  last_row_.assign(last.begin(), last.end());
  batch_->leaves_.push_back(writer_.Take(depth_));
}

Result<std::unique_ptr<LeafBatch>> LeafBatchBuilder::Finish(Description description) {
  if (writer_.count() > 0) TakeLeaf();
  batch_->description_ = description;
  return std::move(batch_);
}

}  // namespace weir::delta
