#pragma once
// LegacyBatch: what the legacy batcher builds: keys, values and their updates, each in one array.
#include <algorithm>
#include <cstring>
#include <vector>

#include "weir/delta/batch.h"
#include "weir/mem/block_allocator.h"

namespace weir::delta {

/// Byte strings one after another, in one block of the size asked for at the start.
class ByteStrings {
 public:
  ByteStrings(mem::BlockAllocator& blocks, int64_t count, int64_t bytes);
  ~ByteStrings();
  ByteStrings(const ByteStrings&) = delete;
  ByteStrings& operator=(const ByteStrings&) = delete;

  void Add(Bytes string) {
    if (!string.empty()) std::memcpy(bytes_ + ends_[count_], string.data(), string.size());
    ends_[count_ + 1] = ends_[count_] + static_cast<int64_t>(string.size());
    ++count_;
  }
  int64_t count() const { return count_; }
  Bytes operator[](int64_t at) const {
    return {bytes_ + ends_[at], static_cast<size_t>(ends_[at + 1] - ends_[at])};
  }

 private:
  mem::BlockAllocator& blocks_;
  const int64_t bytes_size_;
  const int64_t ends_size_;
  uint8_t* bytes_;
  int64_t* ends_;  // ends_[i + 1] is where string i ends; ends_[0] is 0.
  int64_t count_ = 0;
};

/// Whole numbers in one block.
template <typename T>
class Numbers {
 public:
  Numbers(mem::BlockAllocator& blocks, int64_t most)
      : blocks_(blocks),
        size_(std::max<int64_t>(most, 1) * static_cast<int64_t>(sizeof(T))),
        numbers_(reinterpret_cast<T*>(blocks.ForceAllocate(size_))) {}
  ~Numbers() { blocks_.Free(reinterpret_cast<uint8_t*>(numbers_), size_); }
  Numbers(const Numbers&) = delete;
  Numbers& operator=(const Numbers&) = delete;

  void Add(T number) { numbers_[count_++] = number; }
  void DropLast() { --count_; }
  int64_t count() const { return count_; }
  T operator[](int64_t at) const { return numbers_[at]; }

 private:
  mem::BlockAllocator& blocks_;
  const int64_t size_;
  T* const numbers_;
  int64_t count_ = 0;
};

struct LegacyCounts {
  int64_t keys = 0;
  int64_t key_bytes = 0;
  int64_t vals = 0;
  int64_t val_bytes = 0;
  int64_t updates = 0;
};

/// A trie of three layers: keys, values of each, times and diffs of each value. A value without
/// updates of its own has the one of the value before (all of a snapshot has the same).
class LegacyBatch final : public Batch {
 public:
  LegacyBatch(mem::BlockAllocator& blocks, const LegacyCounts& counts, Description description);

  /// In the order of key, val and time.
  void Add(Bytes key, Bytes val, Time time, Diff diff);
  void Finish();

  const Description& description() const override { return description_; }
  int64_t update_count() const override { return update_count_; }
  Result<std::unique_ptr<Cursor>> Seek(Bytes from) const override;

 private:
  class LegacyCursor;
  struct Place {
    int64_t key;
    int64_t val;
  };

  /// From `from` on, the first value whose row is not before `row`.
  /// Requires: `from` is a place of a value, or the end.
  Place Find(Place from, Bytes row) const;
  void EndVal();
  int64_t FirstVal(int64_t key) const { return key == 0 ? 0 : val_ends_[key - 1]; }
  int64_t FirstUpdate(int64_t val) const { return val == 0 ? 0 : update_ends_[val - 1]; }

  const Description description_;
  int64_t update_count_ = 0;
  ByteStrings keys_;
  Numbers<int64_t> val_ends_;  // Of each key.
  ByteStrings vals_;
  Numbers<int64_t> update_ends_;  // Of each value.
  Numbers<Time> times_;
  Numbers<Diff> diffs_;
  int64_t val_updates_ = 0;  // Of the value being added.
};

}  // namespace weir::delta
