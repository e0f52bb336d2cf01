#pragma once
// PgStore: jobs in PostgreSQL.
#include <map>
#include <random>

#include "weir/pg/connection.h"
#include "weir/queue/store.h"

namespace weir::queue {

/// Over one session of its own, whose plans are pinned to index scans: no statement of the queue
/// gains by anything else, however old the statistics are.
class PgStore final : public JobStore {
 public:
  /// Errors: also kInvalid when the database's schema is not this weir's; see Migrate().
  static Result<std::unique_ptr<PgStore>> Open(const pg::Target& target,
                                               const std::string& application_name,
                                               const sys::Stop& stop);

  bool is_alive() const override { return connection_->is_alive(); }
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
  Result<FlushResult> Flush(const FlushBatch& batch) override;
  Result<std::vector<PromotedLine>> Promote(int most) override;
  Result<std::optional<State>> Cancel(const JobId& id) override;
  Result<std::optional<JobRecord>> Find(const JobId& id) override;

 private:
  using Parameters = std::vector<std::optional<std::string>>;

  explicit PgStore(std::unique_ptr<pg::Connection> connection);
  Result<pg::Rows> Run(std::string_view sql, const Parameters& parameters);
  Result<std::vector<PromotedLine>> RunForLines(std::string_view sql,
                                                const Parameters& parameters);
  Result<std::vector<JobId>> RunForIds(std::string_view sql, const Parameters& parameters);

  const std::unique_ptr<pg::Connection> connection_;
  std::map<const char*, std::string> prepared_;  // Names, by the statement's text.
  std::minstd_rand jitter_;
};

}  // namespace weir::queue
