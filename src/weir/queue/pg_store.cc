#include "weir/queue/pg_store.h"

#include <charconv>

#include "weir/base/assert.h"
#include "weir/base/version.h"
#include "weir/queue/array_text_internal.h"
#include "weir/queue/migrations.h"
#include "weir/queue/sql.h"

namespace weir::queue {
namespace {

// Values of weir's own statements: anything else is a broken invariant.
int64_t Number(const std::optional<std::string>& value) {
  WEIR_ASSERT(value.has_value());
  int64_t number = 0;
  const auto [end, error] = std::from_chars(value->data(), value->data() + value->size(), number);
  WEIR_ASSERT(error == std::errc() && end == value->data() + value->size());
  return number;
}

JobId Id(const std::optional<std::string>& value) {
  WEIR_ASSERT(value.has_value());
  return JobId::Parse(*value).value();
}

State StateOf(const std::optional<std::string>& value) {
  for (int at = 0; at < kStateCount; ++at) {
    if (value == StateName(static_cast<State>(at))) return static_cast<State>(at);
  }
  WEIR_ASSERT(false);
}

Line LineAt(const pg::Row& row, size_t at) {
  return {static_cast<int32_t>(Number(row[at])), static_cast<int16_t>(Number(row[at + 1])),
          static_cast<int32_t>(Number(row[at + 2]))};
}

// Of claim.sql and take.sql.
HeldJob Held(pg::Row& row) {
  HeldJob job;
  job.id = Id(row[0]);
  job.lease = Number(row[1]);
  job.line = LineAt(row, 2);
  job.run_at = Number(row[5]);
  job.attempt = static_cast<int>(Number(row[6]));
  job.crashes = static_cast<int>(Number(row[7]));
  job.kind = std::move(row[8]).value();
  job.args = std::move(row[9]).value();
  if (row[10].has_value()) job.timeout_millis = static_cast<int>(Number(row[10]));
  return job;
}

// The columns that handed over jobs have in common.
struct HandOverArrays {
  void Add(const HandOver& held) {
    ids.AddText(held.id.ToString());
    leases.AddNumber(held.lease);
    workers.AddNumber(held.worker);
    ran.AddNumber(held.ran_millis);
  }

