#include "weir/mem/budget.h"

#include <algorithm>

#include "weir/base/units.h"

namespace weir::mem {

Budget::Budget(std::string name, int64_t limit_bytes, Budget* parent)
    : name_(std::move(name)), parent_(parent), limit_(limit_bytes) {}

Budget::~Budget() { WEIR_ASSERT(used_bytes() == 0); }

void Budget::NotePeak(int64_t used) {
  int64_t peak = peak_.load(std::memory_order_relaxed);
  while (used > peak && !peak_.compare_exchange_weak(peak, used, std::memory_order_relaxed)) {
  }
}

bool Budget::AddWithin(int64_t bytes) {
  int64_t used = used_.load(std::memory_order_relaxed);
  do {
    if (bytes > limit_.load(std::memory_order_relaxed) - used) return false;
  } while (!used_.compare_exchange_weak(used, used + bytes, std::memory_order_relaxed));
  return true;
}

Status Budget::TryCharge(int64_t bytes) {
  WEIR_ASSERT(bytes >= 0);
  if (!AddWithin(bytes)) {
    return Fail(Code::kExhausted, "memory budget '{}' is full: {} asked, {} of {} used", name_,
                FormatBytes(bytes), FormatBytes(used_bytes()), FormatBytes(limit_bytes()));
  }
  if (parent_ != nullptr) {
    auto status = parent_->TryCharge(bytes);
    if (!status.ok()) {
      used_.fetch_sub(bytes, std::memory_order_relaxed);
      return status;
    }
  }
  NotePeak(used_.load(std::memory_order_relaxed));
  return Ok();
}

int64_t Budget::ReclaimAnywhere(int64_t bytes) {
  int64_t reclaimed = 0;
  for (Budget* at = this; at != nullptr && reclaimed < bytes; at = at->parent_) {
    Reclaimer* reclaimer = at->reclaimer_.load();
    if (reclaimer != nullptr) reclaimed += reclaimer->Reclaim(bytes - reclaimed);
  }
  return reclaimed;
}

Status Budget::ChargeOrReclaim(int64_t bytes) {
  // Others may be quicker to charge what was reclaimed: all that is asked, this many times.
  constexpr int64_t kMostLost = 16;
  constexpr int64_t kLeastAsked = 8 << 20;  // Reclaimers give whole pages for the least request.
  const int64_t most = kMostLost * std::max(bytes, kLeastAsked);
  Status charged = TryCharge(bytes);
  for (int64_t reclaimed = 0; !charged.ok() && reclaimed < most;) {
    const int64_t more = ReclaimAnywhere(bytes);
    if (more == 0) break;
    reclaimed += more;
    charged = TryCharge(bytes);
  }
  return charged;
}

void Budget::ForceCharge(int64_t bytes) {
  WEIR_ASSERT(bytes >= 0);
  for (Budget* at = this; at != nullptr; at = at->parent_) {
    at->NotePeak(at->used_.fetch_add(bytes, std::memory_order_relaxed) + bytes);
  }
}

void Budget::Release(int64_t bytes) {
  WEIR_ASSERT(bytes >= 0);
  for (Budget* at = this; at != nullptr; at = at->parent_) {
    const int64_t before = at->used_.fetch_sub(bytes, std::memory_order_relaxed);
    WEIR_ASSERT(before >= bytes);
  }
}

int64_t Budget::free_bytes() const {
  int64_t least = kUnlimited;
  for (const Budget* at = this; at != nullptr; at = at->parent_) {
    least = std::min(least, at->limit_bytes() - at->used_bytes());
  }
  return least;
}

Result<Charge> Charge::Take(Budget& budget, int64_t bytes) {
  WEIR_DO(budget.TryCharge(bytes));
  return Charge(&budget, bytes);
}

Charge& Charge::operator=(Charge&& other) noexcept {
  Drop();
  budget_ = std::exchange(other.budget_, nullptr);
  bytes_ = std::exchange(other.bytes_, 0);
  return *this;
}

void Charge::Join(Charge other) {
  if (other.budget_ == nullptr) return;
  WEIR_ASSERT(budget_ == nullptr || budget_ == other.budget_);
  budget_ = std::exchange(other.budget_, nullptr);
  bytes_ += std::exchange(other.bytes_, 0);
}

void Charge::Drop() {
  if (budget_ != nullptr) budget_->Release(bytes_);
  budget_ = nullptr;
  bytes_ = 0;
}

}  // namespace weir::mem
