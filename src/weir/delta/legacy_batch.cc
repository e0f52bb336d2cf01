#include <cstring>

#include "weir/delta/legacy_batch_internal.h"
#include "weir/delta/record_internal.h"

namespace weir::delta {

ByteStrings::ByteStrings(mem::BlockAllocator& blocks, int64_t count, int64_t bytes)
    : blocks_(blocks),
      bytes_size_(bytes + table::kRowSlack),
      ends_size_((count + 1) * static_cast<int64_t>(sizeof(int64_t))),
      bytes_(blocks.ForceAllocate(bytes_size_)),
      ends_(reinterpret_cast<int64_t*>(blocks.ForceAllocate(ends_size_))) {
  ends_[0] = 0;
}

ByteStrings::~ByteStrings() {
  blocks_.Free(bytes_, bytes_size_);
  blocks_.Free(reinterpret_cast<uint8_t*>(ends_), ends_size_);
}

LegacyBatch::LegacyBatch(mem::BlockAllocator& blocks, const LegacyCounts& counts,
                         Description description)
    : description_(description),
      keys_(blocks, counts.keys, counts.key_bytes),
      val_ends_(blocks, counts.keys),
      vals_(blocks, counts.vals, counts.val_bytes),
      update_ends_(blocks, counts.vals),
      times_(blocks, counts.updates),
      diffs_(blocks, counts.updates) {}

void LegacyBatch::Add(Bytes key, Bytes val, Time time, Diff diff) {
  const bool new_key = keys_.count() == 0 || CompareRows(keys_[keys_.count() - 1], key) != 0;
  const bool new_val =
      new_key || CompareRows(vals_[vals_.count() - 1], val) != 0;
  if (new_val && vals_.count() > 0) EndVal();
  if (new_key) {
    if (keys_.count() > 0) val_ends_.Add(vals_.count());
    keys_.Add(key);
  }
  if (new_val) vals_.Add(val);
  times_.Add(time);
  diffs_.Add(diff);
  ++val_updates_;
  ++update_count_;
}

// A single update that is the same as the one before is not kept twice.
void LegacyBatch::EndVal() {
  const int64_t last = times_.count() - 1;
  const bool repeats = val_updates_ == 1 && last > 0 && times_[last] == times_[last - 1] &&
                       diffs_[last] == diffs_[last - 1];
  if (repeats) {
    times_.DropLast();
    diffs_.DropLast();
  }
  update_ends_.Add(times_.count());
  val_updates_ = 0;
}

void LegacyBatch::Finish() {
  if (vals_.count() == 0) return;
  EndVal();
  val_ends_.Add(vals_.count());
}

class LegacyBatch::LegacyCursor final : public Cursor {
 public:
  LegacyCursor(const LegacyBatch& batch, int64_t key, int64_t val)
      : batch_(batch), key_(key), val_(val) {}

  Result<bool> Next(Update& update) override {
    if (update_ == end_ && std::exchange(open_, false)) ++val_;
    if (val_ == batch_.vals_.count()) return false;
    if (!open_) Open();
    update = {Bytes(row_).first(row_.size() - table::kRowSlack),
              static_cast<int32_t>(batch_.keys_[key_].size()), batch_.times_[update_],
              batch_.diffs_[update_]};
    ++update_;
    return true;
  }

 private:
  void Open() {
    while (val_ == batch_.val_ends_[key_]) ++key_;
    end_ = batch_.update_ends_[val_];
    update_ = std::min(batch_.FirstUpdate(val_), end_ - 1);
    const Bytes key = batch_.keys_[key_];
    const Bytes val = batch_.vals_[val_];
    row_.assign(key.begin(), key.end());
    row_.insert(row_.end(), val.begin(), val.end());
    row_.resize(row_.size() + table::kRowSlack);
    open_ = true;
  }

  const LegacyBatch& batch_;
  int64_t key_;
  int64_t val_;
  bool open_ = false;
  int64_t update_ = 0;
  int64_t end_ = 0;
  std::vector<uint8_t> row_;  // The key and value at hand, and slack.
};

// By key, then by what of `from` goes beyond it: no key is the beginning of another.
Result<std::unique_ptr<Cursor>> LegacyBatch::Seek(Bytes from) const {
  int64_t low = 0;
  int64_t high = keys_.count();
  const auto begins = [&](Bytes key) {
    return key.size() <= from.size() && std::memcmp(key.data(), from.data(), key.size()) == 0;
  };
  while (low < high) {  // The first key that does not come before `from`, or begins it.
    const int64_t middle = (low + high) / 2;
    const Bytes key = keys_[middle];
    if (!begins(key) && CompareRows(key, from) < 0) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  const int64_t key = low;
  int64_t val = FirstVal(key);
  if (key < keys_.count() && begins(keys_[key])) {
    const Bytes rest = from.subspan(keys_[key].size());
    high = val_ends_[key];
    while (val < high) {
      const int64_t middle = (val + high) / 2;
      if (CompareRows(vals_[middle], rest) < 0) {
        val = middle + 1;
      } else {
        high = middle;
      }
    }
  }
  return std::unique_ptr<Cursor>(std::make_unique<LegacyCursor>(*this, key, val));
}

}  // namespace weir::delta