  ArrayText ids;
  ArrayText leases;
  ArrayText workers;
  ArrayText ran;
};

std::string Numbers(std::span<const int64_t> numbers) {
  ArrayText text;
  for (const int64_t number : numbers) text.AddNumber(number);
  return text.text();
}

std::string Text(int64_t number) { return std::to_string(number); }

}  // namespace

PgStore::PgStore(std::unique_ptr<pg::Connection> connection)
    : connection_(std::move(connection)), jitter_(std::random_device{}()) {}

Result<std::unique_ptr<PgStore>> PgStore::Open(const pg::Target& target,
                                               const std::string& application_name,
                                               const sys::Stop& stop) {
  WEIR_TRY(auto connection, pg::Connection::Open(target, application_name, stop));
  WEIR_DO(CheckSchema(*connection));
  WEIR_DO(connection->Exec(std::string(sql::kPinPlans)));
  return std::unique_ptr<PgStore>(new PgStore(std::move(connection)));
}

Result<pg::Rows> PgStore::Run(std::string_view sql, const Parameters& parameters) {
  std::string& name = prepared_[sql.data()];
  if (name.empty()) {
    std::string fresh = fmt::format("weir_{}", prepared_.size());
    WEIR_DO(connection_->Prepare(fresh, sql));
    name = std::move(fresh);
  }
  return connection_->QueryPrepared(name, parameters);
}

Result<std::vector<JobId>> PgStore::RunForIds(std::string_view sql, const Parameters& parameters) {
  WEIR_TRY(const pg::Rows rows, Run(sql, parameters));
  std::vector<JobId> ids;
  for (const pg::Row& row : rows) ids.push_back(Id(row[0]));
  return ids;
}

Result<JobId> PgStore::Enqueue(const NewJob& job) {
  std::optional<std::string> timeout;
  if (job.timeout_millis.has_value()) timeout = Text(*job.timeout_millis);
  WEIR_TRY(const pg::Rows rows,
           Run(sql::kEnqueue,
               {job.kind, job.args, job.tag, job.tenant, Text(job.priority),
                Text(job.delay_millis), Text(job.max_attempts), Text(job.backoff_millis), timeout,
                job.unique_key}));
  return Id(rows[0][0]);
}

Result<int32_t> PgStore::TagId(const std::string& tag) {
  WEIR_TRY(const pg::Rows rows, Run(sql::kTagId, {tag}));
  return static_cast<int32_t>(Number(rows[0][0]));
}

Result<SessionId> PgStore::OpenSession(const SessionSpec& session) {
  ArrayText tags;
  for (const std::string& tag : session.tags) tags.AddText(tag);
  WEIR_TRY(const pg::Rows rows,
           Run(sql::kOpenSession,
               {session.role == Role::kServer ? "server" : "worker", session.name,
                std::string(Version()), tags.text(), Text(session.slots),
                Text(session.lease_millis)}));
  return Number(rows[0][0]);
}

Result<std::vector<SessionId>> PgStore::Renew(std::span<const Renewal> renewals) {
  ArrayText ids;
  ArrayText millis;
  for (const Renewal& renewal : renewals) {
    ids.AddNumber(renewal.session);
    millis.AddNumber(renewal.lease_millis);
  }
  WEIR_TRY(const pg::Rows rows, Run(sql::kRenewSessions, {ids.text(), millis.text()}));
  std::vector<SessionId> renewed;
  for (const pg::Row& row : rows) renewed.push_back(Number(row[0]));
  return renewed;
}

Status PgStore::CloseSession(SessionId session) {
  WEIR_DO(Run(sql::kCloseSession, {Text(session)}));
  return Ok();
}

Result<std::vector<Expired>> PgStore::EndSessions(int crashes_to_die) {
  WEIR_TRY(const pg::Rows rows, Run(sql::kEndSessions, {Text(crashes_to_die)}));
  std::vector<Expired> expired;
  for (const pg::Row& row : rows) {
    expired.push_back(
        {Id(row[0]), LineAt(row, 1), Number(row[4]), StateOf(row[5]), StateOf(row[6])});
  }
  return expired;
}

Result<std::vector<HeldJob>> PgStore::Claim(std::span<const LineDemand> demands, int most,
                                            Lease before, SessionId session) {
  ArrayText tags;
  ArrayText ranks;
  ArrayText tenants;
  ArrayText after_run_at;
  ArrayText after_id;
  ArrayText quotas;
  for (const LineDemand& demand : demands) {
    tags.AddNumber(demand.line.tag_id);
    ranks.AddNumber(demand.line.rank);
    tenants.AddNumber(demand.line.tenant_id);
    after_run_at.AddNumber(demand.after_run_at);
    after_id.AddText(demand.after_id.ToString());
    quotas.AddNumber(demand.most);
  }
  WEIR_TRY(pg::Rows rows,
           Run(sql::kClaim, {tags.text(), ranks.text(), tenants.text(), after_run_at.text(),
                             after_id.text(), quotas.text(), Text(most), Text(before),
                             Text(session)}));
  std::vector<HeldJob> jobs;
  for (pg::Row& row : rows) jobs.push_back(Held(row));
  return jobs;
}

Result<std::optional<HeldJob>> PgStore::Take(std::span<const int32_t> tag_ids, const Line& last,
                                             Lease lease, SessionId session) {
  ArrayText tags;
  for (const int32_t tag : tag_ids) tags.AddNumber(tag);
  WEIR_TRY(pg::Rows rows, Run(sql::kTake, {tags.text(), Text(last.rank), Text(last.tenant_id),
                                           Text(lease), Text(session)}));
  if (rows.empty()) return std::optional<HeldJob>();
  return std::optional(Held(rows[0]));
}

Result<std::vector<Line>> PgStore::FindLines(std::span<const LineGap> gaps) {
  ArrayText tags;
  ArrayText after_ranks;
  ArrayText after_tenants;
  ArrayText before_ranks;
  ArrayText before_tenants;
  for (const LineGap& gap : gaps) {
    WEIR_ASSERT(gap.after.tag_id == gap.before.tag_id);
    tags.AddNumber(gap.after.tag_id);
    after_ranks.AddNumber(gap.after.rank);
    after_tenants.AddNumber(gap.after.tenant_id);
    before_ranks.AddNumber(gap.before.rank);
    before_tenants.AddNumber(gap.before.tenant_id);
  }
  WEIR_TRY(const pg::Rows rows,
           Run(sql::kFindLines, {tags.text(), after_ranks.text(), after_tenants.text(),
                                 before_ranks.text(), before_tenants.text()}));
  std::vector<Line> lines;
  for (const pg::Row& row : rows) lines.push_back(LineAt(row, 0));
  return lines;
}

Result<std::vector<JobId>> PgStore::Start(std::span<const HandOver> handed) {
  HandOverArrays arrays;
  for (const HandOver& each : handed) arrays.Add(each);
  return RunForIds(sql::kStart, {arrays.ids.text(), arrays.leases.text(), arrays.workers.text(),
                                 arrays.ran.text()});
}

Result<std::vector<JobId>> PgStore::Complete(std::span<const Outcome> outcomes) {
  HandOverArrays arrays;
  ArrayText results;
  ArrayText peaks;
  ArrayText cpu;
  for (const Outcome& outcome : outcomes) {
    arrays.Add(outcome.held);
    results.AddText(outcome.result);
    peaks.AddNumber(outcome.peak_bytes);
    cpu.AddNumber(outcome.cpu_micros);
  }
  return RunForIds(sql::kComplete,
                   {arrays.ids.text(), arrays.leases.text(), arrays.workers.text(),
                    arrays.ran.text(), results.text(), peaks.text(), cpu.text()});
}

Result<std::vector<Moved>> PgStore::FailJobs(std::span<const Outcome> outcomes) {
  HandOverArrays arrays;
  ArrayText errors;
  ArrayText retries;
  ArrayText chances;
  for (const Outcome& outcome : outcomes) {
    arrays.Add(outcome.held);
    errors.AddText(outcome.error);
    retries.AddBool(outcome.may_retry);
    chances.AddNumber(std::uniform_real_distribution<>()(jitter_));
  }
  WEIR_TRY(const pg::Rows rows,
           Run(sql::kFail, {arrays.ids.text(), arrays.leases.text(), arrays.workers.text(),
                            arrays.ran.text(), errors.text(), retries.text(), chances.text()}));
  std::vector<Moved> moved;
  for (const pg::Row& row : rows) moved.push_back({Id(row[0]), StateOf(row[1])});
  return moved;
}

Result<std::vector<JobId>> PgStore::GiveBack(std::span<const HandOver> held) {
  HandOverArrays arrays;
  for (const HandOver& each : held) arrays.Add(each);
  return RunForIds(sql::kGiveBack, {arrays.ids.text(), arrays.leases.text()});
}

Result<std::vector<PromotedLine>> PgStore::RunForLines(std::string_view sql,
                                                       const Parameters& parameters) {
  WEIR_TRY(const pg::Rows rows, Run(sql, parameters));
  std::vector<PromotedLine> lines;
  for (const pg::Row& row : rows) lines.push_back({LineAt(row, 0), Number(row[3])});
  return lines;
}

Result<std::vector<AuditedJob>> PgStore::Audit(std::span<const SessionId> workers,
                                               std::span<const Lease> known) {
  WEIR_TRY(const pg::Rows rows, Run(sql::kAudit, {Numbers(workers), Numbers(known)}));
  std::vector<AuditedJob> jobs;
  for (const pg::Row& row : rows) {
    jobs.push_back({Id(row[0]), Number(row[1]), LineAt(row, 2), Number(row[5]), Number(row[6]),
                    row[7] == "t", row[8] == "t"});
  }
  return jobs;
}

Result<std::vector<PromotedLine>> PgStore::GiveBackUnknown(SessionId session, Lease last,
                                                           std::span<const Lease> known) {
  return RunForLines(sql::kGiveBackUnknown, {Text(session), Text(last), Numbers(known)});
}

// One statement is a transaction by itself.
Result<FlushResult> PgStore::Flush(const FlushBatch& batch) {
  const int statements = !batch.starts.empty() + !batch.completions.empty() +
                         !batch.failures.empty() + !batch.returns.empty();
  if (statements < 2) return JobStore::Flush(batch);
  WEIR_DO(connection_->Exec("BEGIN"));
  auto result = JobStore::Flush(batch);
  const Status ended = connection_->Exec(result.ok() ? "COMMIT" : "ROLLBACK");
  if (result.ok()) WEIR_DO(ended);
  return result;
}

Result<std::vector<PromotedLine>> PgStore::Promote(int most) {
  return RunForLines(sql::kPromote, {Text(most)});
}

Result<std::optional<State>> PgStore::Cancel(const JobId& id) {
  WEIR_TRY(const pg::Rows rows, Run(sql::kCancel, {id.ToString()}));
  if (rows.empty()) return std::optional<State>();
  return std::optional(StateOf(rows[0][0]));
}

Result<std::optional<JobRecord>> PgStore::Find(const JobId& id) {
  WEIR_TRY(pg::Rows rows, Run(sql::kFind, {id.ToString()}));
  if (rows.empty()) return std::optional<JobRecord>();
  pg::Row& row = rows[0];
  JobRecord found;
  found.state = StateOf(row[0]);
  found.attempt = static_cast<int>(Number(row[1]));
  found.crashes = static_cast<int>(Number(row[2]));
  found.session = Number(row[3]);
  found.result = std::move(row[4]);
  found.error = std::move(row[5]);
  return std::optional(std::move(found));
}

}  // namespace weir::queue
