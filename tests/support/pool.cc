#include "tests/support/pool.h"

namespace weir::test {
namespace {

constexpr int64_t kAddresses = int64_t{1} << 32;  // More than any test holds at once.

}  // namespace

SpillingPool::SpillingPool(int64_t limit_bytes, mem::PoolOptions options,
                           int64_t spill_limit_bytes)
    : budget_("pool", limit_bytes), frames_(budget_, kAddresses) {
  auto file = std::make_unique<sys::FailingScratchFile>(
      sys::OpenScratchFile(folder_.path()).value(),
      Error{Code::kUnavailable, "the device is gone"});
  file_ = file.get();
  auto store = std::make_unique<mem::ExtentStore>(std::move(file), spill_limit_bytes);
  pool_ = mem::Pool::Make(frames_, std::move(store), options).value();
}

}  // namespace weir::test
