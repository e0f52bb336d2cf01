#include "weir/mem/extent_store.h"

#include "weir/base/assert.h"
#include "weir/base/units.h"

namespace weir::mem {

ExtentStore::ExtentStore(std::unique_ptr<sys::ScratchFile> file, int64_t limit_bytes, Budget* tier)
    : file_(std::move(file)),
      tier_(tier == nullptr ? nullptr : std::make_unique<ExtentTier>(*file_, *tier)),
      limit_bytes_(limit_bytes) {}

ExtentStore::~ExtentStore() { WEIR_ASSERT(used_bytes_ == 0); }

int64_t ExtentStore::RoundUp(int64_t bytes) {
  return (bytes + sys::kScratchBlock - 1) / sys::kScratchBlock * sys::kScratchBlock;
}

// Opens a segment with room for `bytes`.
Status ExtentStore::Open(int64_t bytes) {
  const int64_t segments = (bytes + kSegmentBytes - 1) / kSegmentBytes;
  auto first = empty_.Take(segments);
  if (!first.has_value()) {
    WEIR_DO(Extend(segments));
    first = empty_.Take(segments);
  }
  open_ = *first * kSegmentBytes;
  segments_[open_].bytes = segments * kSegmentBytes;
  return Ok();
}

// Makes the file end with that many empty segments.
Status ExtentStore::Extend(int64_t segments) {
  const int64_t end = file_bytes_ / kSegmentBytes;
  const int64_t more = segments - empty_.CountBefore(end);
  if (file_bytes_ + more * kSegmentBytes > limit_bytes_) {
    return Fail(Code::kExhausted,
                "the spill file has reached its limit of {} ({} in use); raise --spill-limit or "
                "--memory",
                FormatBytes(limit_bytes_), FormatBytes(used_bytes_));
  }
  WEIR_DO(file_->Reserve(file_bytes_, more * kSegmentBytes));
  empty_.Add(end, more);
  file_bytes_ += more * kSegmentBytes;
  return Ok();
}

Result<Extent> ExtentStore::Allocate(int64_t bytes) {
  WEIR_ASSERT(bytes > 0 && bytes % sys::kScratchBlock == 0);
  const std::lock_guard lock(mutex_);
  const bool fits = open_ >= 0 && segments_[open_].filled + bytes <= segments_[open_].bytes;
  if (!fits) {
    if (open_ >= 0 && segments_[open_].live == 0) {
      Recycle(open_);
      open_ = -1;
    }
    WEIR_DO(Open(bytes));
  }
  Segment& segment = segments_[open_];
  const Extent extent{open_ + segment.filled, bytes};
  segment.filled += bytes;
  segment.live += bytes;
  used_bytes_ += bytes;
  return extent;
}

void ExtentStore::Free(Extent extent) {
  if (tier_ != nullptr) tier_->Free(extent);  // Before others may write there.
  const std::lock_guard lock(mutex_);
  auto at = std::prev(segments_.upper_bound(extent.offset));
  Segment& segment = at->second;
  WEIR_ASSERT(extent.offset + extent.bytes <= at->first + segment.filled);
  segment.live -= extent.bytes;
  used_bytes_ -= extent.bytes;
  WEIR_ASSERT(segment.live >= 0);
  if (segment.live > 0) return;
  if (at->first == open_) {
    segment.filled = 0;
  } else {
    Recycle(at->first);
  }
}

// A segment without extents is to be used again.
void ExtentStore::Recycle(int64_t offset) {
  const auto segment = segments_.find(offset);
  empty_.Add(offset / kSegmentBytes, segment->second.bytes / kSegmentBytes);
  segments_.erase(segment);
}

}  // namespace weir::mem
