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
  int64_t fuel;  // Left to it in this call.
  std::unique_ptr<Cursor> both;
  LeafBatchBuilder builder;
};

Spine::Spine(mem::Pool& pool, SpineOptions options) : pool_(pool), options_(options) {}
Spine::~Spine() = default;

Status Spine::Insert(std::unique_ptr<Batch> batch) {
  constexpr int64_t kLeastFuel = 1024;  // So that merges of a few updates never have to wait.
  WEIR_ASSERT(batch->description().lower == upper_);
  upper_ = batch->description().upper;
  const int64_t fuel = std::max(options_.effort * batch->update_count(), kLeastFuel);
  batches_.push_back(std::move(batch));
  return Advance(fuel, INT64_MAX);
}

Result<bool> Spine::Work(int64_t fuel) {
  WEIR_DO(Advance(fuel, fuel));
  return !merges_.empty();
}

void Spine::AllowTimeCompaction(Time since) { since_ = std::max(since_, since); }

bool Spine::IsMerging(size_t batch) const {
  return std::any_of(merges_.begin(), merges_.end(), [&](const auto& merging) {
    return merging->first == batch || merging->first + 1 == batch;
  });
}

// Picks all pairs that may become one, the youngest first.
void Spine::Begin(int64_t fuel) {
  for (size_t at = batches_.size(); at-- > 1;) {
    const auto& upper = batches_[at]->description().upper;
    const bool allowed = !physical_.has_value() || (upper.has_value() && *upper <= *physical_);
    const bool balanced =
        batches_[at]->update_count() >= batches_[at - 1]->update_count() / 2;
    if (!allowed || !balanced || IsMerging(at) || IsMerging(at - 1)) continue;
    auto merging = std::make_unique<Merging>(
        Merging{at - 1, since_, fuel, nullptr, LeafBatchBuilder(pool_, options_.leaf_bytes, 1)});
    const auto place =
        std::find_if(merges_.begin(), merges_.end(),
                     [&](const auto& other) { return other->first > merging->first; });
    merges_.insert(place, std::move(merging));
  }
}

// Merges up to `fuel` updates, `fuel_each` for each merge. Younger merges go first: they are
// smaller, and others may wait for what they become.
Status Spine::Advance(int64_t fuel_each, int64_t fuel) {
  const sys::ActivityScope activity(sys::Activity::kMerge);
  for (const auto& merging : merges_) merging->fuel = fuel_each;
  Begin(fuel_each);
  while (fuel > 0) {
    const auto next = std::find_if(merges_.rbegin(), merges_.rend(),
                                   [](const auto& merging) { return merging->fuel > 0; });
    if (next == merges_.rend()) return Ok();
    // After an error it is begun anew: the two batches are still there.
    const auto place = std::prev(next.base());
    auto merging = std::move(*place);
    const auto index = place - merges_.begin();
    merges_.erase(place);
    const int64_t granted = std::min(fuel, merging->fuel);
    int64_t left = granted;
    WEIR_TRY(const bool more, Step(*merging, left));
    fuel -= granted - left;
    merging->fuel -= granted - left;
    if (more) {
      merges_.insert(merges_.begin() + index, std::move(merging));
    } else {
      WEIR_DO(Finish(*merging));
      Begin(fuel_each);
    }
  }
  return Ok();
}

// Whether anything is left of the two.
Result<bool> Spine::Step(Merging& merging, int64_t& fuel) const {
  if (merging.both == nullptr) {
    WEIR_TRY(auto left, batches_[merging.first]->Seek({}));
    WEIR_TRY(auto right, batches_[merging.first + 1]->Seek({}));
    merging.both = MergeCursors(std::move(left), std::move(right), merging.since);
  }
  bool more = true;
  for (Update update; more && fuel > 0; --fuel) {
    WEIR_TRY(more, merging.both->Next(update));
    if (more) WEIR_DO(merging.builder.Add(update));
  }
  return more;
}

// Puts what became of the two in their place.
Status Spine::Finish(Merging& merging) {
  const size_t at = merging.first;
  const Description description{batches_[at]->description().lower,
                                batches_[at + 1]->description().upper, merging.since};
  merging.both.reset();
  WEIR_TRY(auto merged, merging.builder.Finish(description));
  batches_[at] = std::move(merged);
  batches_.erase(batches_.begin() + static_cast<int64_t>(at) + 1);
  for (const auto& other : merges_) {
    if (other->first > at) --other->first;
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
