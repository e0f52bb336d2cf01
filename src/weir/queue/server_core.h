#pragma once
// ServerCore: a batch-pull server without threads, sockets or clocks: events go in with their
// time, commands come out.
#include <deque>
#include <map>
#include <set>
#include <string>
#include <variant>
#include <vector>

#include "weir/queue/lines.h"
#include "weir/queue/store.h"
#include "weir/sys/clock.h"

namespace weir::queue {

struct ServerOptions {
  sys::Duration gather_most = std::chrono::milliseconds(2);  ///< For more pulls to share a claim.
  sys::Duration poll = std::chrono::milliseconds(500);       ///< Between claims that find nothing.
  sys::Duration sweep = std::chrono::seconds(5);             ///< Between Lines::Sweep().
  sys::Duration server_lease = std::chrono::seconds(3);
  sys::Duration worker_lease = std::chrono::seconds(15);
  sys::Duration start_delay = std::chrono::milliseconds(5);  ///< Before a start is written down.
  int crashes_to_die = 3;
};

/// Who asks, so that the answer finds back.
using RequestId = uint64_t;

/// ---- Commands, for whoever drives the core.

/// JobStore::Claim, then ServerCore::Claimed().
struct ClaimCommand {
  size_t tag_set = 0;
  std::vector<LineDemand> demands;
  int most = 0;
  Lease before = 0;
};
/// JobStore::FindLines, then FoundLines().
struct FindLinesCommand {
  size_t tag_set = 0;
  std::vector<LineGap> gaps;
};
/// JobStore::Flush, then Flushed().
struct FlushCommand {
  FlushBatch batch;
};
/// Renew, EndSessions, Promote, Audit where workers are named, and GiveBackUnknown where
/// `last_lost` is not 0; then Kept().
struct KeepCommand {
  std::vector<Renewal> renewals;
  std::vector<SessionId> audited{};
  std::vector<Lease> known_of_audited{};
  Lease last_lost = 0;
  std::vector<Lease> known{};
};
/// The answer to a Pull(): no jobs when its time ran out.
struct PullReply {
  RequestId request = 0;
  std::vector<HeldJob> jobs;
};
/// The answer to a Report(): whether each outcome was taken; else its lease was lost.
struct ReportReply {
  RequestId request = 0;
  std::vector<bool> taken;
};
/// The answer to a Pull() whose worker's session has ended: its jobs are others' by now, and it has
/// to begin anew.
struct GoneReply {
  RequestId request = 0;
};
/// The server's own session has ended: whatever it held is others' by now. The core does nothing
/// more; a new one is needed.
struct LostCommand {};
using Command = std::variant<ClaimCommand, FindLinesCommand, FlushCommand, KeepCommand, PullReply,
                             ReportReply, GoneReply, LostCommand>;

struct PullRequest {
  RequestId request = 0;
  SessionId worker = 0;
  std::vector<int32_t> tag_ids;
  uint64_t pull_id = 0;  ///< Of the worker's choosing; the same one gets the same jobs again.
  int slots = 0;         ///< Free ones.
  int all_slots = 0;
  sys::Duration patience{0};
};

struct ReportRequest {
  RequestId request = 0;
  SessionId worker = 0;
  uint64_t report_id = 0;  ///< Of the worker's choosing; the same one gets the same answer again.
  std::vector<Outcome> outcomes;
};

struct KeepResult {
  std::vector<SessionId> renewed;
  std::vector<Expired> expired;
  std::vector<PromotedLine> lines;  ///< That jobs came into.
  std::vector<AuditedJob> audited;
};

struct ServerCounters {
  int64_t claims = 0;
  int64_t empty_claims = 0;
  int64_t jobs_claimed = 0;
  int64_t jobs_handed = 0;
  int64_t flushes = 0;
  int64_t completions = 0;
  int64_t failures = 0;
  int64_t stale_writes = 0;  ///< Refused, as their lease was another's by then.
  int64_t given_back = 0;
  int64_t repeated_pulls = 0;
};

/// One claim per tag set, one flush and one upkeep are under way at a time; what comes meanwhile
/// shares the next.
///
/// Threads: one.
class ServerCore {
 public:
  ServerCore(const ServerOptions& options, SessionId session)
      : options_(options), session_(session) {}

  void Pull(const PullRequest& pull, sys::Duration now);
  /// The worker whose request it was has gone: it gets nothing.
  void Forget(RequestId request);
  void Report(ReportRequest report, sys::Duration now);
  /// What the worker says it holds; jobs that it was handed a while ago and does not name are given
  /// back. Returns those of the leases whose jobs it is to stop; nullopt: its session has ended.
  std::optional<std::vector<Lease>> Heartbeat(SessionId worker, std::span<const Lease> held,
                                              sys::Duration now);

