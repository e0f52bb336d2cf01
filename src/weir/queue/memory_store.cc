#include "weir/queue/memory_store.h"

#include <algorithm>
#include <cmath>

#include "weir/base/assert.h"

namespace weir::queue {
namespace {

constexpr Moment kMillis = 1000;  // Microseconds.

JobId FirstOf(uint64_t number) {
  JobId id;
  for (size_t at = 0; at < 8; ++at) {
    id.bytes[15 - at] = static_cast<uint8_t>(number >> (8 * at));
  }
  return id;
}

int32_t NumberOf(std::map<std::string, int32_t>& names, const std::string& name) {
  return names.try_emplace(name, static_cast<int32_t>(names.size()) + 1).first->second;
}

std::vector<PromotedLine> Promoted(const std::map<Line, Moment>& lines) {
  std::vector<PromotedLine> promoted;
  for (const auto& [line, run_at] : lines) promoted.push_back({line, run_at});
  return promoted;
}

}  // namespace

Moment MemoryStore::Now() {
  return std::chrono::duration_cast<std::chrono::microseconds>(clock_.Now()).count();
}

// From wherever it was into `state`, in line where that is ready.
void MemoryStore::Enter(Living& living, State state) {
  Leave(living);
  living.state = state;
  if (state == State::kReady) {
    ready_.emplace(living.job.line, living.job.run_at, living.job.id);
  }
}

void MemoryStore::Leave(Living& living) {
  if (living.state == State::kReady) {
    ready_.erase({living.job.line, living.job.run_at, living.job.id});
  }
  living.session = 0;
}

void MemoryStore::Hold(Living& living, State state, Lease lease, SessionId session) {
  Enter(living, state);
  living.job.lease = lease;
  living.session = session;
}

void MemoryStore::End(const JobId& id, JobRecord record) {
  const auto found = living_.find(id);
  record.attempt = found->second.job.attempt;
  record.crashes = found->second.job.crashes;
  Leave(found->second);
  living_.erase(found);
  ended_.emplace(id, std::move(record));
}

// Null: it is held by another lease, or not at all.
MemoryStore::Living* MemoryStore::FindHeld(const HandOver& held) {
  const auto found = living_.find(held.id);
  if (found == living_.end() || found->second.job.lease != held.lease) return nullptr;
  const State state = found->second.state;
  return state == State::kBuffered || state == State::kRunning ? &found->second : nullptr;
}

Result<JobId> MemoryStore::Enqueue(const NewJob& job) {
  Living living;
  living.spec = job;
  living.job.line = {NumberOf(tags_, job.tag), static_cast<int16_t>(-job.priority),
                     NumberOf(tenants_, job.tenant)};
  for (const auto& [id, other] : living_) {
    if (job.unique_key.has_value() && other.spec.unique_key == job.unique_key &&
        other.job.line.tenant_id == living.job.line.tenant_id) {
      return id;
    }
  }
  living.job.id = FirstOf(++last_id_);
  living.job.run_at = Now() + job.delay_millis * kMillis;
  living.job.kind = job.kind;
  living.job.args = job.args;
  living.job.timeout_millis = job.timeout_millis;
  living.state = State::kScheduled;
  Living& kept = living_.emplace(living.job.id, std::move(living)).first->second;
  if (job.delay_millis <= 0) Enter(kept, State::kReady);
  return kept.job.id;
}

Result<int32_t> MemoryStore::TagId(const std::string& tag) { return NumberOf(tags_, tag); }

Result<SessionId> MemoryStore::OpenSession(const SessionSpec& session) {
  sessions_[++last_session_] = Now() + session.lease_millis * kMillis;
  return last_session_;
}

Result<std::vector<SessionId>> MemoryStore::Renew(std::span<const Renewal> renewals) {
  std::vector<SessionId> renewed;
  for (const Renewal& renewal : renewals) {
    const auto session = sessions_.find(renewal.session);
    if (session == sessions_.end()) continue;
    session->second = Now() + renewal.lease_millis * kMillis;
    renewed.push_back(renewal.session);
  }
  return renewed;
}

// To the line, or to its end where that was asked for.
void MemoryStore::Return(const JobId& id, bool charge_crash) {
  Living& living = living_.at(id);
  if (living.cancelled) {
    End(id, {.state = State::kCancelled, .session = living.session});
    return;
  }
  if (living.state == State::kRunning) {
    if (charge_crash) {
      ++living.job.crashes;
    } else {
      --living.job.attempt;
    }
  }
  Enter(living, State::kReady);
}

Status MemoryStore::CloseSession(SessionId session) {
  if (sessions_.erase(session) == 0) return Ok();
  std::vector<JobId> held;
  for (const auto& [id, living] : living_) {
    if (living.session == session) held.push_back(id);
  }
  for (const JobId& id : held) Return(id, false);
  return Ok();
}

Result<std::vector<Expired>> MemoryStore::EndSessions(int crashes_to_die) {
  std::set<SessionId> gone;
  for (const auto& [session, until] : sessions_) {
    if (until < Now()) gone.insert(session);
  }
  for (const SessionId session : gone) sessions_.erase(session);
  std::vector<Expired> expired;
  for (const auto& [id, living] : living_) {
    if (!gone.contains(living.session)) continue;
    const bool poison =
        living.state == State::kRunning && living.job.crashes + 1 >= crashes_to_die;
    const State to = poison             ? State::kDead
                     : living.cancelled ? State::kCancelled
                                        : State::kReady;
    expired.push_back({id, living.job.line, living.job.run_at, living.state, to});
  }
  for (const Expired& each : expired) {
    if (each.to != State::kDead) {
      Return(each.id, true);
      continue;
    }
    Living& living = living_.at(each.id);
    ++living.job.crashes;
    End(each.id, {.state = State::kDead,
                  .session = living.session,
                  .error = fmt::format("took its worker down {} times", living.job.crashes)});
  }
  return expired;
}

Result<std::vector<HeldJob>> MemoryStore::Claim(std::span<const LineDemand> demands, int most,
                                                Lease before, SessionId session) {
  std::vector<HeldJob> claimed;
  if (!sessions_.contains(session)) return claimed;
  for (const LineDemand& demand : demands) {
    auto at = ready_.upper_bound({demand.line, demand.after_run_at, demand.after_id});
    for (int left = demand.most; left > 0 && most > 0 && at != ready_.end() &&
                                 std::get<Line>(*at) == demand.line; --left, --most) {
      Living& living = living_.at(std::get<JobId>(*at++));
      Hold(living, State::kBuffered, ++before, session);
      claimed.push_back(living.job);
    }
  }
  return claimed;
}

Result<std::optional<HeldJob>> MemoryStore::Take(std::span<const int32_t> tag_ids,
                                                 const Line& last, Lease lease,
                                                 SessionId session) {
  if (!sessions_.contains(session)) return std::optional<HeldJob>();
  const Place* best = nullptr;
  const auto turn = [&](const Line& line) {
    return std::tuple(line.rank, line.rank == last.rank && line.tenant_id <= last.tenant_id,
                      line.tenant_id);
  };
  for (const Place& place : ready_) {
    const Line& line = std::get<Line>(place);
    if (std::find(tag_ids.begin(), tag_ids.end(), line.tag_id) == tag_ids.end()) continue;
    if (best == nullptr || turn(line) < turn(std::get<Line>(*best))) best = &place;
  }
  if (best == nullptr) return std::optional<HeldJob>();
  Living& living = living_.at(std::get<JobId>(*best));
  Hold(living, State::kRunning, lease, session);
  ++living.job.attempt;
  return std::optional(living.job);
}

Result<std::vector<Line>> MemoryStore::FindLines(std::span<const LineGap> gaps) {
  std::vector<Line> lines;
  for (const LineGap& gap : gaps) {
    const auto at = std::find_if(ready_.begin(), ready_.end(), [&](const Place& place) {
      const Line& line = std::get<Line>(place);
      return gap.after < line && line < gap.before;
    });
    if (at != ready_.end()) lines.push_back(std::get<Line>(*at));
  }
  return lines;
}

Result<std::vector<JobId>> MemoryStore::Start(std::span<const HandOver> handed) {
  std::vector<JobId> started;
  for (const HandOver& each : handed) {
    Living* const living = FindHeld(each);
    if (living == nullptr || living->state != State::kBuffered) continue;
    if (!sessions_.contains(each.worker)) continue;
    Hold(*living, State::kRunning, each.lease, each.worker);
    ++living->job.attempt;
    started.push_back(each.id);
  }
  return started;
}

Result<std::vector<JobId>> MemoryStore::Complete(std::span<const Outcome> outcomes) {
  std::vector<JobId> done;
  for (const Outcome& outcome : outcomes) {
    Living* const living = FindHeld(outcome.held);
    if (living == nullptr) continue;
    const bool started = living->state == State::kRunning;
    if (!started) ++living->job.attempt;
    End(outcome.held.id, {.state = State::kDone,
                          .session = started ? living->session : outcome.held.worker,
                          .result = outcome.result});
    done.push_back(outcome.held.id);
  }
  return done;
}

Result<std::vector<Moved>> MemoryStore::FailJobs(std::span<const Outcome> outcomes) {
  constexpr double kMostMillis = 86'400'000;
  std::vector<Moved> moved;
  for (const Outcome& outcome : outcomes) {
    Living* const living = FindHeld(outcome.held);
    if (living == nullptr) continue;
    const bool started = living->state == State::kRunning;
    if (!started) ++living->job.attempt;
    const int attempt = living->job.attempt;
    if (outcome.may_retry && !living->cancelled && attempt < living->spec.max_attempts) {
      const double backoff =
          std::min(kMostMillis, living->spec.backoff_millis * std::exp2(attempt - 1));
      Enter(*living, State::kScheduled);
      living->job.run_at = Now() + static_cast<Moment>(backoff) * kMillis;
      moved.push_back({outcome.held.id, State::kScheduled});
      continue;
    }
    const State to = living->cancelled ? State::kCancelled : State::kFailed;
    End(outcome.held.id, {.state = to,
                          .session = started ? living->session : outcome.held.worker,
                          .error = outcome.error});
    moved.push_back({outcome.held.id, to});
  }
  return moved;
}

Result<std::vector<JobId>> MemoryStore::GiveBack(std::span<const HandOver> held) {
  std::vector<JobId> back;
  for (const HandOver& each : held) {
    if (FindHeld(each) == nullptr) continue;
    Return(each.id, false);
    back.push_back(each.id);
  }
  return back;
}

// Into its line, and the earliest of each line into `lines`.
void MemoryStore::EnterLine(Living& living, std::map<Line, Moment>& lines) {
  Enter(living, State::kReady);
  Moment& first = lines.try_emplace(living.job.line, living.job.run_at).first->second;
  first = std::min(first, living.job.run_at);
}

Result<std::vector<AuditedJob>> MemoryStore::Audit(std::span<const SessionId> workers,
                                                   std::span<const Lease> known) {
  const auto has = [](const auto& list, auto value) {
    return std::find(list.begin(), list.end(), value) != list.end();
  };
  std::vector<AuditedJob> jobs;
  for (const auto& [id, living] : living_) {
    if (living.state != State::kRunning || !has(workers, living.session)) continue;
    jobs.push_back({id, living.job.lease, living.job.line, living.job.run_at, living.session,
                    has(known, living.job.lease), living.cancelled});
  }
  for (const AuditedJob& job : jobs) {
    if (!job.known) Return(job.id, false);
  }
  return jobs;
}

Result<std::vector<PromotedLine>> MemoryStore::GiveBackUnknown(SessionId session, Lease last,
                                                               std::span<const Lease> known) {
  std::map<Line, Moment> lines;
  for (auto& [id, living] : living_) {
    const bool unknown = living.state == State::kBuffered && living.session == session &&
                         living.job.lease <= last &&
                         std::find(known.begin(), known.end(), living.job.lease) == known.end();
    if (unknown) EnterLine(living, lines);
  }
  return Promoted(lines);
}

Result<std::vector<PromotedLine>> MemoryStore::Promote(int most) {
  std::map<Line, Moment> lines;
  for (auto& [id, living] : living_) {
    if (most == 0) break;
    if (living.state != State::kScheduled || living.job.run_at > Now()) continue;
    EnterLine(living, lines);
    --most;
  }
  return Promoted(lines);
}

Result<std::optional<State>> MemoryStore::Cancel(const JobId& id) {
  const auto found = living_.find(id);
  if (found == living_.end()) return std::optional<State>();
  if (found->second.state == State::kRunning) {
    found->second.cancelled = true;
    return std::optional(State::kRunning);
  }
  End(id, {.state = State::kCancelled, .session = found->second.session});
  return std::optional(State::kCancelled);
}

Result<std::optional<JobRecord>> MemoryStore::Find(const JobId& id) {
  const auto ended = ended_.find(id);
  if (ended != ended_.end()) return std::optional(ended->second);
  const auto living = living_.find(id);
  if (living == living_.end()) return std::optional<JobRecord>();
  return std::optional(JobRecord{.state = living->second.state,
                                 .attempt = living->second.job.attempt,
                                 .crashes = living->second.job.crashes,
                                 .session = living->second.session});
}

}  // namespace weir::queue
