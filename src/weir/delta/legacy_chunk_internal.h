#pragma once
// Handles and chunks of the legacy batcher.
#include <algorithm>
#include <vector>

#include "weir/delta/record_internal.h"
#include "weir/mem/block_allocator.h"

namespace weir::delta {

/// Bytes of a row, in 24: short ones are in the handle itself.
class Handle {
 public:
  static constexpr uint32_t kInline = 20;

  uint32_t size() const { return size_; }
  const uint8_t* data() const {
    if (size_ <= kInline) return inline_;
    const uint8_t* at;
    std::memcpy(&at, inline_ + 4, sizeof at);
    return at;
  }
  Bytes bytes() const { return {data(), size_}; }

  static Handle Of(const uint8_t* bytes, uint32_t size) {
    Handle handle;
    handle.size_ = size;
    if (size <= kInline) {
      if (size > 0) std::memcpy(handle.inline_, bytes, size);
    } else {
      std::memcpy(handle.inline_ + 4, &bytes, sizeof bytes);
    }
    return handle;
  }

 private:
  uint32_t size_ = 0;
  uint8_t inline_[kInline] = {};
};
static_assert(sizeof(Handle) == 24);

struct LegacyUpdate {
  Handle key;
  Handle val;
  Time time;
  Diff diff;
};

inline int CompareHandles(const Handle& a, const Handle& b) {
  return CompareRows(a.bytes(), b.bytes());
}
inline int CompareUpdates(const LegacyUpdate& a, const LegacyUpdate& b) {
  int order = CompareHandles(a.key, b.key);
  if (order == 0) order = CompareHandles(a.val, b.val);
  if (order == 0) order = a.time < b.time ? -1 : a.time > b.time ? 1 : 0;
  return order;
}

/// Bytes that are only ever added, in regions that grow to 2 MiB each.
class Region {
 public:
  explicit Region(mem::BlockAllocator& blocks) : blocks_(blocks) {}
  ~Region() {
    for (const Block& block : filled_) blocks_.Free(block.bytes, block.size);
  }
  Region(const Region&) = delete;
  Region& operator=(const Region&) = delete;

  const uint8_t* Copy(const uint8_t* from, uint32_t size) {
    if (size > left_) [[unlikely]] Grow(size);
    uint8_t* to = at_;
    std::memcpy(to, from, size);
    at_ += size;
    left_ -= size;
    return to;
  }
  Handle Copy(const Handle& handle) {
    if (handle.size() <= Handle::kInline) return handle;
    return Handle::Of(Copy(handle.data(), handle.size()), handle.size());
  }
  /// Forgets the bytes; keeps the largest region for the next ones.
  void Clear() {
    while (filled_.size() > 1) {
      blocks_.Free(filled_.front().bytes, filled_.front().size);
      filled_.erase(filled_.begin());
    }
    if (filled_.empty()) return;
    at_ = filled_.front().bytes;
    left_ = filled_.front().size;
  }

 private:
  struct Block {
    uint8_t* bytes;
    int64_t size;
  };

  void Grow(int64_t least) {
    constexpr int64_t kMostBytes = 2 << 20;
    const int64_t doubled = filled_.empty() ? 16 << 10 : 2 * filled_.back().size;
    const int64_t size = std::max(least, std::min(doubled, kMostBytes));
    filled_.push_back({blocks_.ForceAllocate(size), size});
    at_ = filled_.back().bytes;
    left_ = size;
  }

  mem::BlockAllocator& blocks_;
  std::vector<Block> filled_;
  uint8_t* at_ = nullptr;
  int64_t left_ = 0;
};

/// Updates whose rows lie in its region: 64 KiB of handles, or twice that while it is a buffer.
class LegacyChunk {
 public:
  static constexpr size_t kUpdates = (64 << 10) / sizeof(LegacyUpdate);

  LegacyChunk(mem::BlockAllocator& blocks, size_t capacity)
      : blocks_(blocks),
        capacity_(capacity),
        updates_(reinterpret_cast<LegacyUpdate*>(
            blocks.ForceAllocate(static_cast<int64_t>(capacity * sizeof(LegacyUpdate))))),
        region_(blocks) {}
  ~LegacyChunk() {
    blocks_.Free(reinterpret_cast<uint8_t*>(updates_),
                 static_cast<int64_t>(capacity_ * sizeof(LegacyUpdate)));
  }
  LegacyChunk(const LegacyChunk&) = delete;
  LegacyChunk& operator=(const LegacyChunk&) = delete;

  size_t size() const { return size_; }
  bool full() const { return size_ == capacity_; }
  const LegacyUpdate& operator[](size_t at) const { return updates_[at]; }

  void Add(const uint8_t* row, int64_t size, int32_t key_size, Time time, Diff diff) {
    const auto key = static_cast<uint32_t>(key_size);
    updates_[size_++] = {Store(row, key), Store(row + key, static_cast<uint32_t>(size) - key), time,
                         diff};
  }
  void Copy(const LegacyUpdate& from, Diff diff) {
    updates_[size_++] = {region_.Copy(from.key), region_.Copy(from.val), from.time, diff};
  }
  void Clear() {
    size_ = 0;
    region_.Clear();
  }
  /// Sorts, and adds the diffs of the same row and time up; in place.
  void Consolidate();

 private:
  Handle Store(const uint8_t* from, uint32_t size) {
    return Handle::Of(size <= Handle::kInline ? from : region_.Copy(from, size), size);
  }

  mem::BlockAllocator& blocks_;
  const size_t capacity_;
  LegacyUpdate* const updates_;
  size_t size_ = 0;
  Region region_;
};

}  // namespace weir::delta
