#pragma once
// Buffer: bytes that grow at the end, in blocks charged to a budget.
#include <algorithm>
#include <cstring>
#include <memory>
#include <utility>

#include "weir/base/bytes.h"
#include "weir/mem/block_allocator.h"

namespace weir::table {

/// A growing array of bytes, 64-byte aligned.
///
/// Memory:  growth is charged past the budget's limit rather than refused, because it happens in
///          the middle of a row; who fills buffers checks the budget between rows.
/// Threads: one at a time; may be moved to another thread and freed there.
class Buffer {
 public:
  explicit Buffer(mem::BlockAllocator& blocks) : blocks_(&blocks) {}
  /// Bytes that lie elsewhere, charged there, for as long as `owner` lives. Growing copies them.
  Buffer(mem::BlockAllocator& blocks, Bytes lent, std::shared_ptr<const void> owner)
      : blocks_(&blocks),
        data_(const_cast<uint8_t*>(lent.data())),
        size_(std::ssize(lent)),
        capacity_(size_),
        owner_(std::move(owner)) {}
  ~Buffer() {
    if (owner_ == nullptr) blocks_->Free(data_, capacity_);
  }
  Buffer(Buffer&& other) noexcept
      : blocks_(other.blocks_),
        data_(std::exchange(other.data_, nullptr)),
        size_(std::exchange(other.size_, 0)),
        capacity_(std::exchange(other.capacity_, 0)),
        owner_(std::move(other.owner_)) {}
  /// An empty one, charged where this is.
  Buffer NewEmpty() const { return Buffer(*blocks_); }
  Buffer& operator=(Buffer&& other) noexcept {
    std::swap(blocks_, other.blocks_);
    std::swap(data_, other.data_);
    std::swap(size_, other.size_);
    std::swap(capacity_, other.capacity_);
    std::swap(owner_, other.owner_);
    return *this;
  }

  /// Room for `bytes` more at the end, uninitialised. The pointer holds until the next call.
  uint8_t* Extend(int64_t bytes) {
    if (size_ + bytes > capacity_) [[unlikely]] Grow(size_ + bytes);
    uint8_t* at = data_ + size_;
    size_ += bytes;
    return at;
  }
  template <typename T>
  void Push(T value) {
    std::memcpy(Extend(sizeof value), &value, sizeof value);
  }
  /// Forgets the last `bytes`.
  void DropBack(int64_t bytes) { size_ -= bytes; }
  /// Forgets the first `bytes`; those after them move to the front. O(size), or O(1) when none are
  /// left.
  void DropFront(int64_t bytes) {
    if (bytes == 0) return;
    std::memmove(data_, data_ + bytes, static_cast<size_t>(size_ - bytes));
    size_ -= bytes;
  }
  void Reserve(int64_t bytes) {
    if (bytes > capacity_) Resize(bytes);
  }

  uint8_t* data() { return data_; }
  const uint8_t* data() const { return data_; }
  int64_t size() const { return size_; }
  int64_t capacity() const { return capacity_; }
  Bytes bytes() const { return {data_, static_cast<size_t>(size_)}; }

 private:
  void Grow(int64_t needed);
  void Resize(int64_t bytes);

  mem::BlockAllocator* blocks_;
  uint8_t* data_ = nullptr;
  int64_t size_ = 0;
  int64_t capacity_ = 0;
  std::shared_ptr<const void> owner_;  // Of lent bytes.
};

}  // namespace weir::table