  void Claimed(const ClaimCommand& command, Result<std::vector<HeldJob>> jobs, sys::Duration now);
  void FoundLines(const FindLinesCommand& command, Result<std::vector<Line>> lines,
                  sys::Duration now);
  void Flushed(const FlushCommand& command, Result<FlushResult> result, sys::Duration now);
  void Kept(const KeepCommand& command, Result<KeepResult> result, sys::Duration now);
  /// A tag has new jobs.
  void Wake(int32_t tag_id, sys::Duration now);
  /// Claims no more, and gives back what is buffered.
  void Drain(sys::Duration now);

  /// What is to be done now. Those that name a call are answered by it before the next of its kind.
  std::vector<Command> Commands(sys::Duration now);
  /// When to ask for commands again, if nothing comes in before.
  sys::Duration next() const { return next_; }

  bool draining() const { return draining_; }
  bool idle() const;  ///< Nothing is buffered, waits to be flushed or is under way.
  const ServerCounters& counters() const { return counters_; }

 private:
  struct TagSet {
    explicit TagSet(std::vector<int32_t> tags) : lines(std::move(tags)) {}

    Lines lines;
    std::deque<PullRequest> pulls;      // That wait.
    std::deque<HeldJob> buffered;
    sys::Duration claim_at{0};          // When to claim for those that wait.
    sys::Duration sweep_at{0};
    bool claiming = false;
    bool finding = false;
    bool is_dry = false;                // The last claim and search found nothing.
  };
  struct Handed {
    HandOver over;
    Line line;
    Moment run_at = 0;
    sys::Duration at{0};
    bool settled = false;  // Its end, or its return, is on its way to the store.
  };
  struct Worker {
    uint64_t last_pull = 0;
    std::vector<HeldJob> last_jobs;
    uint64_t last_report = 0;
    std::vector<bool> last_taken;
    std::set<Lease> held;  // As it said last.
    std::set<Lease> lost;  // Of these, what is not its own, or is to be stopped.
    sys::Duration audit_at{0};
    sys::Duration seen{0};
    bool renewed = true;  // Since it was seen.
  };
  struct Waiting {  // A report, until all of its outcomes were flushed.
    RequestId request = 0;
    SessionId worker = 0;
    uint64_t report_id = 0;
    std::map<Lease, size_t> places;  // Of those that are not flushed yet.
    std::vector<bool> taken;
  };

  bool IsRepeated(const ReportRequest& report, const Worker& worker);
  Worker& Seen(SessionId worker, sys::Duration now);
  size_t TagSetOf(const std::vector<int32_t>& tag_ids);
  int Demand(const TagSet& set) const;
  void HandOut(TagSet& set, sys::Duration now);
  void Give(const PullRequest& pull, TagSet& set, sys::Duration now);
  void EndPulls(TagSet& set, sys::Duration now);
  void ClaimOrFind(size_t at, sys::Duration now);
  void CollectStarts(sys::Duration now);
  void FlushIfDue(sys::Duration now);
  void KeepIfDue(sys::Duration now);
  void AddAudits(KeepCommand& keep, sys::Duration now);
  void NoteEnded(const KeepCommand& command, const std::vector<SessionId>& renewed);
  void NoteAudits(const KeepCommand& command, const KeepResult& result);
  void Settle(Lease lease, bool taken);
  void Lower(const Line& line, Moment run_at);
  void LookAgainAt(sys::Duration at) { next_ = std::min(next_, at); }

  const ServerOptions options_;
  const SessionId session_;
  std::vector<TagSet> sets_;
  std::map<std::vector<int32_t>, size_t> set_of_tags_;
  std::map<SessionId, Worker> workers_;
  std::set<SessionId> gone_;  // Workers' that have ended, the last ones.
  std::map<Lease, Handed> handed_;
  std::multimap<sys::Duration, Lease> starts_;  // When to write them down.
  std::vector<Waiting> waiting_;
  FlushBatch pending_;
  sys::Duration flush_at_{0};
  bool flushing_ = false;
  sys::Duration keep_at_{0};
  bool keeping_ = false;
  bool draining_ = false;
  bool lost_ = false;
  sys::Duration next_{0};
  Lease drawn_ = 0;
  Lease last_lost_ = 0;  // Drawn when a claim's answer was lost last.
  sys::Duration lost_until_{0};
  std::vector<Command> commands_;
  ServerCounters counters_;
};

}  // namespace weir::queue
