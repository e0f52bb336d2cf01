#include "tests/support/faulty_pool.h"

#include <thread>

#include "weir/base/assert.h"
#include "weir/base/units.h"

namespace weir::test {
namespace {

constexpr int64_t kAddresses = int64_t{1} << 32;  // More than any test holds at once.

}  // namespace

std::set<Code> CodesOf(FileFault fault) {
  switch (fault) {
    case FileFault::kCorrupt: return {Code::kCorrupt};
    case FileFault::kNoSpace: return {Code::kExhausted};
    case FileFault::kNone:
    case FileFault::kSlow: return {};
    default: return {Code::kUnavailable};
  }
}

void FaultyFile::Inject(FileFault fault, uint64_t seed, int64_t after, int one_in) {
  const std::lock_guard lock(mutex_);
  fault_ = fault;
  after_ = after;
  one_in_ = one_in;
  rng_.seed(seed);
}

bool FaultyFile::Strikes(FileFault fault) {
  const std::lock_guard lock(mutex_);
  if (fault_ != fault) return false;
  if (after_ > 0) {
    --after_;
    return false;
  }
  if (rng_() % static_cast<uint64_t>(one_in_) != 0) return false;
  ++injected_;
  return true;
}

void FaultyFile::Dawdle() {
  if (watch_) watch_();
  if (!Strikes(FileFault::kSlow)) return;
  for (int turn = 0; turn < 300; ++turn) std::this_thread::yield();
}

Status FaultyFile::Reserve(int64_t offset, int64_t bytes) {
  if (Strikes(FileFault::kNoSpace)) {
    return Fail(Code::kExhausted, "no space for {} more", FormatBytes(bytes));
  }
  return below_->Reserve(offset, bytes);
}

Status FaultyFile::Write(int64_t offset, std::span<const Bytes> pieces) {
  Dawdle();
  if (Strikes(FileFault::kWrite)) return Fail(Code::kUnavailable, "a write failed");
  if (Strikes(FileFault::kShortWrite)) {
    WEIR_DO(below_->Write(offset, pieces.first((pieces.size() + 1) / 2)));
    return Fail(Code::kUnavailable, "a write ended halfway");
  }
  return below_->Write(offset, pieces);
}

Status FaultyFile::Read(int64_t offset, std::span<uint8_t> to) {
  Dawdle();
  if (Strikes(FileFault::kRead)) return Fail(Code::kUnavailable, "a read failed");
  WEIR_DO(below_->Read(offset, to));
  // The first byte: the last ones may be the padding up to a whole block.
  if (Strikes(FileFault::kCorrupt)) to[0] ^= 4;
  return Ok();
}

FaultyPool::FaultyPool(int64_t limit_bytes, mem::PoolOptions options)
    : budget_("pool", limit_bytes), frames_(budget_, kAddresses) {
  auto file = std::make_unique<FaultyFile>(sys::OpenScratchFile(folder_.path()).value());
  file_ = file.get();
  auto store = std::make_unique<mem::ExtentStore>(std::move(file), int64_t{1} << 40);
  pool_ = mem::Pool::Make(frames_, std::move(store), options).value();
}

void FaultyPool::ExpectNothingLeft() const {
  constexpr int kMostTurns = 100'000'000;
  for (int turn = 0; pool_->counters().live_pages > 0; ++turn) {
    WEIR_ASSERT(turn < kMostTurns);
    std::this_thread::yield();
  }
  WEIR_ASSERT(pool_->counters().resident_bytes == 0);
}

}  // namespace weir::test
