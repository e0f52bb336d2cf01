#pragma once
// ExtentTier: what was written last stays in memory, as it is stored, while a budget allows.
#include <condition_variable>
#include <list>
#include <map>
#include <mutex>
#include <span>
#include <vector>

#include "weir/mem/address_range_internal.h"
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
  ExtentTier(sys::ScratchFile& file, Budget& budget);
  ~ExtentTier();  ///< Aborts when pieces are still held.
  ExtentTier(const ExtentTier&) = delete;
  ExtentTier& operator=(const ExtentTier&) = delete;

  /// Pieces lie in the extent one after another. Errors: of sys::ScratchFile::Write.
  Status Write(Extent extent, std::span<const Bytes> pieces);
  /// One piece, or what the file has. Errors: of sys::ScratchFile::Read.
  Status Read(Extent extent, std::span<uint8_t> to);
  /// Drops what it holds of the extent: whole pieces. Waits for those on their way to the file.
  void Free(Extent extent);
  /// Lets the oldest go to the file until `bytes` are uncharged or none is left; returns the bytes
  /// uncharged. Errors: of sys::ScratchFile::Write.
  Result<int64_t> GiveUp(int64_t bytes);
  /// The same until the budget is obeyed, after its limit was lowered.
  Status Shrink();

  int64_t held_bytes() const { return budget_.used_bytes(); }

 private:
  struct Held {
    uint8_t* bytes = nullptr;  // Of range_.
    int64_t size = 0;
    bool leaving = false;  // Being written: it may neither go nor be written again.
    std::list<int64_t>::iterator place;  // In order_, unless it is leaving.
  };
  using Lock = std::unique_lock<std::mutex>;

  Status Take(int64_t offset, Bytes piece);
  Result<int64_t> LetOldestGo(Lock& lock);
  std::map<int64_t, Held>::iterator Forget(std::map<int64_t, Held>::iterator held);
  std::vector<int64_t> OldestRun();

  sys::ScratchFile& file_;
  Budget& budget_;
  std::mutex mutex_;  // Guards all below.
  std::condition_variable left_;
  AddressRange range_;            // In blocks, aligned as the file wants it.
  std::map<int64_t, Held> held_;  // By offset.
  std::list<int64_t> order_;      // The oldest first, but for those that are leaving.
};

}  // namespace weir::mem
