#include "weir/table/buffer.h"

namespace weir::table {

// Small buffers double. Past a megabyte they grow by a quarter: the kernel moves such blocks
// without copying, and a value of 50 MB should not cost 100.
void Buffer::Grow(int64_t needed) {
  constexpr int64_t kDoubleUpTo = 1 << 20;
  const int64_t roomier = capacity_ < kDoubleUpTo ? capacity_ * 2 : capacity_ + capacity_ / 4;
  Resize(std::max({needed, roomier, int64_t{1024}}));
}

void Buffer::Resize(int64_t bytes) {
  const int64_t rounded = mem::BlockAllocator::RoundUp(bytes);
  if (owner_ != nullptr) {
    uint8_t* const own = blocks_->ForceAllocate(rounded);
    std::memcpy(own, data_, static_cast<size_t>(size_));
    data_ = own;
    capacity_ = rounded;
    owner_.reset();
    return;
  }
  data_ = blocks_->ForceReallocate(data_, capacity_, rounded);
  capacity_ = rounded;
}

}  // namespace weir::table
