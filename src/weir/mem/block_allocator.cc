#include "weir/mem/block_allocator.h"

#include <sys/mman.h>

#include <algorithm>
#include <bit>
#include <cstdlib>
#include <cstring>

#include "weir/base/units.h"

namespace weir::mem {
namespace {

constexpr size_t kAlignment = 64;
constexpr int64_t kMostCopied = 4 << 20;
constexpr int64_t kMostRoom = 2;  // A block may be this many times as large as was asked for.

bool IsSmall(int64_t rounded) { return rounded < BlockAllocator::kSmallBytes; }

// malloc with room to align by hand. glibc's aligned_alloc (before 2.38) carves each block out of a
// larger one and does not find freed ones again: 50 MB in use came to hold 700.
uint8_t* AlignedMalloc(size_t bytes) {
  void* const raw = std::malloc(bytes + kAlignment);
  WEIR_ASSERT(raw != nullptr);
  const auto address = reinterpret_cast<uintptr_t>(raw);
  uint8_t* const block = static_cast<uint8_t*>(raw) + (kAlignment - address % kAlignment);
  std::memcpy(block - sizeof raw, &raw, sizeof raw);  // malloc aligns to 16: there is room.
  return block;
}

void AlignedFree(uint8_t* block) {
  void* raw = nullptr;
  std::memcpy(&raw, block - sizeof raw, sizeof raw);
  std::free(raw);
}

// Null: the kernel refuses memory.
uint8_t* NewBlock(int64_t rounded) {
  if (IsSmall(rounded)) return AlignedMalloc(static_cast<size_t>(rounded));
  void* const block = mmap(nullptr, static_cast<size_t>(rounded), PROT_READ | PROT_WRITE,
                           MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  return block == MAP_FAILED ? nullptr : static_cast<uint8_t*>(block);
}

Error Refused(int64_t bytes) {
  return Fail(Code::kExhausted, "the kernel refuses {} of memory; raise ulimit -v, or "
              "vm.overcommit_ratio where vm.overcommit_memory is 2", FormatBytes(bytes));
}

}  // namespace

BlockAllocator::BlockAllocator(Budget& budget, int64_t keep_bytes)
    : budget_(budget), keep_bytes_(keep_bytes) {}

BlockAllocator::~BlockAllocator() {
  DropKept();
  WEIR_ASSERT(blocks_out_.load() == 0);
}

int64_t BlockAllocator::RoundUp(int64_t bytes) {
  WEIR_ASSERT(bytes >= 0);
  const uint64_t asked = static_cast<uint64_t>(std::max<int64_t>(bytes, kAlignment));
  // Four classes per power of two, and whole pages once blocks are mapped.
  const uint64_t step = std::max<uint64_t>(std::bit_floor(asked) / 4, kAlignment);
  const uint64_t rounded = (asked + step - 1) / step * step;
  const uint64_t page = rounded < kSmallBytes ? kAlignment : 4096;
  return static_cast<int64_t>((rounded + page - 1) / page * page);
}

Status BlockAllocator::ChargeBlock(int64_t bytes, Limit limit) {
  // Others first: kept blocks are few, and fresh ones in their place cost page faults.
  if (budget_.ChargeOrReclaim(bytes).ok()) return Ok();
  DropKept();
  Status charged = budget_.ChargeOrReclaim(bytes);
  if (charged.ok() || limit == Limit::kObeyed) return charged;
  budget_.ForceCharge(bytes);
  return Ok();
}

Result<uint8_t*> BlockAllocator::Get(int64_t bytes, Limit limit) {
  const int64_t rounded = RoundUp(bytes);
  uint8_t* block = IsSmall(rounded) ? nullptr : TakeKept(rounded);
  if (block == nullptr) {
    WEIR_DO(ChargeBlock(rounded, limit));
    block = NewBlock(rounded);
    if (block == nullptr) {
      budget_.Release(rounded);
      return Refused(rounded);
    }
    if (!IsSmall(rounded)) NoteMapped(block, rounded);
  }
  blocks_out_.fetch_add(1, std::memory_order_relaxed);
  return block;
}

Result<uint8_t*> BlockAllocator::Resize(uint8_t* block, int64_t old_bytes, int64_t new_bytes,
                                        Limit limit) {
  if (block == nullptr) return Get(new_bytes, limit);
  const int64_t old_rounded = RoundUp(old_bytes);
  const int64_t new_rounded = RoundUp(new_bytes);
  if (old_rounded == new_rounded) return block;
  if (!IsSmall(old_rounded) && !IsSmall(new_rounded)) {
    return ResizeMapped(block, old_bytes, new_rounded, limit);
  }
  WEIR_TRY(uint8_t* const fresh, Get(new_bytes, limit));
  std::memcpy(fresh, block, static_cast<size_t>(std::min(old_bytes, new_bytes)));
  Free(block, old_bytes);
  return fresh;
}

Result<uint8_t*> BlockAllocator::ResizeMapped(uint8_t* block, int64_t old_bytes,
                                              int64_t new_rounded, Limit limit) {
  const int64_t size = MappedSize(block);
  if (new_rounded <= size && size <= kMostRoom * new_rounded) return block;
  // Copying into a warm block costs less than the page faults of a fresh one; a huge one is rather
  // moved.
  uint8_t* const kept = new_rounded <= kMostCopied ? TakeKept(new_rounded) : nullptr;
  if (kept != nullptr) {
    blocks_out_.fetch_add(1, std::memory_order_relaxed);
    std::memcpy(kept, block, static_cast<size_t>(std::min(old_bytes, new_rounded)));
    Free(block, old_bytes);
    return kept;
  }
  if (new_rounded > size) WEIR_DO(ChargeBlock(new_rounded - size, limit));
  ForgetMapped(block);  // First: once moved, another thread may be given its old address.
  void* const moved = mremap(block, static_cast<size_t>(size), static_cast<size_t>(new_rounded),
                             MREMAP_MAYMOVE);
  if (moved == MAP_FAILED) {
    NoteMapped(block, size);
    budget_.Release(std::max<int64_t>(new_rounded - size, 0));
    return Refused(new_rounded);
  }
  NoteMapped(static_cast<uint8_t*>(moved), new_rounded);
  if (new_rounded < size) budget_.Release(size - new_rounded);
  return static_cast<uint8_t*>(moved);
}

Result<uint8_t*> BlockAllocator::Allocate(int64_t bytes) { return Get(bytes, Limit::kObeyed); }

Result<uint8_t*> BlockAllocator::Reallocate(uint8_t* block, int64_t old_bytes, int64_t new_bytes) {
  return Resize(block, old_bytes, new_bytes, Limit::kObeyed);
}

uint8_t* BlockAllocator::ForceAllocate(int64_t bytes) { return Get(bytes, Limit::kForced).value(); }

uint8_t* BlockAllocator::ForceReallocate(uint8_t* block, int64_t old_bytes, int64_t new_bytes) {
  return Resize(block, old_bytes, new_bytes, Limit::kForced).value();
}

void BlockAllocator::Free(uint8_t* block, int64_t bytes) {
  if (block == nullptr) return;
  blocks_out_.fetch_sub(1, std::memory_order_relaxed);
  const int64_t rounded = RoundUp(bytes);
  if (IsSmall(rounded)) {
    AlignedFree(block);
    budget_.Release(rounded);
    return;
  }
  const std::lock_guard lock(mutex_);
  const int64_t size = mapped_.at(block);
  if (size > keep_bytes_) return Unmap({block, size});
  kept_.push_back({block, size});
  kept_by_size_.emplace(size, std::prev(kept_.end()));
  kept_total_ += size;
  while (kept_total_ > keep_bytes_) DropOldest();
}

uint8_t* BlockAllocator::TakeKept(int64_t bytes) {
  const std::lock_guard lock(mutex_);
  // The least that is large enough; of equals the newest: its pages are likeliest to be in the
  // processor's cache.
  const auto least = kept_by_size_.lower_bound(bytes);
  if (least == kept_by_size_.end() || least->first > kMostRoom * bytes) return nullptr;
  return ForgetKept(std::prev(kept_by_size_.upper_bound(least->first))).block;
}

// Requires: mutex_ is held.
BlockAllocator::Kept BlockAllocator::ForgetKept(KeptBySize::iterator at) {
  const Kept kept = *at->second;
  kept_.erase(at->second);
  kept_by_size_.erase(at);
  kept_total_ -= kept.bytes;
  return kept;
}

void BlockAllocator::NoteMapped(uint8_t* block, int64_t size) {
  const std::lock_guard lock(mutex_);
  mapped_[block] = size;
}

void BlockAllocator::ForgetMapped(uint8_t* block) {
  const std::lock_guard lock(mutex_);
  mapped_.erase(block);
}

int64_t BlockAllocator::MappedSize(uint8_t* block) const {
  const std::lock_guard lock(mutex_);
  return mapped_.at(block);
}

// Requires: mutex_ is held and something is kept. Sizes asked for change over time, so the oldest
// is the likeliest to fit no longer.
void BlockAllocator::DropOldest() {
  // Of its size it is the oldest too.
  Unmap(ForgetKept(kept_by_size_.lower_bound(kept_.front().bytes)));
}

// Requires: mutex_ is held, so that nobody is given the address before it is forgotten.
void BlockAllocator::Unmap(Kept block) {
  mapped_.erase(block.block);
  WEIR_ASSERT(munmap(block.block, static_cast<size_t>(block.bytes)) == 0);
  budget_.Release(block.bytes);
}

void BlockAllocator::DropKept() {
  const std::lock_guard lock(mutex_);
  while (!kept_.empty()) DropOldest();
}

int64_t BlockAllocator::kept_bytes() const {
  const std::lock_guard lock(mutex_);
  return kept_total_;
}

}  // namespace weir::mem
