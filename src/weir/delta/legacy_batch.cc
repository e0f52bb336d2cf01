#include <cstring>

#include "weir/delta/legacy_batch_internal.h"
#include "weir/delta/record_internal.h"
#include "weir/delta/search_internal.h"

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
  LegacyCursor(const LegacyBatch& batch, Place at) : batch_(batch), key_(at.key), val_(at.val) {}

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

  Status SkipTo(Bytes row) override {
    const auto [key, val] = batch_.Find({key_, val_}, row);
    if (val == val_) return Ok();
    key_ = key;
    val_ = val;
    open_ = false;
    return Ok();
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

// By key, then by what of `row` goes beyond it: no key is the beginning of another.
LegacyBatch::Place LegacyBatch::Find(Place from, Bytes row) const {
  const auto begins = [&](Bytes key) {
    return key.size() <= row.size() && CompareRows(key, row.first(key.size())) == 0;
  };
  const int64_t key = FirstNotBefore(from.key, keys_.count(), [&](int64_t at) {
    return !begins(keys_[at]) && CompareRows(keys_[at], row) < 0;
  });
  int64_t val = std::max(from.val, FirstVal(key));
  if (key < keys_.count() && begins(keys_[key])) {
    const Bytes rest = row.subspan(keys_[key].size());
    val = FirstNotBefore(val, val_ends_[key],
                         [&](int64_t at) { return CompareRows(vals_[at], rest) < 0; });
  }
  return {key, val};
}

Result<std::unique_ptr<Cursor>> LegacyBatch::Seek(Bytes from) const {
  return std::unique_ptr<Cursor>(std::make_unique<LegacyCursor>(*this, Find({0, 0}, from)));
}

}  // namespace weir::delta
