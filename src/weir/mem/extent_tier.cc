#include "weir/mem/extent_tier.h"

#include <sys/mman.h>

#include <cstring>

#include "weir/base/assert.h"

namespace weir::mem {
namespace {

constexpr int64_t kAddresses = int64_t{1} << 40;

}  // namespace

ExtentTier::ExtentTier(sys::ScratchFile& file, Budget& budget) : file_(file), budget_(budget) {
  int64_t bytes = kAddresses;  // Fewer where the kernel refuses: what finds none goes to the file.
  while (bytes > 0 && !range_.Reserve(bytes, sys::kScratchBlock, MADV_NOHUGEPAGE)) bytes /= 4;
}

ExtentTier::~ExtentTier() { WEIR_ASSERT(held_.empty()); }

Status ExtentTier::Write(Extent extent, std::span<const Bytes> pieces) {
  int64_t offset = extent.offset;
  for (const Bytes piece : pieces) {
    WEIR_DO(Take(offset, piece));
    offset += std::ssize(piece);
  }
  return Ok();
}

Status ExtentTier::Take(int64_t offset, Bytes piece) {
  const int64_t size = std::ssize(piece);
  Lock lock(mutex_);
  while (!budget_.TryCharge(size).ok()) {
    if (order_.empty()) {
      lock.unlock();
      return file_.Write(offset, {&piece, 1});
    }
    WEIR_DO(LetOldestGo(lock));
  }
  uint8_t* const copy = range_.Take(size / sys::kScratchBlock);
  if (copy == nullptr) {
    budget_.Release(size);
    lock.unlock();
    return file_.Write(offset, {&piece, 1});
  }
  std::memcpy(copy, piece.data(), piece.size());
  held_[offset] = {copy, size, false, order_.insert(order_.end(), offset)};
  return Ok();
}

// A piece that is neither leaving nor in order_ any more; returns the one after it.
std::map<int64_t, ExtentTier::Held>::iterator ExtentTier::Forget(
    std::map<int64_t, Held>::iterator held) {
  const Held& piece = held->second;
  AddressRange::GiveBack(piece.bytes, piece.size);
  range_.Free(piece.bytes, piece.size / sys::kScratchBlock);
  budget_.Release(piece.size);
  return held_.erase(held);
}

// The oldest piece and those that follow it in the file, as many as one write takes; they are no
// longer in order_.
std::vector<int64_t> ExtentTier::OldestRun() {
  constexpr size_t kMostPieces = 64;
  constexpr int64_t kEnoughBytes = 1 << 20;  // For the device to run at its full rate.
  std::vector<int64_t> run;
  int64_t bytes = 0;
  while (!order_.empty() && run.size() < kMostPieces && bytes < kEnoughBytes) {
    const int64_t offset = order_.front();
    if (!run.empty() && run.back() + held_[run.back()].size != offset) break;
    order_.pop_front();
    Held& held = held_[offset];
    held.leaving = true;
    bytes += held.size;
    run.push_back(offset);
  }
  return run;
}

// Lets the lock go meanwhile. Returns the bytes uncharged; 0: none was left.
Result<int64_t> ExtentTier::LetOldestGo(Lock& lock) {
  const std::vector<int64_t> run = OldestRun();
  if (run.empty()) return 0;
  std::vector<Bytes> pieces;
  int64_t uncharged = 0;
  for (const int64_t offset : run) {
    const Held& held = held_[offset];
    pieces.emplace_back(held.bytes, static_cast<size_t>(held.size));
    uncharged += held.size;
  }
  lock.unlock();
  Status written = file_.Write(run.front(), pieces);
  lock.lock();
  for (auto offset = run.rbegin(); offset != run.rend(); ++offset) {
    const auto held = held_.find(*offset);
    if (written.ok()) {
      Forget(held);
    } else {
      held->second.leaving = false;
      held->second.place = order_.insert(order_.begin(), *offset);
    }
  }
  left_.notify_all();
  if (!written.ok()) return std::move(written).error();
  return uncharged;
}

Result<int64_t> ExtentTier::GiveUp(int64_t bytes) {
  int64_t given = 0;
  Lock lock(mutex_);
  while (given < bytes) {
    WEIR_TRY(const int64_t more, LetOldestGo(lock));
    if (more == 0) break;
    given += more;
  }
  return given;
}

Status ExtentTier::Shrink() {
  while (budget_.free_bytes() < 0) {
    WEIR_TRY(const int64_t given, GiveUp(-budget_.free_bytes()));
    if (given == 0) break;
  }
  return Ok();
}

Status ExtentTier::Read(Extent extent, std::span<uint8_t> to) {
  {
    const Lock lock(mutex_);
    const auto held = held_.find(extent.offset);
    if (held != held_.end()) {
      WEIR_ASSERT(std::ssize(to) <= held->second.size);
      std::memcpy(to.data(), held->second.bytes, to.size());
      return Ok();
    }
  }
  return file_.Read(extent.offset, to);
}

void ExtentTier::Free(Extent extent) {
  Lock lock(mutex_);
  const int64_t end = extent.offset + extent.bytes;
  for (auto at = held_.lower_bound(extent.offset); at != held_.end() && at->first < end;) {
    if (at->second.leaving) {
      left_.wait(lock);
      at = held_.lower_bound(extent.offset);
      continue;
    }
    order_.erase(at->second.place);
    at = Forget(at);
  }
}

}  // namespace weir::mem
