#include "weir/table/arrow_pool.h"

#include <arrow/status.h>

namespace weir::table {
namespace {

// Arrow asks for zero bytes and expects a pointer that is not null.
alignas(64) uint8_t empty_block[64];

}  // namespace

void ArrowPool::Note(int64_t more) {
  const int64_t now = allocated_.fetch_add(more) + more;
  if (more > 0) total_.fetch_add(more);
  int64_t peak = peak_.load();
  while (now > peak && !peak_.compare_exchange_weak(peak, now)) {
  }
}

arrow::Status ArrowPool::Allocate(int64_t size, int64_t alignment, uint8_t** out) {
  if (alignment > 64) return arrow::Status::Invalid("alignment above 64 bytes");
  if (size == 0) {
    *out = empty_block;
    return arrow::Status::OK();
  }
  auto block = blocks_.Allocate(size);
  if (!block.ok()) return arrow::Status::OutOfMemory(block.error().message);
  *out = block.value();
  count_.fetch_add(1);
  Note(size);
  return arrow::Status::OK();
}

arrow::Status ArrowPool::Reallocate(int64_t old_size, int64_t new_size, int64_t alignment,
                                    uint8_t** ptr) {
  if (*ptr == empty_block || old_size == 0) return Allocate(new_size, alignment, ptr);
  if (new_size == 0) {
    Free(*ptr, old_size, alignment);
    *ptr = empty_block;
    return arrow::Status::OK();
  }
  auto block = blocks_.Reallocate(*ptr, old_size, new_size);
  if (!block.ok()) return arrow::Status::OutOfMemory(block.error().message);
  *ptr = block.value();
  Note(new_size - old_size);
  return arrow::Status::OK();
}

void ArrowPool::Free(uint8_t* buffer, int64_t size, int64_t) {
  if (buffer == empty_block || size == 0) return;
  blocks_.Free(buffer, size);
  Note(-size);
}

}  // namespace weir::table
