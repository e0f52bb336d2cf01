#pragma once
// What a job is, and where it can stand.
#include <array>
#include <compare>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "weir/base/result.h"

namespace weir::queue {

/// A UUID; those of new_id() rise with time.
struct JobId {
  std::array<uint8_t, 16> bytes{};

  /// From 32 hexadecimal digits, with or without PostgreSQL's dashes. Errors: kInvalid.
  static Result<JobId> Parse(std::string_view text);
  /// As PostgreSQL writes it.
  std::string ToString() const;
  auto operator<=>(const JobId&) const = default;
};

/// A claim: the session that drew it in the upper half, that session's counter in the lower. None
/// is ever drawn twice, and a write that carries another than the job's own is refused.
using Lease = int64_t;
/// A server or worker while it lives; its epoch.
using SessionId = int64_t;

enum class State : uint8_t {
  kReady,      ///< In line.
  kScheduled,  ///< Waits for its time.
  kBuffered,   ///< Claimed by a server, handed to nobody.
  kRunning,    ///< Handed to a worker; the attempt is charged.
  kSuspended,  ///< Waits for other jobs, for a limit or for a person.
  kDone,
  kFailed,     ///< Its attempts are used up.
  kCancelled,
  kDead,       ///< Took its workers down.
};
inline constexpr int kStateCount = 9;

/// As the database and users write it: "ready".
std::string_view StateName(State state);
/// Whether nothing happens to it any more.
inline constexpr bool IsFinal(State state) { return state >= State::kDone; }

/// A moment by the database's clock, in microseconds since 1970. Only stores compare them.
using Moment = int64_t;

/// Where jobs stand one behind another: those of one tag, rank and tenant. Rank 0 is served before
/// rank 1; it is the priority with its sign turned.
struct Line {
  int32_t tag_id = 0;
  int16_t rank = 0;
  int32_t tenant_id = 0;
  auto operator<=>(const Line&) const = default;
};

/// What a caller says of a new job.
struct NewJob {
  std::string kind;
  std::string args = "{}";  ///< JSON.
  std::string tag = "default";
  std::string tenant = "default";
  int priority = 0;           ///< The higher, the sooner.
  int64_t delay_millis = 0;   ///< From now.
  int max_attempts = 3;
  int backoff_millis = 1000;  ///< Before the second attempt; doubled for each further one.
  std::optional<int> timeout_millis{};
  std::optional<std::string> unique_key{};
};

/// A job that a session holds.
struct HeldJob {
  JobId id;
  Lease lease = 0;
  Line line;
  Moment run_at = 0;
  int attempt = 0;  ///< That are charged so far.
  int crashes = 0;
  std::string kind;
  std::string args;
  std::optional<int> timeout_millis{};
};

}  // namespace weir::queue
