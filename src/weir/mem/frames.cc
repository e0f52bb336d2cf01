#include "weir/mem/frames.h"

#include <sys/mman.h>

#include <bit>
#include <cstdlib>

#include "weir/base/assert.h"
#include "weir/base/units.h"

namespace weir::mem {
namespace {

constexpr int64_t kHugeBytes = 2 << 20;

}  // namespace

Frames::Frames(Budget& budget, int64_t reserve_bytes, FrameSource source)
    : budget_(budget),
      reserve_bytes_(source == FrameSource::kHeap ? 0 : reserve_bytes),
      source_(source) {
  for (int at = 0; at < kClassCount; ++at) {
    classes_[static_cast<size_t>(at)].frame_bytes = kLeastBytes << at;
  }
  if (source == FrameSource::kReserved) ReserveWhatThereIs();
}

Frames::~Frames() {
  WEIR_ASSERT(out_.load() == 0);
  budget_.Release(warm_bytes_.load());
}

void Frames::ReserveWhatThereIs() {
  int64_t bytes = reserve_bytes_;
  if (ReserveEach(bytes)) return;
  do {
    bytes /= 2;
  } while (bytes > kMostBytes && !ReserveEach(bytes));
  ReserveEach(bytes / 2);  // Threads and files need addresses too.
}

// For every size, or for none.
bool Frames::ReserveEach(int64_t bytes) {
  reserved_bytes_ = bytes;
  for (SizeClass& each : classes_) {
    const int advice = each.frame_bytes >= kHugeBytes ? MADV_HUGEPAGE : MADV_NOHUGEPAGE;
    if (each.range.Reserve(bytes, each.frame_bytes, advice)) continue;
    for (SizeClass& other : classes_) other.range.Unreserve();
    reserved_bytes_ = 0;
    return false;
  }
  return true;
}

Error Frames::NoAddresses(int64_t bytes) const {
  return Fail(Code::kExhausted,
              "no addresses are left for {} in one piece ({} of {} could be reserved); raise "
              "ulimit -v, or vm.overcommit_ratio where vm.overcommit_memory is 2",
              FormatBytes(bytes), FormatBytes(reserved_bytes_), FormatBytes(reserve_bytes_));
}

int Frames::ClassOf(int64_t bytes) {
  const auto units = static_cast<uint64_t>((bytes + kLeastBytes - 1) / kLeastBytes);
  return std::bit_width(std::max<uint64_t>(units, 1) - 1);
}

int64_t Frames::FrameBytes(int64_t bytes) {
  if (bytes > kMostBytes) return (bytes + kMostBytes - 1) / kMostBytes * kMostBytes;
  return kLeastBytes << ClassOf(bytes);
}

uint8_t* Frames::TakeWarm(SizeClass& in) {
  const std::lock_guard lock(in.mutex);
  if (in.warm.empty()) return nullptr;
  uint8_t* frame = in.warm.back();
  in.warm.pop_back();
  return frame;
}

// Null: the addresses are used up, or the kernel refuses memory.
uint8_t* Frames::TakeCold(SizeClass& in, int64_t frames) {
  const std::lock_guard lock(in.mutex);
  return in.range.Take(frames);
}

Status Frames::Charge(int64_t bytes) {
  Status charged = budget_.TryCharge(bytes);
  while (!charged.ok() && ReleaseWarm(bytes) > 0) charged = budget_.TryCharge(bytes);
  return charged;
}

Result<uint8_t*> Frames::AllocateFromHeap(int64_t bytes) {
  const int64_t size = FrameBytes(bytes);
  WEIR_DO(budget_.TryCharge(size));
  auto* const frame = static_cast<uint8_t*>(std::malloc(static_cast<size_t>(size)));
  WEIR_ASSERT(frame != nullptr);
  ++fresh_frames_;
  ++out_;
  return frame;
}

Result<uint8_t*> Frames::Allocate(int64_t bytes) {
  if (source_ == FrameSource::kHeap) return AllocateFromHeap(bytes);
  if (bytes > kMostBytes) return AllocateChain(bytes);
  SizeClass& in = classes_[static_cast<size_t>(ClassOf(bytes))];
  if (uint8_t* warm = TakeWarm(in); warm != nullptr) {
    warm_bytes_ -= in.frame_bytes;
    ++warm_reuses_;
    ++out_;
    return warm;
  }
  WEIR_DO(Charge(in.frame_bytes));
  uint8_t* frame = TakeCold(in, 1);
  if (frame == nullptr) {
    budget_.Release(in.frame_bytes);
    return NoAddresses(in.frame_bytes);
  }
  // One call in place of a page fault for every 4 KiB; where the kernel has none, those.
  (void)madvise(frame, static_cast<size_t>(in.frame_bytes), MADV_POPULATE_WRITE);
  ++fresh_frames_;
  ++out_;
  return frame;
}

void Frames::Free(uint8_t* frame, int64_t bytes) {
  if (frame == nullptr) return;
  if (source_ == FrameSource::kHeap) {
    std::free(frame);
    budget_.Release(FrameBytes(bytes));
    --out_;
    return;
  }
  if (bytes > kMostBytes) return FreeChain(frame, bytes);
  SizeClass& in = classes_[static_cast<size_t>(ClassOf(bytes))];
  warm_bytes_ += in.frame_bytes;
  --out_;
  const std::lock_guard lock(in.mutex);
  in.warm.push_back(frame);
}

// Chains are rare and large: they are never kept warm.
Result<uint8_t*> Frames::AllocateChain(int64_t bytes) {
  const int64_t size = FrameBytes(bytes);
  WEIR_DO(Charge(size));
  uint8_t* frame = TakeCold(classes_.back(), size / kMostBytes);
  if (frame == nullptr) {
    budget_.Release(size);
    return NoAddresses(size);
  }
  ++fresh_frames_;
  ++out_;
  return frame;
}

void Frames::FreeChain(uint8_t* frame, int64_t bytes) {
  const int64_t size = FrameBytes(bytes);
  AddressRange::GiveBack(frame, size);
  budget_.Release(size);
  ++releases_;
  --out_;
  AddCold(classes_.back(), frame, size / kMostBytes);
}

void Frames::AddCold(SizeClass& in, const uint8_t* frame, int64_t frames) {
  const std::lock_guard lock(in.mutex);
  in.range.Free(frame, frames);
}

bool Frames::ReleaseOne(SizeClass& in) {
  uint8_t* frame = TakeWarm(in);
  if (frame == nullptr) return false;
  AddressRange::GiveBack(frame, in.frame_bytes);
  warm_bytes_ -= in.frame_bytes;
  budget_.Release(in.frame_bytes);
  ++releases_;
  AddCold(in, frame, 1);
  return true;
}

int64_t Frames::ReleaseWarm(int64_t bytes) {
  int64_t released = 0;
  for (auto each = classes_.rbegin(); each != classes_.rend(); ++each) {
    while (released < bytes && ReleaseOne(*each)) released += each->frame_bytes;
  }
  return released;
}

FrameCounters Frames::counters() const {
  return {warm_bytes_.load(), warm_reuses_.load(), fresh_frames_.load(), releases_.load()};
}

}  // namespace weir::mem
