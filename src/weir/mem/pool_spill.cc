// The half of Pool that moves pages between memory and the spill file.
#include <algorithm>

#include "weir/base/assert.h"
#include "weir/base/units.h"
#include "weir/mem/codec_choice_internal.h"
#include "weir/mem/page_state_internal.h"
#include "weir/mem/pool.h"
#include "weir/mem/pool_counts_internal.h"
#include "weir/sys/accounting.h"
#include "weir/sys/compress.h"
#include "weir/sys/hash.h"
#include "weir/sys/process.h"

namespace weir::mem {
namespace {

// Pages are written together up to this: large enough for the device to run at its full rate.
constexpr int64_t kWriteBytes = 1 << 20;
constexpr size_t kMostVictims = 16;
constexpr size_t kMostPrefetches = 64;
// Of reads, whose times are taken: asking the kernel costs as much as a tenth of a small one.
constexpr int64_t kTimedReads = 8;

// Since it was made, on this thread, without what was spent in line for a processor.
class DeviceTimer {
 public:
  sys::Duration spent() const {
    return sys::SteadyNow() - start_ - (sys::ThreadTimeInLine() - line_);
  }

 private:
  const sys::Duration line_ = sys::ThreadTimeInLine();
  const sys::Duration start_ = sys::SteadyNow();
};

}  // namespace

// ---- Choosing.

// Pages to evict, for `bytes` of memory or one write, whichever is less. Those that are backed give
// their frames up at once.
Pool::Picked Pool::Pick(int64_t bytes, From from) {
  Picked picked;
  int64_t chosen = 0;
  const int64_t enough = std::min(bytes, kWriteBytes);
  const std::lock_guard lock(queue_mutex_);
  for (auto band = bands_.rbegin(); band != bands_.rend(); ++band) {
    for (size_t left = 2 * band->size(); left > 0 && !band->empty(); --left) {
      if (chosen + picked.freed_bytes >= enough || picked.victims.size() == kMostVictims) {
        return picked;
      }
      PageState& page = *band->front();
      band->splice(band->end(), *band, band->begin());  // Looked at: last in line now.
      const std::unique_lock page_lock(page.mutex, std::try_to_lock);
      if (!page_lock.owns_lock() || page.pins > 0) continue;
      if (from == From::kBacked && page.residency != Residency::kBacked) continue;
      if (std::exchange(page.touched, false)) continue;
      band->erase(page.place);
      page.queued = false;
      if (page.residency == Residency::kBacked) {
        picked.freed_bytes += page.frame_bytes;
        DropFrame(page);
        page.residency = Residency::kEvicted;
        ++counts_->evictions_cheap;
      } else {
        page.residency = Residency::kWriting;
        chosen += page.frame_bytes;
        picked.victims.push_back(&page);
        ++counts_->spill_in_flight;
        ++counts_->spill_scheduled;
      }
    }
  }
  return picked;
}

// ---- Writing.

// Frees memory, `bytes` or less of it. 0: nothing can be evicted now.
Result<int64_t> Pool::Evict(int64_t bytes) {
  const Picked picked = Pick(bytes, From::kAll);
  int64_t freed = picked.freed_bytes;
  if (!picked.victims.empty()) {
    auto written = WriteOut(picked.victims, Keep::kNothing);
    if (written.ok()) return freed + written.value();
    if (freed == 0) freed = Pick(bytes, From::kBacked).freed_bytes;  // They need no write.
    if (freed == 0) return written;
  }
  if (freed > 0) NoteFreed();
  return freed;
}

// Evicts, or waits for writes that are in flight until one of them frees memory or is queued again.
// Returns the bytes that anyone freed meanwhile. 0: nothing can be evicted now.
Result<int64_t> Pool::EvictOrAwait(int64_t bytes) {
  const int64_t before = counts_->freed_bytes;
  while (true) {
    const bool others = counts_->spill_in_flight.load() > 0;  // Before we look: none is missed.
    WEIR_TRY(const int64_t evicted, Evict(bytes));
    const int64_t freed = counts_->freed_bytes - before;
    if (evicted > 0 || freed > 0 || !others) return std::max(evicted, freed);
    WEIR_DO(WaitForRoom());
  }
}

bool Pool::IsToCompress(const PageState& page) const {
  if (options_.compress_min_depth == PoolOptions::kNeverCompress ||
      page.depth < options_.compress_min_depth) {
    return false;
  }
  return options_.codec == SpillCodec::kAlways || store_->keeps_in_memory() ||
         codec_choice_->ShouldCompress();
}

// How a page is stored: in `scratch`, compressed, where that is wanted, saves a block and has room;
// else as it lies in its frame. Returns what is to be written, in whole blocks.
Bytes Pool::StoredForm(PageState& page, std::span<uint8_t>& scratch) const {
  page.compressed = false;
  page.stored_bytes = page.bytes;
  uint8_t* at = page.frame;
  if (IsToCompress(page)) {
    const Bytes raw(page.frame, static_cast<size_t>(page.bytes));
    const auto room = std::min<size_t>(
        scratch.size(), static_cast<size_t>(ExtentStore::RoundUp(page.bytes) - sys::kScratchBlock));
    const sys::Duration start = sys::ThreadCpuTime();
    const int64_t size = sys::Compress(raw, scratch.first(room));
    codec_choice_->NotePacked(page.bytes, size > 0 ? size : page.bytes,
                              sys::ThreadCpuTime() - start);
    if (size > 0) {
      page.compressed = true;
      page.stored_bytes = size;
      at = scratch.data();
      scratch = scratch.subspan(static_cast<size_t>(ExtentStore::RoundUp(size)));
    }
  }
  page.checksum = sys::Xxh3({at, static_cast<size_t>(page.stored_bytes)});
  return {at, static_cast<size_t>(ExtentStore::RoundUp(page.stored_bytes))};
}

// Writes pages that only we may write, side by side. Returns the bytes of the frames that are free
// now: less than all when some are being read.
Result<int64_t> Pool::WriteOut(const Victims& victims, Keep keep) {
  const Scratch scratch(*this);
  const sys::ActivityScope activity(sys::Activity::kCodec);
  std::span<uint8_t> left = scratch.bytes();
  std::array<Bytes, kMostVictims> pieces;
  int64_t total = 0;
  int64_t raw = 0;
  for (size_t at = 0; at < victims.size(); ++at) {
    pieces[at] = StoredForm(*victims[at], left);
    total += static_cast<int64_t>(pieces[at].size());
    raw += victims[at]->bytes;
  }
  auto extent = store_->Allocate(total);
  Status status = Ok();
  if (!extent.ok()) {
    status = extent.error();
  } else {
    const DeviceTimer timer;
    status = store_->Write(extent.value(), std::span(pieces).first(victims.size()));
    if (status.ok()) {
      codec_choice_->NoteWritten(raw, total, timer.spent());
    } else {
      store_->Free(extent.value());
    }
  }
  int64_t offset = status.ok() ? extent.value().offset : 0;
  int64_t freed = 0;
  for (size_t at = 0; at < victims.size(); ++at) {
    const auto size = static_cast<int64_t>(pieces[at].size());
    freed += Written(*victims[at], status.ok() ? Extent{offset, size} : Extent{}, keep);
    offset += size;
    --counts_->spill_in_flight;  // Last: until then it may be waited for.
  }
  NoteFreed();
  if (!status.ok()) return std::move(status).error();
  return freed;
}

// Ends kWriting; an extent of no bytes says that it failed. Returns the bytes of the frame if it is
// free now.
int64_t Pool::Written(PageState& page, Extent extent, Keep keep) {
  std::unique_lock lock(page.mutex);
  page.extent = extent;
  if (extent.bytes > 0) {
    counts_->extent_bytes_written += page.stored_bytes;
    counts_->extent_raw_bytes_written += page.bytes;
  }
  if (page.freed) {
    const int64_t freed = page.frame_bytes;
    lock.unlock();
    Destroy(&page);
    return freed;
  }
  if (extent.bytes > 0 && page.pins == 0 && keep == Keep::kNothing) {
    ++counts_->evictions_compress;
    DropFrame(page);
    page.residency = Residency::kEvicted;
    return page.frame_bytes;
  }
  page.residency = extent.bytes > 0 ? Residency::kBacked : Residency::kUnbacked;
  Enqueue(page);
  return 0;
}

// ---- Reading.

// The stored form of an evicted page.
Status Pool::ReadStored(const PageState& page, std::span<uint8_t> to) {
  codec_choice_->CountRead(page.bytes);
  const bool timed = counts_->loads++ % kTimedReads == 0;
  if (!timed) return store_->Read(page.extent, to);
  const DeviceTimer timer;
  WEIR_DO(store_->Read(page.extent, to));
  codec_choice_->NoteRead(static_cast<int64_t>(to.size()), timer.spent());
  return Ok();
}

// Whether `stored` is what was written; expands it into `raw`.
bool Pool::Expand(const PageState& page, Bytes stored, std::span<uint8_t> raw) {
  if (sys::Xxh3(stored) != page.checksum) return false;
  const sys::Duration start = sys::ThreadCpuTime();
  const bool intact = sys::Decompress(stored, raw);
  codec_choice_->NoteUnpacked(page.bytes, sys::ThreadCpuTime() - start);
  return intact;
}

// Brings an evicted page back into `room`. Requires: the page's lock is held.
Status Pool::Load(PageState& page, OpenPage room) {
  const sys::ActivityScope activity(sys::Activity::kCodec);
  const auto size = static_cast<size_t>(ExtentStore::RoundUp(page.stored_bytes));
  const std::span<uint8_t> raw(room.data(), static_cast<size_t>(page.bytes));
  bool intact = true;
  if (page.compressed) {
    const Scratch scratch(*this);
    const auto stored = scratch.bytes().first(size);
    WEIR_DO(ReadStored(page, stored));
    intact = Expand(page, stored.first(static_cast<size_t>(page.stored_bytes)), raw);
  } else {
    WEIR_DO(ReadStored(page, {room.data(), size}));
    intact = sys::Xxh3(raw) == page.checksum;
  }
  if (!intact) {
    return Fail(Code::kCorrupt, "{} read back from the spill file are not what was written",
                FormatBytes(page.stored_bytes));
  }
  counts_->extent_bytes_read += page.stored_bytes;
  counts_->resident_bytes += page.bytes;
  page.frame_bytes = room.capacity_;
  page.frame = std::exchange(room.data_, nullptr);
  page.residency = Residency::kBacked;
  Enqueue(page);
  return Ok();
}

void Page::Prefetch() const { pool_->Prefetch(*page_); }

void Pool::Prefetch(PageState& page) {
  if (!options_.spill || options_.spill_threads == 0) return;
  {
    const std::lock_guard lock(queue_mutex_);
    if (page.wanted || prefetches_.size() >= kMostPrefetches) return;
    page.wanted = true;
    prefetches_.push_back(&page);
  }
  spill_wake_.notify_one();
}

// ---- The spill threads.

void Pool::SpillLoop() {
  constexpr auto kIdle = std::chrono::milliseconds(100);
  std::unique_lock lock(queue_mutex_);
  while (!ending_) {
    if (FetchOne(lock)) continue;
    if (BelowReserve() && SpillSome(lock)) continue;
    if (options_.eager_backing && BackSome(lock)) continue;
    spill_wake_.wait_for(lock, kIdle);
  }
}

// Whether anything was done. Lets the queue's lock go meanwhile, as the two below do.
bool Pool::SpillSome(std::unique_lock<std::mutex>& lock) {
  lock.unlock();
  auto freed = Evict(kWriteBytes);
  lock.lock();
  if (freed.ok()) return freed.value() > 0;
  spill_failure_ = std::move(freed).error();
  room_.notify_all();
  return false;
}

bool Pool::BackSome(std::unique_lock<std::mutex>& lock) {
  Victims victims;
  for (auto band = bands_.rbegin(); band != bands_.rend() && victims.empty(); ++band) {
    size_t left = std::min(band->size(), kMostVictims);
    for (auto at = band->begin(); left > 0; --left) {
      PageState& page = **at++;
      const std::unique_lock page_lock(page.mutex, std::try_to_lock);
      if (!page_lock.owns_lock() || page.residency != Residency::kUnbacked) continue;
      band->erase(page.place);
      page.queued = false;
      page.residency = Residency::kWriting;
      ++counts_->spill_in_flight;
      ++counts_->spill_scheduled;
      victims.push_back(&page);
    }
  }
  if (victims.empty()) return false;
  lock.unlock();
  const auto written = WriteOut(victims, Keep::kFrames);
  if (written.ok()) counts_->eager_backs += static_cast<int64_t>(victims.size());
  lock.lock();
  return written.ok();
}

bool Pool::FetchOne(std::unique_lock<std::mutex>& lock) {
  if (prefetches_.empty()) return false;
  PageState& page = *prefetches_.front();
  std::unique_lock page_lock(page.mutex, std::try_to_lock);
  prefetches_.pop_front();
  page.wanted = false;
  if (!page_lock.owns_lock() || page.frame != nullptr || BelowReserve()) return true;
  lock.unlock();
  // Never waits for room: that may be for this thread to make. Errors are for whoever reads it.
  const auto frame = frames_.Allocate(page.bytes);
  if (frame.ok()) {
    (void)Load(page, OpenPage(this, frame.value(), Frames::FrameBytes(page.bytes), 0));
  }
  page_lock.unlock();
  lock.lock();
  return true;
}

// ---- Scratch.

// Waits until a buffer is free: whoever holds one asks for nothing else.
Pool::Scratch::Scratch(Pool& pool) : pool_(pool) {
  std::unique_lock lock(pool_.scratch_mutex_);
  pool_.scratch_free_.wait(lock, [&] { return !pool_.scratch_.empty(); });
  buffer_ = pool_.scratch_.back();
  pool_.scratch_.pop_back();
}

Pool::Scratch::~Scratch() {
  {
    const std::lock_guard lock(pool_.scratch_mutex_);
    pool_.scratch_.push_back(buffer_);
  }
  pool_.scratch_free_.notify_one();
}

}  // namespace weir::mem
