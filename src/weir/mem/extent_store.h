#pragma once
// ExtentStore: which bytes of a scratch file are taken.
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <span>
#include <vector>

#include "weir/sys/accounting.h"
#include "weir/sys/scratch_file.h"

namespace weir::mem {

/// Bytes of the file that belong to one owner. Both are multiples of sys::kScratchBlock.
struct Extent {
  int64_t offset = 0;
  int64_t bytes = 0;
};

/// Extents are taken from the front of segments to their end, so that what is written together lies
/// together; a segment is used again when the last extent in it is free. Disk blocks are reserved
/// with a segment: a full disk is found out before any bytes are handed over to it.
///
/// Threads: any.
class ExtentStore {
 public:
  static constexpr int64_t kSegmentBytes = 16 << 20;

  /// At most `limit_bytes` of the file are ever in use.
  ExtentStore(std::unique_ptr<sys::ScratchFile> file, int64_t limit_bytes);
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
    return file_->Write(extent.offset, pieces);
  }
  Status Read(Extent extent, std::span<uint8_t> to) {
    const sys::ActivityScope activity(sys::Activity::kIo);
    return file_->Read(extent.offset, to);
  }
  int64_t unreclaimed_bytes() const { return file_->unreclaimed_bytes(); }

 private:
  struct Segment {
    int64_t bytes = 0;
    int64_t filled = 0;  // From the front.
    int64_t live = 0;
  };

  Status Open(int64_t bytes);
  void Recycle(int64_t offset);

  const std::unique_ptr<sys::ScratchFile> file_;
  const int64_t limit_bytes_;
  std::mutex mutex_;  // Guards all below.
  int64_t file_bytes_ = 0;
  int64_t used_bytes_ = 0;
  std::map<int64_t, Segment> segments_;  // By offset.
  std::vector<int64_t> empty_;           // Offsets of segments of kSegmentBytes without extents.
  int64_t open_ = -1;                    // The segment being filled.
};

}  // namespace weir::mem
