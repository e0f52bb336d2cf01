#pragma once
// FaultyPool: a pool of pages over a spill file that breaks at random moments, or can be held.
#include <functional>
#include <memory>
#include <random>
#include <set>

#include "tests/support/folder.h"
#include "weir/mem/pool.h"

namespace weir::test {

/// What is wrong with a spill file.
enum class FileFault : uint8_t {
  kNone,
  kWrite,       ///< A write fails: kUnavailable.
  kShortWrite,  ///< Half of it is written, then it fails: kUnavailable.
  kRead,        ///< A read fails: kUnavailable.
  kCorrupt,     ///< One bit of what was read is another.
  kNoSpace,     ///< There are no disk blocks to reserve: kExhausted.
  kSlow,        ///< Nothing, but all others who can run run first.
};
inline constexpr FileFault kFileFaults[] = {FileFault::kCorrupt, FileFault::kRead,
                                            FileFault::kWrite,   FileFault::kShortWrite,
                                            FileFault::kNoSpace, FileFault::kSlow};

/// What may come of it; none: nothing goes wrong.
std::set<Code> CodesOf(FileFault fault);

/// Threads: any.
class FaultyFile final : public sys::ScratchFile {
 public:
  explicit FaultyFile(std::unique_ptr<sys::ScratchFile> below) : below_(std::move(below)) {}

  /// The first `after` calls that the fault applies to work; of those that follow, one in `one_in`
  /// fails, drawn by `seed`. kNone: the file is mended.
  void Inject(FileFault fault, uint64_t seed = 1, int64_t after = 0, int one_in = 1);
  /// Calls that were struck, by any fault.
  int64_t injected() const { return injected_.load(); }
  /// Called before each read and write, by the thread that asks for it. Set it before there are
  /// any.
  void OnCall(std::function<void()> watch) { watch_ = std::move(watch); }

  Status Reserve(int64_t offset, int64_t bytes) override;
  Status Write(int64_t offset, std::span<const Bytes> pieces) override;
  Status Read(int64_t offset, std::span<uint8_t> to) override;

 private:
  bool Strikes(FileFault fault);
  void Dawdle();

  const std::unique_ptr<sys::ScratchFile> below_;
  std::function<void()> watch_;
  std::mutex mutex_;  // Guards what follows.
  FileFault fault_ = FileFault::kNone;
  int64_t after_ = 0;
  int one_in_ = 1;
  std::mt19937_64 rng_;
  std::atomic<int64_t> injected_{0};
};

class FaultyPool {
 public:
  FaultyPool(int64_t limit_bytes, mem::PoolOptions options);

  mem::Pool& pool() { return *pool_; }
  mem::Budget& budget() { return budget_; }
  FaultyFile& file() { return *file_; }
  /// Waits until pages that were dropped while they were written are gone; aborts if that never
  /// comes, or anything else is left. Requires: nobody uses the pool.
  void ExpectNothingLeft() const;

 private:
  TempFolder folder_;
  mem::Budget budget_;
  mem::Frames frames_;
  FaultyFile* file_;
  std::unique_ptr<mem::Pool> pool_;
};

}  // namespace weir::test
