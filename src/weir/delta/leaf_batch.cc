#include "weir/delta/leaf_batch.h"

#include <algorithm>

#include "weir/delta/record_internal.h"
#include "weir/delta/search_internal.h"

namespace weir::delta {

class LeafBatch::LeafCursor final : public Cursor {
 public:
  explicit LeafCursor(const LeafBatch& batch) : batch_(batch) {}

  Result<bool> Next(Update& update) override {
    while (index_ == reader_.count()) {
      if (opened_) {
        Close();
        ++leaf_;
      }
      if (leaf_ == batch_.leaf_count()) return false;
      WEIR_DO(Open());
      if (leaf_ + 1 < batch_.leaf_count()) {
        batch_.leaves_[static_cast<size_t>(leaf_ + 1)].Prefetch();
      }
    }
    update = reader_.at(index_++);
    return true;
  }

  Status SkipTo(Bytes row) override {
    if (leaf_ == batch_.leaf_count()) return Ok();
    const int64_t leaf = batch_.LeafOf(leaf_, row);
    if (leaf != leaf_ || !opened_) {
      Close();
      leaf_ = leaf;
      WEIR_DO(Open());
    }
    index_ = reader_.LowerBound(index_, row);
    return Ok();
  }

 private:
  // Before a leaf is opened: when that fails, the same call goes on from there.
  void Close() {
    guard_.Drop();
    reader_ = LeafReader();
    opened_ = false;
    index_ = 0;
  }

  Status Open() {
    WEIR_TRY(guard_, batch_.leaves_[static_cast<size_t>(leaf_)].Read());
    reader_ = LeafReader(guard_.bytes());
    opened_ = true;
    return Ok();
  }

  const LeafBatch& batch_;
  int64_t leaf_ = 0;
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

int64_t LeafBatch::LeafOf(int64_t leaf, Bytes row) const {
  const auto begins_before = [&](int64_t at) { return CompareRows(Fence(at), row) < 0; };
  return FirstNotBefore(leaf + 1, leaf_count(), begins_before) - 1;
}

Result<std::unique_ptr<Cursor>> LeafBatch::Seek(Bytes from) const {
  auto cursor = std::make_unique<LeafCursor>(*this);
  if (!from.empty()) WEIR_DO(cursor->SkipTo(from));
  return std::unique_ptr<Cursor>(std::move(cursor));
}

Status LeafBatchBuilder::Add(const Update& update) {
  if (!writer_.Fits(update) && writer_.count() > 0) TakeLeaf();
  if (writer_.count() > 0) {
    WEIR_DO(writer_.Add(update));
  } else {
    const Bytes fence = FenceOf(update.row);
    WEIR_DO(MakeRoom(batch_->leaves_, 1));
    WEIR_DO(MakeRoom(batch_->fence_ends_, 1));
    WEIR_DO(MakeRoom(batch_->fences_, fence.size()));
    WEIR_DO(writer_.Add(update));
    batch_->fences_.insert(batch_->fences_.end(), fence.begin(), fence.end());
    batch_->fence_ends_.push_back(static_cast<uint32_t>(batch_->fences_.size()));
  }
  ++batch_->update_count_;
  return Ok();
}

// Of a leaf that begins with `row`, and follows last_row_.
Bytes LeafBatchBuilder::FenceOf(Bytes row) const {
  const auto differ = std::mismatch(row.begin(), row.end(), last_row_.begin(), last_row_.end());
  const auto same = static_cast<size_t>(differ.first - row.begin());
  return row.first(std::min(same + 1, row.size()));
}

// Doubles the vector's memory where it is too little; what it grows by is charged first.
template <typename T>
Status LeafBatchBuilder::MakeRoom(std::vector<T>& in, size_t more) {
  const size_t least = in.size() + more;
  if (least <= in.capacity()) return Ok();
  const size_t capacity = std::max(least, 2 * in.capacity());
  const auto growth = static_cast<int64_t>((capacity - in.capacity()) * sizeof(T));
  WEIR_TRY(mem::Charge charge, pool_.ChargeBeside(growth));
  in.reserve(capacity);
  batch_->charge_.Join(std::move(charge));
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
