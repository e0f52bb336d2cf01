#pragma once
// JobStore: where jobs are. Every move is one statement that names the state and the lease that it
// moves from, so that whoever comes too late changes nothing.
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "weir/base/result.h"
#include "weir/queue/job.h"

namespace weir::queue {

enum class Role : uint8_t { kServer, kWorker };

struct SessionSpec {
  Role role = Role::kWorker;
  std::string name;
  std::vector<std::string> tags;
  int slots = 0;
  int64_t lease_millis = 15'000;
};

/// What to claim of one line, and behind which job: whoever claims alone knows that nothing stands
/// before. The default is the line's beginning.
struct LineDemand {
  Line line;
  Moment after_run_at = 0;
  JobId after_id{};
  int most = 0;
};

/// Where unknown lines may be: of one tag, after one line's rank and tenant and before another's.
struct LineGap {
  Line after;
  Line before;
};

struct HandOver {
  JobId id;
  Lease lease = 0;
  SessionId worker = 0;
  int64_t ran_millis = 0;  ///< Since it was handed over.
};

/// What became of a job that was handed over, or taken.
struct Outcome {
  HandOver held;
  std::string result = "null";  ///< JSON, of success.
  std::string error;            ///< Of failure.
  bool may_retry = true;        ///< Of failure: if attempts are left.
  int64_t peak_bytes = 0;
  int64_t cpu_micros = 0;
};

struct Renewal {
  SessionId session = 0;
  int64_t lease_millis = 0;
};

/// Moves of one job that was asked for by its lease.
struct Moved {
  JobId id;
  State to = State::kReady;
};

/// One that its session's end took back, or ended.
struct Expired {
  JobId id;
  Line line;
  Moment run_at = 0;
  State from = State::kRunning;
  State to = State::kReady;
};

/// A line that jobs came into, the first of them at that moment.
struct PromotedLine {
  Line line;
  Moment run_at = 0;
  bool operator==(const PromotedLine&) const = default;
};

/// What happened to jobs since the last flush.
struct FlushBatch {
  std::vector<HandOver> starts;
  std::vector<Outcome> completions;
  std::vector<Outcome> failures;
  std::vector<HandOver> returns;

  bool empty() const {
    return starts.empty() && completions.empty() && failures.empty() && returns.empty();
  }
};

/// Of a FlushBatch, what happened; the rest had lost its lease.
struct FlushResult {
  std::vector<JobId> started;
  std::vector<JobId> completed;
  std::vector<Moved> failed;
  std::vector<JobId> returned;
};

/// A job that runs, as the store has it.
struct AuditedJob {
  JobId id;
  Lease lease = 0;
  Line line;
  Moment run_at = 0;
  SessionId worker = 0;
  bool known = true;       ///< Else it was given back.
  bool cancelled = false;  ///< It is to be stopped.
};

/// Where a job is, and how it ended.
struct JobRecord {
  State state = State::kReady;
  int attempt = 0;
  int crashes = 0;
  SessionId session = 0;  ///< That holds it, or that held it last; 0: none.
  std::optional<std::string> result{};
  std::optional<std::string> error{};
};

/// Errors:  of PostgreSQL, as pg::Connection has them. What they stop has not happened, or is not
///          known to have: the same call with the same leases may be repeated.
/// Threads: one at a time.
class JobStore {
 public:
  virtual ~JobStore() = default;

  /// Whether more calls can work: else a new store is needed.
  virtual bool is_alive() const { return true; }
  virtual Result<JobId> Enqueue(const NewJob& job) = 0;
  /// The number of a tag by its name; a new one where there is none. Errors: kInvalid names.
  virtual Result<int32_t> TagId(const std::string& tag) = 0;

  virtual Result<SessionId> OpenSession(const SessionSpec& session) = 0;
  /// Those that live still, and do so for their new time.
  virtual Result<std::vector<SessionId>> Renew(std::span<const Renewal> renewals) = 0;
  /// Ends one that leaves, and gives back what it holds, with no attempt charged.
  virtual Status CloseSession(SessionId session) = 0;
  /// Ends those whose lease ran out. What they had buffered is ready again; what they ran too, with
  /// the crash counted, or dead at `crashes_to_die`, or cancelled where that was asked for.
  virtual Result<std::vector<Expired>> EndSessions(int crashes_to_die) = 0;

  /// Ready jobs, `most` at most, become buffered, line by line as asked, with leases `before` + 1
  /// and so on. None for a session that has ended.
  virtual Result<std::vector<HeldJob>> Claim(std::span<const LineDemand> demands, int most,
                                             Lease before, SessionId session) = 0;
  /// One ready job becomes running: of the soonest rank of the tags, in turn of tenants after
  /// `last`. None, or the session has ended: nullopt.
  virtual Result<std::optional<HeldJob>> Take(std::span<const int32_t> tag_ids, const Line& last,
                                              Lease lease, SessionId session) = 0;
  /// The first line in each gap that has one.
  virtual Result<std::vector<Line>> FindLines(std::span<const LineGap> gaps) = 0;

  /// Buffered jobs become running, if their worker's session lives. Returns those that did.
  virtual Result<std::vector<JobId>> Start(std::span<const HandOver> handed) = 0;
  /// Buffered or running jobs become done. Returns those that did; others' leases were lost.
  virtual Result<std::vector<JobId>> Complete(std::span<const Outcome> outcomes) = 0;
  /// Buffered or running jobs become scheduled, failed or cancelled.
  virtual Result<std::vector<Moved>> FailJobs(std::span<const Outcome> outcomes) = 0;
  /// Buffered or running jobs become ready, with no attempt charged; or cancelled, where that was
  /// asked for.
  virtual Result<std::vector<JobId>> GiveBack(std::span<const HandOver> held) = 0;
  /// What the workers run. What they do not know of is ready again, or cancelled where that was
  /// asked for: jobs whose hand-over was lost with its server.
  virtual Result<std::vector<AuditedJob>> Audit(std::span<const SessionId> workers,
                                                std::span<const Lease> known) = 0;
  /// What the session has buffered under a lease up to `last` and does not know of, from a claim
  /// whose answer was lost, is ready again.
  virtual Result<std::vector<PromotedLine>> GiveBackUnknown(SessionId session, Lease last,
                                                            std::span<const Lease> known) = 0;
  /// Start, Complete, FailJobs and GiveBack in one transaction.
  virtual Result<FlushResult> Flush(const FlushBatch& batch);
  /// Scheduled jobs whose time has come, at most so many, become ready.
  virtual Result<std::vector<PromotedLine>> Promote(int most) = 0;
  /// A job that waits is cancelled; one that runs is marked, for its worker to stop it. Returns
  /// where it is now; nullopt: there is none that lives.
  virtual Result<std::optional<State>> Cancel(const JobId& id) = 0;

  /// nullopt: there is no such job.
  virtual Result<std::optional<JobRecord>> Find(const JobId& id) = 0;
};

}  // namespace weir::queue
