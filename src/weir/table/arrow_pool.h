#pragma once
// ArrowPool: an arrow::MemoryPool whose every byte is charged to a budget.
#include <arrow/memory_pool.h>

#include <atomic>

#include "weir/mem/block_allocator.h"

namespace weir::table {

/// Hands Arrow blocks of a BlockAllocator; a full budget is Arrow's OutOfMemory.
///
/// Threads: any. Must outlive everything Arrow allocated from it.
class ArrowPool final : public arrow::MemoryPool {
 public:
  explicit ArrowPool(mem::BlockAllocator& blocks) : blocks_(blocks) {}

  arrow::Status Allocate(int64_t size, int64_t alignment, uint8_t** out) override;
  arrow::Status Reallocate(int64_t old_size, int64_t new_size, int64_t alignment,
                           uint8_t** ptr) override;
  void Free(uint8_t* buffer, int64_t size, int64_t alignment) override;

  int64_t bytes_allocated() const override { return allocated_.load(); }
  int64_t max_memory() const override { return peak_.load(); }
  int64_t total_bytes_allocated() const override { return total_.load(); }
  int64_t num_allocations() const override { return count_.load(); }
  std::string backend_name() const override { return "weir"; }

 private:
  void Note(int64_t more);

  mem::BlockAllocator& blocks_;
  std::atomic<int64_t> allocated_{0};
  std::atomic<int64_t> peak_{0};
  std::atomic<int64_t> total_{0};
  std::atomic<int64_t> count_{0};
};

}  // namespace weir::table
