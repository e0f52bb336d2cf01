#pragma once
// Next: the moves that a job can make. What is not there cannot happen; stores hold to it by the
// WHERE of their statements.
#include <optional>
#include <string_view>

#include "weir/queue/job.h"

namespace weir::queue {

enum class Event : uint8_t {
  kPromote,   ///< Its time has come.
  kRelease,   ///< What it waited for is there.
  kClaim,     ///< A server takes it for its workers.
  kTake,      ///< A worker takes it for itself.
  kStart,     ///< A server handed it to a worker.
  kSucceed,   ///< Its worker is done, whether or not kStart was written before.
  kFail,      ///< It failed, with attempts left: later again.
  kGiveUp,    ///< It failed, with none left.
  kGiveBack,  ///< Who holds it will not run it.
  kExpire,    ///< Who held it was not heard of in time.
  kPoison,    ///< The same, once too often.
  kCancel,    ///< Somebody wants it no more. One that runs goes on until its worker knows.
  kStopped,   ///< Its worker stopped it, as it was cancelled.
  kRetry,     ///< Somebody wants it once more.
};
inline constexpr int kEventCount = 14;

/// Where `event` takes a job that is `from`; nullopt: nowhere, it is refused.
std::optional<State> Next(State from, Event event);

std::string_view EventName(Event event);

}  // namespace weir::queue
