#pragma once
// MemoryStore: jobs in memory, for the simulation of servers and workers. Not a queue for users:
// it dies with its process.
#include <map>
#include <set>
#include <string>
#include <tuple>

#include "weir/queue/store.h"
#include "weir/sys/clock.h"

namespace weir::queue {

/// The same answers as PgStore's, by the clock that it is given; store_test.cc holds both to them.
/// Ids count upwards, and back-off has no jitter: a run can be repeated.
class MemoryStore final : public JobStore {
 public:
  explicit MemoryStore(sys::Clock& clock) : clock_(clock) {}

  Result<JobId> Enqueue(const NewJob& job) override;
  Result<int32_t> TagId(const std::string& tag) override;
  Result<SessionId> OpenSession(const SessionSpec& session) override;
  Result<std::vector<SessionId>> Renew(std::span<const Renewal> renewals) override;
  Status CloseSession(SessionId session) override;
  Result<std::vector<Expired>> EndSessions(int crashes_to_die) override;
  Result<std::vector<HeldJob>> Claim(std::span<const LineDemand> demands, int most, Lease before,
                                     SessionId session) override;
  Result<std::optional<HeldJob>> Take(std::span<const int32_t> tag_ids, const Line& last,
                                      Lease lease, SessionId session) override;
  Result<std::vector<Line>> FindLines(std::span<const LineGap> gaps) override;
  Result<std::vector<JobId>> Start(std::span<const HandOver> handed) override;
  Result<std::vector<JobId>> Complete(std::span<const Outcome> outcomes) override;
  Result<std::vector<Moved>> FailJobs(std::span<const Outcome> outcomes) override;
  Result<std::vector<JobId>> GiveBack(std::span<const HandOver> held) override;
  Result<std::vector<AuditedJob>> Audit(std::span<const SessionId> workers,
                                        std::span<const Lease> known) override;
  Result<std::vector<PromotedLine>> GiveBackUnknown(SessionId session, Lease last,
                                                    std::span<const Lease> known) override;
  Result<std::vector<PromotedLine>> Promote(int most) override;
  Result<std::optional<State>> Cancel(const JobId& id) override;
  Result<std::optional<JobRecord>> Find(const JobId& id) override;

 private:
  struct Living {
    NewJob spec;
    HeldJob job;
    State state = State::kReady;
    SessionId session = 0;
    bool cancelled = false;
  };
  using Jobs = std::map<JobId, Living>;
  using Place = std::tuple<Line, Moment, JobId>;  // Of a ready job.

  Moment Now();
  Living* FindHeld(const HandOver& held);
  void Enter(Living& living, State state);
  void Leave(Living& living);
  void Hold(Living& living, State state, Lease lease, SessionId session);
  void End(const JobId& id, JobRecord record);
  void Return(const JobId& id, bool charge_crash);
  void EnterLine(Living& living, std::map<Line, Moment>& lines);

  sys::Clock& clock_;
  std::map<std::string, int32_t> tags_;
  std::map<std::string, int32_t> tenants_;
  std::map<SessionId, Moment> sessions_;  // That live, and until when.
  SessionId last_session_ = 0;
  uint64_t last_id_ = 0;
  Jobs living_;
  std::set<Place> ready_;
  std::map<JobId, JobRecord> ended_;
};

}  // namespace weir::queue
