#pragma once
// SpillingPool: a pool of pages with a budget of its own, and a spill file that fails when told to.
#include <memory>

#include "tests/support/folder.h"
#include "weir/mem/pool.h"

namespace weir::test {

/// Spill threads keep one megabyte free, so that small budgets are not all reserve.
inline constexpr mem::PoolOptions kSmallReserve = {.reserve_bytes = 1 << 20};

/// Bytes that tell this page from others; the first half compresses.
void FillPage(uint8_t* data, int64_t bytes, uint64_t id);
bool HoldsPage(Bytes bytes, uint64_t id);

/// Its error, when told to fail, is kUnavailable "the device is gone".
class SpillingPool {
 public:
  explicit SpillingPool(int64_t limit_bytes, mem::PoolOptions options = kSmallReserve,
                        int64_t spill_limit_bytes = int64_t{1} << 40);

  mem::Pool& pool() { return *pool_; }
  mem::Budget& budget() { return budget_; }
  sys::FailingScratchFile& file() { return *file_; }

 private:
  TempFolder folder_;
  mem::Budget budget_;
  mem::Frames frames_;
  sys::FailingScratchFile* file_;
  std::unique_ptr<mem::Pool> pool_;
};

}  // namespace weir::test
