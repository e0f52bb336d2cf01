#pragma once
// WorkerCore: what a worker that pulls from a server does, without threads, sockets or clocks.
#include <map>
#include <variant>
#include <vector>

#include "weir/queue/store.h"
#include "weir/sys/clock.h"

namespace weir::queue {

struct WorkerOptions {
  int slots = 8;
  sys::Duration heartbeat = std::chrono::seconds(5);
  sys::Duration lease = std::chrono::seconds(15);
  sys::Duration patience = std::chrono::seconds(20);     ///< Of a pull that finds nothing.
  sys::Duration retry = std::chrono::milliseconds(200);  ///< After a call that failed; doubled.
  sys::Duration retry_most = std::chrono::seconds(5);
};

/// ---- Commands, for whoever drives the core.

/// Answered by Pulled(), or PullFailed() when nobody knows what became of it: it is sent again
/// under the same id, and gets the same jobs.
struct SendPull {
  uint64_t id = 0;
  int slots = 0;
};
/// Answered by Reported(), or ReportFailed(), as above.
struct SendReport {
  uint64_t id = 0;
  std::vector<Outcome> outcomes;
};
/// Answered by HeartbeatAnswered(); one that fails is not repeated before its next turn.
struct SendHeartbeat {
  std::vector<Lease> held;
};
/// To be run; then Finished().
struct RunJob {
  HeldJob job;
};
/// Its lease is lost, or it was cancelled: nobody waits for it. It too ends with Finished().
struct StopJob {
  Lease lease = 0;
};
using WorkerCommand = std::variant<SendPull, SendReport, SendHeartbeat, RunJob, StopJob>;

/// One pull, one report and one heartbeat are under way at a time. When it has not been heard for
/// the time of a lease, the server has given its jobs to others: all of them are stopped.
///
/// Threads: one.
class WorkerCore {
 public:
  WorkerCore(const WorkerOptions& options, SessionId session, sys::Duration now)
      : options_(options), session_(session), heard_(now) {}

  void Pulled(std::vector<HeldJob> jobs, sys::Duration now);
  void PullFailed(sys::Duration now);
  void Reported(const std::vector<bool>& taken, sys::Duration now);
  void ReportFailed(sys::Duration now);
  void HeartbeatAnswered(std::span<const Lease> to_stop, sys::Duration now);
  void HeartbeatFailed(sys::Duration now);
  void Finished(Outcome outcome);
  /// Takes no more jobs.
  void Drain() { draining_ = true; }

  std::vector<WorkerCommand> Commands(sys::Duration now);
  /// When to ask for commands again, if nothing comes in before.
  sys::Duration next() const { return next_; }
  /// Nothing runs and nothing is to be reported.
  bool idle() const { return running_.empty() && ended_.empty() && report_.outcomes.empty(); }
  int64_t lost() const { return lost_; }  ///< Outcomes that were refused.

 private:
  // A call that is repeated until it is answered.
  struct Call {
    uint64_t id = 0;
    bool sent = false;      // And not answered yet.
    bool repeated = false;  // Has to be sent again under the same id.
    sys::Duration at{0};    // Not before.
    sys::Duration retry{0};
  };

  void Failed(Call& call, sys::Duration now);
  void Answered(Call& call, sys::Duration now);
  bool IsDue(const Call& call, sys::Duration now);
  void StopAll();
  void PullIfDue(sys::Duration now);
  void ReportIfDue(sys::Duration now);

  const WorkerOptions options_;
  const SessionId session_;
  std::map<Lease, HeldJob> running_;
  std::vector<Outcome> ended_;  // Not reported yet.
  Call pull_;
  Call report_call_;
  SendReport report_;
  Call heartbeat_;
  int pulled_slots_ = 0;
  sys::Duration heard_;
  bool draining_ = false;
  sys::Duration next_{0};
  int64_t lost_ = 0;
  std::vector<WorkerCommand> commands_;
};

}  // namespace weir::queue
