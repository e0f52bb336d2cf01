#pragma once
// Budget: a tree of byte budgets (process -> component -> object) that every large allocation is
// charged to.
#include <atomic>
#include <cstdint>
#include <string>
#include <utility>

#include "weir/base/result.h"

namespace weir::mem {

inline constexpr int64_t kUnlimited = INT64_MAX;

/// Gives memory back that its budget could use better.
class Reclaimer {
 public:
  virtual ~Reclaimer() = default;
  /// Uncharges `bytes`, or as many as one step of its work gives, and returns how many those were,
  /// though others may have charged them by then. 0: there is no more to be had. Threads: any.
  virtual int64_t Reclaim(int64_t bytes) = 0;
};

/// A limit in bytes, what is charged against it now, and the most that ever was.
///
/// Invariant: 0 <= used_bytes(); used_bytes() <= limit_bytes() unless charged by force or the limit
///            was lowered below what is held; a child's charge is also its parents' charge.
/// Threads:   any. A parent must outlive its children.
class Budget {
 public:
  /// A root. `name` stands in messages: "process", "pool".
  Budget(std::string name, int64_t limit_bytes) : Budget(std::move(name), limit_bytes, nullptr) {}
  /// A child whose charges count against `parent` too.
  Budget(std::string name, int64_t limit_bytes, Budget* parent);
  ~Budget();  ///< Aborts when bytes are still charged.
  Budget(const Budget&) = delete;
  Budget& operator=(const Budget&) = delete;

  /// Charges all of `bytes`, here and in every parent, or nothing at all.
  /// Errors: kExhausted names the budget that is full, its limit and the bytes asked.
  Status TryCharge(int64_t bytes);
  /// As TryCharge(), again and again while reclaimers, here or in a parent, give something back.
  Status ChargeOrReclaim(int64_t bytes);
  /// Charges past the limit: for memory that is already held and cannot be refused.
  void ForceCharge(int64_t bytes);
  void Release(int64_t bytes);

  void SetLimit(int64_t limit_bytes) { limit_.store(limit_bytes); }
  /// Whom ChargeOrReclaim() asks; null for nobody. Must be unset before it goes.
  void SetReclaimer(Reclaimer* reclaimer) { reclaimer_.store(reclaimer); }

  const std::string& name() const { return name_; }
  int64_t limit_bytes() const { return limit_.load(std::memory_order_relaxed); }
  int64_t used_bytes() const { return used_.load(std::memory_order_relaxed); }
  /// What could be charged now, here and in every parent; below 0 when they hold too much.
  int64_t free_bytes() const;
  int64_t peak_bytes() const { return peak_.load(std::memory_order_relaxed); }

 private:
  bool AddWithin(int64_t bytes);
  int64_t ReclaimAnywhere(int64_t bytes);
  void NotePeak(int64_t used);

  const std::string name_;
  Budget* const parent_;
  std::atomic<int64_t> limit_;
  std::atomic<Reclaimer*> reclaimer_{nullptr};
  std::atomic<int64_t> used_{0};
  std::atomic<int64_t> peak_{0};
};

/// Bytes charged to a budget for as long as it lives.
class Charge {
 public:
  Charge() = default;
  static Result<Charge> Take(Budget& budget, int64_t bytes);
  /// Of bytes that are charged already.
  static Charge Of(Budget& budget, int64_t bytes) { return Charge(&budget, bytes); }
  ~Charge() { Drop(); }
  Charge(Charge&& other) noexcept
      : budget_(std::exchange(other.budget_, nullptr)), bytes_(std::exchange(other.bytes_, 0)) {}
  Charge& operator=(Charge&& other) noexcept;

  int64_t bytes() const { return bytes_; }
  /// Takes over what `other` holds. Requires: of the same budget, or one of them holds nothing.
  void Join(Charge other);
  void Drop();

 private:
  Charge(Budget* budget, int64_t bytes) : budget_(budget), bytes_(bytes) {}

  Budget* budget_ = nullptr;
  int64_t bytes_ = 0;
};

}  // namespace weir::mem
