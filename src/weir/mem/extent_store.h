#pragma once
// ExtentStore: which bytes of a scratch file are taken.
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <span>

#include "weir/mem/extent_tier.h"
#include "weir/mem/free_runs_internal.h"
#include "weir/sys/accounting.h"
#include "weir/sys/scratch_file.h"

namespace weir::mem {

/// Extents are taken from the front of segments to their end, so that what is written together lies
/// together; a segment is used again when the last extent in it is free. An extent that is larger
/// gets neighbouring segments, as one. Disk blocks are reserved with a segment: a full disk is
/// found out before any bytes are handed over to it.
///
/// Threads: any.
class ExtentStore {
 public:
  static constexpr int64_t kSegmentBytes = 16 << 20;

  /// At most `limit_bytes` of the file are ever in use. What was written last stays in memory
  /// instead while `tier`, which must outlive the store, allows; null: nothing does.
  ExtentStore(std::unique_ptr<sys::ScratchFile> file, int64_t limit_bytes, Budget* tier = nullptr);
  ~ExtentStore();  ///< Aborts when extents are still taken.
  ExtentStore(const ExtentStore&) = delete;
  ExtentStore& operator=(const ExtentStore&) = delete;

  static int64_t RoundUp(int64_t bytes);

  /// Errors: kExhausted when the limit or the disk is full; what is stored stays readable.
  /// Requires: bytes is a multiple of sys::kScratchBlock, and not 0.
  Result<Extent> Allocate(int64_t bytes);
  /// Any part of what Allocate gave; every byte once.
  void Free(Extent extent);

  Status Write(Extent extent, std::span<const Bytes> pieces) {
    const sys::ActivityScope activity(sys::Activity::kIo);
    return tier_ != nullptr ? tier_->Write(extent, pieces) : file_->Write(extent.offset, pieces);
  }
  Status Read(Extent extent, std::span<uint8_t> to) {
    const sys::ActivityScope activity(sys::Activity::kIo);
    return tier_ != nullptr ? tier_->Read(extent, to) : file_->Read(extent.offset, to);
  }
  /// Of memory that stored forms fill: ExtentTier::GiveUp() and Shrink().
  Result<int64_t> GiveUpMemory(int64_t bytes) {
    return tier_ != nullptr ? tier_->GiveUp(bytes) : Result<int64_t>(0);
  }
  Status ShrinkMemory() { return tier_ != nullptr ? tier_->Shrink() : Ok(); }
  /// Whether stored forms fill memory first.
  bool keeps_in_memory() const { return tier_ != nullptr; }
  sys::PageOuts page_outs() const { return file_->page_outs(); }
  /// Of what was written, what is in memory still.
  int64_t resident_bytes() const { return tier_ != nullptr ? tier_->held_bytes() : 0; }

 private:
  struct Segment {
    int64_t bytes = 0;
    int64_t filled = 0;  // From the front.
    int64_t live = 0;
  };

  Status Open(int64_t bytes);
  Status Extend(int64_t segments);
  void Recycle(int64_t offset);

  const std::unique_ptr<sys::ScratchFile> file_;
  const std::unique_ptr<ExtentTier> tier_;
  const int64_t limit_bytes_;
  std::mutex mutex_;  // Guards all below.
  int64_t file_bytes_ = 0;
  int64_t used_bytes_ = 0;
  std::map<int64_t, Segment> segments_;  // By offset, but for those without extents.
  FreeRuns empty_;                       // Numbers of those, in the order of the file.
  int64_t open_ = -1;                    // The segment being filled; -1: none.
};

}  // namespace weir::mem
