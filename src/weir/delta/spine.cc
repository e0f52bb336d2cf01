#include "weir/delta/spine.h"

#include <algorithm>

#include "weir/base/assert.h"
#include "weir/delta/merge.h"
#include "weir/sys/accounting.h"

namespace weir::delta {
namespace {

// A cursor that keeps what it reads alive.
class HoldingCursor final : public Cursor {
 public:
  HoldingCursor(std::shared_ptr<const Batch> batch, std::unique_ptr<Cursor> cursor)
      : batch_(std::move(batch)), cursor_(std::move(cursor)) {}
  Result<bool> Next(Update& update) override { return cursor_->Next(update); }
  Status SkipTo(Bytes row) override { return cursor_->SkipTo(row); }

 private:
  const std::shared_ptr<const Batch> batch_;
  const std::unique_ptr<Cursor> cursor_;
};

// Leaves out what comes after `time`.
class UpToCursor final : public Cursor {
 public:
  UpToCursor(std::unique_ptr<Cursor> cursor, Time time) : cursor_(std::move(cursor)), time_(time) {}
  Result<bool> Next(Update& update) override {
    for (;;) {
      WEIR_TRY(const bool more, cursor_->Next(update));
      if (!more || update.time <= time_) return more;
    }
  }
  Status SkipTo(Bytes row) override { return cursor_->SkipTo(row); }

 private:
  const std::unique_ptr<Cursor> cursor_;
  const Time time_;
};

}  // namespace

// Two batches on their way to becoming one.
struct Spine::Merging {
  size_t first;  // Of the two, in batches_.
  Time since;
  std::unique_ptr<Cursor> both;
  LeafBatchBuilder builder;
};

Spine::Spine(mem::Pool& pool, SpineOptions options) : pool_(pool), options_(options) {}
Spine::~Spine() = default;

Status Spine::Insert(std::unique_ptr<Batch> batch) {
  WEIR_ASSERT(batch->description().lower == upper_);
  upper_ = batch->description().upper;
  int64_t fuel = options_.effort * std::max<int64_t>(batch->update_count(), 1);
  batches_.push_back(std::move(batch));
  return Advance(fuel);
}

Result<bool> Spine::Work(int64_t fuel) {
  WEIR_DO(Advance(fuel));
  return merging_ != nullptr;
}

void Spine::AllowTimeCompaction(Time since) { since_ = std::max(since_, since); }

// Picks the youngest two that may become one, if there are any.
void Spine::Begin() {
  for (size_t at = batches_.size(); at-- > 1;) {
    const auto& upper = batches_[at]->description().upper;
    const bool allowed = !physical_.has_value() || (upper.has_value() && *upper <= *physical_);
    const bool balanced =
        batches_[at]->update_count() >= batches_[at - 1]->update_count() / 2;
    if (!allowed || !balanced) continue;
    merging_ = std::make_unique<Merging>(
        Merging{at - 1, since_, nullptr, LeafBatchBuilder(pool_, options_.leaf_bytes, 1)});
    return;
  }
}

Status Spine::Advance(int64_t& fuel) {
  const sys::ActivityScope activity(sys::Activity::kMerge);
  while (fuel > 0) {
    if (merging_ == nullptr) Begin();
    if (merging_ == nullptr) return Ok();
    // After an error it is begun anew: the two batches are still there.
    auto merging = std::move(merging_);
    const Batch& left = *batches_[merging->first];
    const Batch& right = *batches_[merging->first + 1];
    if (merging->both == nullptr) {
      WEIR_TRY(auto left_cursor, left.Seek({}));
      WEIR_TRY(auto right_cursor, right.Seek({}));
      merging->both =
          MergeCursors(std::move(left_cursor), std::move(right_cursor), merging->since);
    }
    bool more = true;
    for (Update update; more && fuel > 0; --fuel) {
      WEIR_TRY(more, merging->both->Next(update));
      if (more) WEIR_DO(merging->builder.Add(update));
    }
    if (more) {
      merging_ = std::move(merging);
      return Ok();
    }
    const Description description{left.description().lower, right.description().upper,
                                  merging->since};
    merging->both.reset();
    WEIR_TRY(auto merged, merging->builder.Finish(description));
    const auto first = batches_.begin() + static_cast<int64_t>(merging->first);
    *first = std::move(merged);
    batches_.erase(first + 1);
  }
  return Ok();
}

int64_t Spine::update_count() const {
  int64_t count = 0;
  for (const auto& batch : batches_) count += batch->update_count();
  return count;
}

Result<std::unique_ptr<Cursor>> Spine::SeekAll(Bytes from) const {
  std::vector<std::unique_ptr<Cursor>> all;
  for (const auto& batch : batches_) {
    WEIR_TRY(auto cursor, batch->Seek(from));
    all.push_back(std::make_unique<HoldingCursor>(batch, std::move(cursor)));
  }
  return MergeAll(std::move(all));
}

Result<std::unique_ptr<Cursor>> Spine::ReadAt(Time time, Bytes from) const {
  WEIR_ASSERT(since_ <= time && !IsOpen(upper_, time));
  WEIR_TRY(auto all, SeekAll(from));
  // All that came until then, moved to that time, is what is there.
  return std::unique_ptr<Cursor>(
      std::make_unique<UpToCursor>(MoveTimes(std::move(all), time), time));
}

}  // namespace weir::delta
