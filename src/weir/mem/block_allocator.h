#pragma once
// BlockAllocator: large blocks straight from the kernel, charged to a budget and recycled while
// warm.
#include <array>
#include <cstdint>
#include <list>
#include <map>
#include <mutex>
#include <unordered_map>
#include <vector>

#include "weir/mem/budget.h"

namespace weir::mem {

/// Memory for buffers of kilobytes to gigabytes.
///
/// Blocks of kSmallBytes and more are mapped one by one, so that a freed block really leaves the
/// process and a growing one is moved by the kernel without copying. A few freed blocks are kept to
/// be handed out again: touching a fresh page costs a page fault, a warm one does not. Kept blocks
/// stay charged.
///
/// Alignment: 64 bytes. Threads: any. Aborts when the kernel has no more memory.
class BlockAllocator {
 public:
  /// Blocks below this come from malloc.
  static constexpr int64_t kSmallBytes = 16 << 10;

  /// Keeps at most `keep_bytes` of freed blocks.
  BlockAllocator(Budget& budget, int64_t keep_bytes);
  ~BlockAllocator();  ///< Aborts when blocks are still out.
  BlockAllocator(const BlockAllocator&) = delete;
  BlockAllocator& operator=(const BlockAllocator&) = delete;

  /// The size a request is rounded up to; usable in full. At most 1/4 more.
  static int64_t RoundUp(int64_t bytes);

  /// A block of RoundUp(bytes), or a kept one of up to twice that; its whole size is charged.
  /// Errors: kExhausted from the budget, after kept blocks were given up, or when the kernel
  ///         refuses memory.
  Result<uint8_t*> Allocate(int64_t bytes);
  /// The same block at a new size, its first min(old, new) bytes unchanged.
  Result<uint8_t*> Reallocate(uint8_t* block, int64_t old_bytes, int64_t new_bytes);
  /// As Allocate and Reallocate, but past the budget's limit if need be; the caller checks it
  /// later. Aborts when the kernel refuses memory.
  uint8_t* ForceAllocate(int64_t bytes);
  uint8_t* ForceReallocate(uint8_t* block, int64_t old_bytes, int64_t new_bytes);
  /// `bytes` is what the block was asked for. Null is fine.
  void Free(uint8_t* block, int64_t bytes);

  Budget& budget() { return budget_; }
  int64_t kept_bytes() const;

 private:
  struct Kept {
    uint8_t* block;
    int64_t bytes;
  };

  using KeptBySize = std::multimap<int64_t, std::list<Kept>::iterator>;
  enum class Limit { kObeyed, kForced };

  Status ChargeBlock(int64_t bytes, Limit limit);
  Result<uint8_t*> Get(int64_t bytes, Limit limit);
  Result<uint8_t*> Resize(uint8_t* block, int64_t old_bytes, int64_t new_bytes, Limit limit);
  Result<uint8_t*> ResizeMapped(uint8_t* block, int64_t old_bytes, int64_t new_rounded,
                                Limit limit);
  uint8_t* TakeKept(int64_t bytes);
  Kept ForgetKept(KeptBySize::iterator at);
  void NoteMapped(uint8_t* block, int64_t size);
  void ForgetMapped(uint8_t* block);
  int64_t MappedSize(uint8_t* block) const;
  void DropOldest();
  void Unmap(Kept block);
  void DropKept();

  Budget& budget_;
  const int64_t keep_bytes_;
  mutable std::mutex mutex_;
  std::list<Kept> kept_;  // Oldest first.
  KeptBySize kept_by_size_;  // Of equals, oldest first.
  int64_t kept_total_ = 0;
  std::unordered_map<uint8_t*, int64_t> mapped_;  // Size of every mapped block, out or kept.
  std::atomic<int64_t> blocks_out_{0};
};

}  // namespace weir::mem
