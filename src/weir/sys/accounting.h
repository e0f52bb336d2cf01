#pragma once
// What the threads of this process spend their time on: processor time by activity, waiting by
// cause.
#include <array>
#include <cstdint>
#include <string_view>

#include "weir/sys/clock.h"

namespace weir::sys {

enum class Activity : uint8_t {
  kOther,     ///< What a thread does before its first scope, and between scopes.
  kDecode,    ///< Reading and decoding files.
  kEncode,    ///< From columns to rows.
  kExchange,  ///< Rows on their way to the shard, or the range, that they belong to.
  kSort,
  kMerge,
  kCopy,   ///< From where rows were sorted or merged to where they stay.
  kCodec,  ///< Compressing, decompressing, checksums.
  kIo,     ///< Calls to the spill device.
};
inline constexpr size_t kActivityCount = 9;

enum class Wait : uint8_t {
  kSpill,   ///< For memory that spilling frees.
  kRead,    ///< For bytes from the spill device.
  kBudget,  ///< For room in a budget that others fill.
  kMeet,    ///< For other threads to come as far.
  kFault,   ///< For pages that the kernel had to find: what nothing else explains.
};
inline constexpr size_t kWaitCount = 5;

std::string_view ActivityName(Activity activity);
std::string_view WaitName(Wait wait);

/// Since the process began, over all its threads.
struct Accounting {
  std::array<Duration, kActivityCount> cpu{};
  std::array<Duration, kWaitCount> waits{};

  Duration of(Activity activity) const { return cpu[static_cast<size_t>(activity)]; }
  Duration of(Wait wait) const { return waits[static_cast<size_t>(wait)]; }
};

/// Of the calling thread up to now; of each other up to where it last opened or closed a scope. One
/// that never opens any, and does not ask, is not counted at all.
Accounting ReadAccounting();

/// The calling thread's processor time from here on is the activity's, until the scope ends; one
/// inside another takes over meanwhile. Cost: about 0.6 µs.
class ActivityScope {
 public:
  explicit ActivityScope(Activity activity);
  ~ActivityScope();
  ActivityScope(const ActivityScope&) = delete;
  ActivityScope& operator=(const ActivityScope&) = delete;

 private:
  const Activity before_;
};

/// The calling thread's time off the processor is this wait's; inside of another wait it is the
/// other's. Cost: about 0.7 µs.
class WaitScope {
 public:
  explicit WaitScope(Wait wait);
  ~WaitScope();
  WaitScope(const WaitScope&) = delete;
  WaitScope& operator=(const WaitScope&) = delete;

 private:
  const Wait wait_;
  const bool outermost_;
  Duration start_{0};
  Duration cpu_{0};
};

/// Around all that a thread does: the time in which it neither ran, nor stood in line for a
/// processor (/proc/thread-self/schedstat), nor waited in a scope, is Wait::kFault.
class ThreadScope {
 public:
  ThreadScope();
  ~ThreadScope();
  ThreadScope(const ThreadScope&) = delete;
  ThreadScope& operator=(const ThreadScope&) = delete;

 private:
  const Duration start_;
  const Duration known_;
};

}  // namespace weir::sys
