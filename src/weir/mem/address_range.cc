#include "weir/mem/address_range_internal.h"

#include <sys/mman.h>

#include <algorithm>

#include "weir/base/assert.h"

namespace weir::mem {
namespace {

constexpr int64_t kAlignment = 2 << 20;  // Of a huge page.
constexpr int64_t kOpenBytes = 16 << 20;  // At a time: a system call is nothing beside so many.

}  // namespace

bool AddressRange::Reserve(int64_t bytes, int64_t unit_bytes, int advice) {
  Unreserve();
  void* const mapped = mmap(nullptr, static_cast<size_t>(bytes + kAlignment), PROT_NONE,
                            MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (mapped == MAP_FAILED) return false;
  mapped_ = mapped;
  base_ = static_cast<uint8_t*>(mapped) + (-reinterpret_cast<uintptr_t>(mapped) & (kAlignment - 1));
  bytes_ = bytes;
  unit_bytes_ = unit_bytes;
  // Advice only: memory works all the same.
  (void)madvise(base_, static_cast<size_t>(bytes), advice);
  return true;
}

void AddressRange::Unreserve() {
  if (mapped_ != nullptr) munmap(mapped_, static_cast<size_t>(bytes_ + kAlignment));
  mapped_ = nullptr;
  bytes_ = 0;
}

bool AddressRange::OpenTo(int64_t bytes) {
  if (bytes <= open_bytes_) return true;
  const int64_t more = std::min(std::max(bytes - open_bytes_, kOpenBytes), bytes_ - open_bytes_);
  if (mprotect(base_ + open_bytes_, static_cast<size_t>(more), PROT_READ | PROT_WRITE) != 0) {
    return false;
  }
  open_bytes_ += more;
  return true;
}

uint8_t* AddressRange::Take(int64_t units) {
  if (const auto free = free_.Take(units); free.has_value()) return base_ + *free * unit_bytes_;
  const int64_t end = (used_units_ + units) * unit_bytes_;
  if (end > bytes_ || !OpenTo(end)) return nullptr;
  used_units_ += units;
  return base_ + end - units * unit_bytes_;
}

void AddressRange::Free(const uint8_t* first, int64_t units) {
  free_.Add((first - base_) / unit_bytes_, units);
}

void AddressRange::GiveBack(uint8_t* memory, int64_t bytes) {
  WEIR_ASSERT(madvise(memory, static_cast<size_t>(bytes), MADV_DONTNEED) == 0);
}

}  // namespace weir::mem
