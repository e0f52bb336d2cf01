#include "weir/queue/transition.h"

#include "weir/base/assert.h"

namespace weir::queue {
namespace {

std::optional<State> FromWaiting(State from, Event event) {
  switch (event) {
    case Event::kPromote:
      if (from == State::kScheduled) return State::kReady;
      return std::nullopt;
    case Event::kRelease:
      if (from == State::kSuspended) return State::kReady;
      return std::nullopt;
    case Event::kClaim:
      if (from == State::kReady) return State::kBuffered;
      return std::nullopt;
    case Event::kTake:
      if (from == State::kReady) return State::kRunning;
      return std::nullopt;
    case Event::kCancel: return State::kCancelled;
    default: return std::nullopt;
  }
}

std::optional<State> FromHeld(State from, Event event) {
  const bool runs = from == State::kRunning;
  switch (event) {
    case Event::kStart: return runs ? std::nullopt : std::optional(State::kRunning);
    case Event::kSucceed: return State::kDone;
    case Event::kFail: return State::kScheduled;
    case Event::kGiveUp: return State::kFailed;
    case Event::kGiveBack:
    case Event::kExpire: return State::kReady;
    case Event::kPoison: return runs ? std::optional(State::kDead) : std::nullopt;
    case Event::kCancel: return runs ? State::kRunning : State::kCancelled;
    case Event::kStopped: return runs ? std::optional(State::kCancelled) : std::nullopt;
    default: return std::nullopt;
  }
}

}  // namespace

std::optional<State> Next(State from, Event event) {
  if (IsFinal(from)) {
    return event == Event::kRetry && from != State::kDone ? std::optional(State::kReady)
                                                          : std::nullopt;
  }
  const bool held = from == State::kBuffered || from == State::kRunning;
  return held ? FromHeld(from, event) : FromWaiting(from, event);
}

std::string_view EventName(Event event) {
  switch (event) {
    case Event::kPromote: return "promote";
    case Event::kRelease: return "release";
    case Event::kClaim: return "claim";
    case Event::kTake: return "take";
    case Event::kStart: return "start";
    case Event::kSucceed: return "succeed";
    case Event::kFail: return "fail";
    case Event::kGiveUp: return "give up";
    case Event::kGiveBack: return "give back";
    case Event::kExpire: return "expire";
    case Event::kPoison: return "poison";
    case Event::kCancel: return "cancel";
    case Event::kStopped: return "stopped";
    case Event::kRetry: return "retry";
  }
  WEIR_ASSERT(false);
}

}  // namespace weir::queue
