#include "weir/mem/extent_tier.h"

#include <cstring>

#include "weir/base/assert.h"

namespace weir::mem {

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
  auto* const copy = static_cast<uint8_t*>(
      std::aligned_alloc(static_cast<size_t>(sys::kScratchBlock), piece.size()));
  WEIR_ASSERT(copy != nullptr);
  std::memcpy(copy, piece.data(), piece.size());
  held_[offset] = {std::unique_ptr<uint8_t, Released>(copy), size, false};
  order_.push_back(offset);
  return Ok();
}

// The oldest piece and those that follow it in the file, as many as one write takes; they are no
// longer in order_.
std::vector<int64_t> ExtentTier::OldestRun() {
  constexpr size_t kMostPieces = 64;
  std::vector<int64_t> run;
  while (!order_.empty() && run.size() < kMostPieces) {
    const auto found = held_.find(order_.front());
    const bool gone = found == held_.end() || found->second.leaving;
    if (!gone && !run.empty() && run.back() + held_[run.back()].size != found->first) break;
    order_.pop_front();
    if (gone) continue;
    found->second.leaving = true;
    run.push_back(found->first);
  }
  return run;
}

// Lets the lock go meanwhile.
Status ExtentTier::LetOldestGo(Lock& lock) {
  const std::vector<int64_t> run = OldestRun();
  if (run.empty()) return Ok();
  std::vector<Bytes> pieces;
  for (const int64_t offset : run) {
    const Held& held = held_[offset];
    pieces.emplace_back(held.bytes.get(), static_cast<size_t>(held.size));
  }
  lock.unlock();
  Status written = file_.Write(run.front(), pieces);
  lock.lock();
  for (auto offset = run.rbegin(); offset != run.rend(); ++offset) {
    const auto held = held_.find(*offset);
    if (written.ok()) {
      budget_.Release(held->second.size);
      held_.erase(held);
    } else {
      held->second.leaving = false;
      order_.push_front(*offset);
    }
  }
  left_.notify_all();
  return written;
}

Status ExtentTier::Read(Extent extent, std::span<uint8_t> to) {
  {
    const Lock lock(mutex_);
    const auto held = held_.find(extent.offset);
    if (held != held_.end()) {
      WEIR_ASSERT(std::ssize(to) <= held->second.size);
      std::memcpy(to.data(), held->second.bytes.get(), to.size());
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
    budget_.Release(at->second.size);
    at = held_.erase(at);
  }
}

}  // namespace weir::mem
