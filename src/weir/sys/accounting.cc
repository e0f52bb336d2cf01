#include "weir/sys/accounting.h"

#include <atomic>
#include <utility>

#include "weir/base/assert.h"
#include "weir/sys/process.h"

namespace weir::sys {
namespace {

std::array<std::atomic<int64_t>, kActivityCount> cpu_nanos{};
std::array<std::atomic<int64_t>, kWaitCount> wait_nanos{};

// What the calling thread does now.
struct Current {
  Activity activity = Activity::kOther;
  Duration since{0};  // Processor time when it began.
  bool waiting = false;
  Duration waited{0};
};
thread_local Current current;

Activity SwitchTo(Activity activity) {
  const Duration now = ThreadCpuTime();
  cpu_nanos[static_cast<size_t>(current.activity)].fetch_add((now - current.since).count(),
                                                             std::memory_order_relaxed);
  current.since = now;
  return std::exchange(current.activity, activity);
}

void AddWait(Wait wait, Duration waited) {
  if (waited.count() <= 0) return;
  wait_nanos[static_cast<size_t>(wait)].fetch_add(waited.count(), std::memory_order_relaxed);
}

Duration KnownTime() { return ThreadCpuTime() + ThreadTimeInLine() + current.waited; }

}  // namespace

std::string_view ActivityName(Activity activity) {
  switch (activity) {
    case Activity::kOther: return "other";
    case Activity::kDecode: return "decode";
    case Activity::kEncode: return "encode";
    case Activity::kExchange: return "exchange";
    case Activity::kSort: return "sort";
    case Activity::kMerge: return "merge";
    case Activity::kCopy: return "copy";
    case Activity::kCodec: return "codec";
    case Activity::kIo: return "io";
  }
  WEIR_ASSERT(false);
}

std::string_view WaitName(Wait wait) {
  switch (wait) {
    case Wait::kSpill: return "spill";
    case Wait::kRead: return "read";
    case Wait::kBudget: return "budget";
    case Wait::kMeet: return "meet";
    case Wait::kFault: return "fault";
  }
  WEIR_ASSERT(false);
}

Accounting ReadAccounting() {
  SwitchTo(current.activity);
  Accounting accounting;
  for (size_t at = 0; at < kActivityCount; ++at) accounting.cpu[at] = Duration(cpu_nanos[at]);
  for (size_t at = 0; at < kWaitCount; ++at) accounting.waits[at] = Duration(wait_nanos[at]);
  return accounting;
}

ActivityScope::ActivityScope(Activity activity) : before_(SwitchTo(activity)) {}
ActivityScope::~ActivityScope() { SwitchTo(before_); }

WaitScope::WaitScope(Wait wait) : wait_(wait), outermost_(!std::exchange(current.waiting, true)) {
  if (!outermost_) return;
  start_ = SteadyNow();
  cpu_ = ThreadCpuTime();
}

WaitScope::~WaitScope() {
  if (!outermost_) return;
  current.waiting = false;
  const Duration waited = SteadyNow() - start_ - (ThreadCpuTime() - cpu_);
  AddWait(wait_, waited);
  if (waited.count() > 0) current.waited += waited;
}

ThreadScope::ThreadScope() : start_(SteadyNow()), known_(KnownTime()) {}

ThreadScope::~ThreadScope() {
  AddWait(Wait::kFault, (SteadyNow() - start_) - (KnownTime() - known_));
}

}  // namespace weir::sys
