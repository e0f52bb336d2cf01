#include "weir/delta/leaf.h"

#include "weir/base/assert.h"
#include "weir/delta/record_internal.h"
#include "weir/delta/search_internal.h"

namespace weir::delta {
namespace {

// Of a leaf: at the start of its page.
struct Header {
  uint32_t count;
  uint32_t uniform;
  int64_t starts;  // Offset of the first of them; times and diffs follow.
  Time time;
  Diff diff;
};

template <typename T>
T LoadAt(const uint8_t* array, int64_t index) {
  T value;
  std::memcpy(&value, array + index * static_cast<int64_t>(sizeof(T)), sizeof value);
  return value;
}

template <typename T>
uint8_t* StoreAll(uint8_t* to, const std::vector<T>& values) {
  if (!values.empty()) std::memcpy(to, values.data(), values.size() * sizeof(T));
  return to + values.size() * sizeof(T);
}

int64_t RoundUp8(int64_t bytes) { return (bytes + 7) / 8 * 8; }

}  // namespace

LeafReader::LeafReader(Bytes page) : page_(page.data()) {
  Header header;
  std::memcpy(&header, page_, sizeof header);
  count_ = header.count;
  starts_ = page_ + header.starts;
  time_ = header.time;
  diff_ = header.diff;
  if (header.uniform == 0) {
    times_ = starts_ + RoundUp8(count_ * 4);
    diffs_ = times_ + count_ * 8;
  }
}

Update LeafReader::at(int64_t index) const {
  const Record record = Record::At(page_ + LoadAt<uint32_t>(starts_, index));
  const Bytes row = record.bytes();
  if (times_ == nullptr) [[likely]] return {row, record.key_size, time_, diff_};
  return {row, record.key_size, LoadAt<Time>(times_, index), LoadAt<Diff>(diffs_, index)};
}

Bytes LeafReader::row(int64_t index) const {
  return Record::At(page_ + LoadAt<uint32_t>(starts_, index)).bytes();
}

int64_t LeafReader::LowerBound(int64_t from, Bytes row) const {
  return FirstNotBefore(from, count_,
                        [&](int64_t at) { return CompareRows(this->row(at), row) < 0; });
}

int64_t LeafWriter::FooterBytes(int64_t count, bool uniform) const {
  return RoundUp8(count * 4) + (uniform ? 0 : count * 16) + table::kRowSlack + 8;
}

bool LeafWriter::Fits(const Update& update) const {
  if (!page_) return false;
  const auto size = static_cast<int64_t>(update.row.size());
  const bool uniform = uniform_ && update.time == time_ && update.diff == diff_;
  const int64_t end = at_ - page_.data() + Record::TotalBytes(size, update.key_size);
  return end + FooterBytes(count_ + 1, uniform) <= page_.capacity();
}

Status LeafWriter::Add(const Update& update) {
  const auto size = static_cast<int64_t>(update.row.size());
  if (!page_) {
    const int64_t least =
        kHeaderBytes + Record::TotalBytes(size, update.key_size) + FooterBytes(1, false);
    WEIR_TRY(page_, pool_.New(std::max(leaf_bytes_, least)));
    at_ = page_.data() + kHeaderBytes;
    time_ = update.time;
    diff_ = update.diff;
  }
  if (uniform_ && (update.time != time_ || update.diff != diff_)) Spread();
  if (!uniform_) {
    times_.push_back(update.time);
    diffs_.push_back(update.diff);
  }
  starts_.push_back(static_cast<uint32_t>(at_ - page_.data()));
  at_ = Record::Put(at_, update.row.data(), size, update.key_size);
  ++count_;
  return Ok();
}

Bytes LeafWriter::last_row() const {
  return Record::At(page_.data() + starts_.back()).bytes();
}

// From one time and diff for all to one for each.
void LeafWriter::Spread() {
  uniform_ = false;
  times_.assign(static_cast<size_t>(count_), time_);
  diffs_.assign(static_cast<size_t>(count_), diff_);
}

mem::Page LeafWriter::Take(int depth) {
  WEIR_ASSERT(count_ > 0);
  uint8_t* const page = page_.data();
  const int64_t starts = RoundUp8(at_ - page + table::kRowSlack);
  const Header header{static_cast<uint32_t>(count_), uniform_ ? 1u : 0u, starts, time_, diff_};
  static_assert(sizeof header == kHeaderBytes);
  std::memcpy(page, &header, sizeof header);
  StoreAll(page + starts, starts_);
  uint8_t* end = StoreAll(page + starts + RoundUp8(count_ * 4), times_);
  end = StoreAll(end, diffs_);
  starts_.clear();
  times_.clear();
  diffs_.clear();
  count_ = 0;
  uniform_ = true;
  at_ = nullptr;
  const int64_t used = end - page;
  WEIR_ASSERT(used <= page_.capacity());
  return pool_.Seal(std::move(page_), used, depth);
}

}  // namespace weir::delta
