#pragma once
// ExtentTier: what was written last stays in memory, as it is stored, while a budget allows.
#include <condition_variable>
#include <cstdlib>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <span>
#include <vector>

#include "weir/mem/budget.h"
#include "weir/sys/scratch_file.h"

namespace weir::mem {

/// Bytes of a scratch file that belong to one owner. Both are multiples of sys::kScratchBlock.
struct Extent {
  int64_t offset = 0;
  int64_t bytes = 0;
};

/// Stands before a scratch file: holds the pieces written last, each charged to a budget, and lets
/// the oldest go to the file when the budget refuses. Whatever is dropped before never gets there.
///
/// Threads: any. Outlives nothing that it holds: all was freed before it goes.
class ExtentTier {
 public:
  ExtentTier(sys::ScratchFile& file, Budget& budget) : file_(file), budget_(budget) {}
  ~ExtentTier();  ///< Aborts when pieces are still held.
  ExtentTier(const ExtentTier&) = delete;
  ExtentTier& operator=(const ExtentTier&) = delete;

  /// Pieces lie in the extent one after another. Errors: of sys::ScratchFile::Write.
  Status Write(Extent extent, std::span<const Bytes> pieces);
  /// One piece, or what the file has. Errors: of sys::ScratchFile::Read.
  Status Read(Extent extent, std::span<uint8_t> to);
  /// Drops what it holds of the extent: whole pieces. Waits for those on their way to the file.
  void Free(Extent extent);

  int64_t held_bytes() const { return budget_.used_bytes(); }

 private:
  struct Released {
    void operator()(uint8_t* bytes) const { std::free(bytes); }
  };
  struct Held {
    std::unique_ptr<uint8_t, Released> bytes;  // Aligned as the file wants it.
    int64_t size = 0;
    bool leaving = false;  // Being written: it may neither go nor be written again.
  };
  using Lock = std::unique_lock<std::mutex>;

  Status Take(int64_t offset, Bytes piece);
  Status LetOldestGo(Lock& lock);
  std::vector<int64_t> OldestRun();

  sys::ScratchFile& file_;
  Budget& budget_;
  std::mutex mutex_;  // Guards all below.
  std::condition_variable left_;
  std::map<int64_t, Held> held_;  // By offset.
  std::deque<int64_t> order_;     // The oldest first; some are gone already.
};

}  // namespace weir::mem
