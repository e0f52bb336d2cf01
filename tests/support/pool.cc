#include "tests/support/pool.h"

#include <cstring>
#include <random>
#include <vector>

namespace weir::test {
namespace {

constexpr int64_t kAddresses = int64_t{1} << 32;  // More than any test holds at once.

}  // namespace

void FillPage(uint8_t* data, int64_t bytes, uint64_t id) {
  std::mt19937_64 rng(id);
  std::memset(data, static_cast<int>(id), static_cast<size_t>(bytes));
  for (int64_t at = bytes / 2; at + 8 <= bytes; at += 8) {
    const uint64_t word = rng();
    std::memcpy(data + at, &word, sizeof word);
  }
}

bool HoldsPage(Bytes bytes, uint64_t id) {
  std::vector<uint8_t> want(bytes.size());
  FillPage(want.data(), std::ssize(want), id);
  return std::memcmp(want.data(), bytes.data(), bytes.size()) == 0;
}

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
