#include "weir/queue/transition.h"

#include <map>

namespace weir::queue {
namespace {

// Each allowed move is one row; every pair without one is refused, so that a new state or event
// fails here until someone decides what it does.
TEST(Transition, TableIsExhaustive) {
  using enum State;
  using enum Event;
  const std::map<std::pair<State, Event>, State> table = {
      {{kReady, kClaim}, kBuffered},
      {{kReady, kTake}, kRunning},
      {{kReady, kCancel}, kCancelled},
      {{kScheduled, kPromote}, kReady},
      {{kScheduled, kCancel}, kCancelled},
      {{kSuspended, kRelease}, kReady},
      {{kSuspended, kCancel}, kCancelled},
      {{kBuffered, kStart}, kRunning},
      {{kBuffered, kSucceed}, kDone},  // Done before its start was written.
      {{kBuffered, kFail}, kScheduled},
      {{kBuffered, kGiveUp}, kFailed},
      {{kBuffered, kGiveBack}, kReady},
      {{kBuffered, kExpire}, kReady},
      {{kBuffered, kCancel}, kCancelled},
      {{kRunning, kSucceed}, kDone},
      {{kRunning, kFail}, kScheduled},
      {{kRunning, kGiveUp}, kFailed},
      {{kRunning, kGiveBack}, kReady},
      {{kRunning, kExpire}, kReady},
      {{kRunning, kPoison}, kDead},
      {{kRunning, kCancel}, kRunning},  // Marked; its worker stops it.
      {{kRunning, kStopped}, kCancelled},
      {{kFailed, kRetry}, kReady},
      {{kCancelled, kRetry}, kReady},
      {{kDead, kRetry}, kReady},
  };
  for (int from = 0; from < kStateCount; ++from) {
    for (int event = 0; event < kEventCount; ++event) {
      const auto pair = std::pair(static_cast<State>(from), static_cast<Event>(event));
      const auto row = table.find(pair);
      const auto want = row == table.end() ? std::nullopt : std::optional(row->second);
      EXPECT_EQ(Next(pair.first, pair.second), want)
          << StateName(pair.first) << " + " << EventName(pair.second);
    }
  }
}

}  // namespace
}  // namespace weir::queue
