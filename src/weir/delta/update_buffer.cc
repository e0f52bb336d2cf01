#include <algorithm>

#include "weir/delta/update_buffer_internal.h"
#include "weir/sys/accounting.h"

namespace weir::delta {

Result<bool> UpdateBuffer::HasRoom(int64_t size, int32_t key_size) {
  const int64_t needed = Record::TotalBytes(size, key_size) + kTailBytes + table::kRowSlack;
  if (!page_) {
    WEIR_TRY(page_, pool_.New(std::max(bytes_, needed)));
    at_ = page_.data();
  }
  if (page_.data() + page_.capacity() - at_ >= needed) return true;
  if (count_ > 0) return false;
  WEIR_TRY(page_, pool_.New(needed));
  at_ = page_.data();
  return true;
}

void UpdateBuffer::Add(const Update& update) {
  at_ = Record::Put(at_, update.row.data(), static_cast<int64_t>(update.row.size()),
                    update.key_size);
  std::memcpy(at_, &update.time, 8);
  std::memcpy(at_ + 8, &update.diff, 8);
  at_ += kTailBytes;
  last_time_ = std::max(last_time_, update.time);
  ++count_;
}

Result<std::span<SortEntry>> UpdateBuffer::Sorted() {
  const sys::ActivityScope activity(sys::Activity::kSort);
  const auto count = static_cast<size_t>(count_);
  WEIR_TRY(entries_page_, pool_.New(2 * count_ * static_cast<int64_t>(sizeof(SortEntry))));
  auto* const entries = reinterpret_cast<SortEntry*>(entries_page_.data());
  size_t filled = 0;
  for (const uint8_t* at = page_.data(); at != at_; at = Record::At(at).end() + kTailBytes) {
    entries[filled++].record = at;
  }
  return SortByRow({entries, count}, {entries + count, count});
}

Status UpdateBuffer::Drain(const std::function<Status(const Update&)>& emit) {
  if (count_ > 0) {
    WEIR_TRY(std::span<const SortEntry> sorted, Sorted());
    const sys::ActivityScope activity(sys::Activity::kCopy);
    while (!sorted.empty()) {
      const size_t same = CountSame(sorted);
      WEIR_DO(EmitSame(sorted.first(same), emit));
      sorted = sorted.subspan(same);
    }
  }
  entries_page_ = mem::OpenPage();
  at_ = page_.data();
  count_ = 0;
  last_time_ = 0;
  return Ok();
}

// Updates of one row.
Status UpdateBuffer::EmitSame(std::span<const SortEntry> same,
                              const std::function<Status(const Update&)>& emit) {
  const Record record = Record::At(same.front().record);
  const Bytes row = record.bytes();
  times_.clear();
  for (const SortEntry& entry : same) {
    const uint8_t* tail = Record::At(entry.record).end();
    auto& [time, diff] = times_.emplace_back();
    std::memcpy(&time, tail, 8);
    std::memcpy(&diff, tail + 8, 8);
  }
  if (times_.size() > 1) std::sort(times_.begin(), times_.end());
  for (size_t at = 0; at < times_.size();) {
    Update sum{row, record.key_size, times_[at].first, times_[at].second};
    while (++at < times_.size() && times_[at].first == sum.time) sum.diff += times_[at].second;
    if (sum.diff != 0) WEIR_DO(emit(sum));
  }
  return Ok();
}

}  // namespace weir::delta
