#include "weir/queue/server_core.h"

#include <algorithm>

#include "weir/base/assert.h"

namespace weir::queue {
namespace {

// A worker is asked about what it was handed only when the answer had time to reach it.
constexpr sys::Duration kHandOverTakes = std::chrono::seconds(5);
// After an error of the store, for it to recover.
constexpr sys::Duration kAfterError = std::chrono::milliseconds(200);
// A claim whose link is lost may take effect for as long as this.
constexpr sys::Duration kClaimLingers = std::chrono::seconds(60);
constexpr size_t kMostInFlush = 1000;
constexpr sys::Duration kNever = sys::Duration::max();

template <typename T>
std::vector<T> TakeFront(std::vector<T>& from, size_t most) {
  const auto count = static_cast<ptrdiff_t>(std::min(most, from.size()));
  std::vector<T> front(std::make_move_iterator(from.begin()),
                       std::make_move_iterator(from.begin() + count));
  from.erase(from.begin(), from.begin() + count);
  return front;
}

}  // namespace

// ---- Pulls.

size_t ServerCore::TagSetOf(const std::vector<int32_t>& tag_ids) {
  std::vector<int32_t> tags(tag_ids);
  std::sort(tags.begin(), tags.end());
  tags.erase(std::unique(tags.begin(), tags.end()), tags.end());
  const auto [found, added] = set_of_tags_.try_emplace(tags, sets_.size());
  if (added) sets_.emplace_back(tags);
  return found->second;
}

void ServerCore::Pull(const PullRequest& pull, sys::Duration now) {
  if (gone_.contains(pull.worker)) {
    commands_.emplace_back(GoneReply{pull.request});
    return;
  }
  const Worker& worker = Seen(pull.worker, now);
  if (pull.pull_id != 0 && pull.pull_id == worker.last_pull) {
    ++counters_.repeated_pulls;
    commands_.emplace_back(PullReply{pull.request, worker.last_jobs});
    return;
  }
  const size_t at = TagSetOf(pull.tag_ids);
  TagSet& set = sets_[at];
  std::erase_if(set.pulls, [&](const PullRequest& other) { return other.worker == pull.worker; });
  if (set.pulls.empty()) set.claim_at = now + options_.gather_most;
  set.pulls.push_back(pull);
  set.pulls.back().patience += now;  // From here on: until when.
  if (Demand(set) >= pull.all_slots) set.claim_at = now;
  HandOut(set, now);
}

ServerCore::Worker& ServerCore::Seen(SessionId worker, sys::Duration now) {
  Worker& seen = workers_[worker];
  seen.seen = now;
  seen.renewed = false;
  return seen;
}

void ServerCore::Forget(RequestId request) {
  for (TagSet& set : sets_) {
    std::erase_if(set.pulls, [&](const PullRequest& pull) { return pull.request == request; });
  }
}

int ServerCore::Demand(const TagSet& set) const {
  int slots = 0;
  for (const PullRequest& pull : set.pulls) slots += pull.slots;
  return std::max(0, slots - static_cast<int>(set.buffered.size()));
}

void ServerCore::HandOut(TagSet& set, sys::Duration now) {
  while (!set.pulls.empty() && !set.buffered.empty()) {
    const PullRequest pull = set.pulls.front();
    set.pulls.pop_front();
    Give(pull, set, now);
  }
}

void ServerCore::Give(const PullRequest& pull, TagSet& set, sys::Duration now) {
  Worker& worker = workers_[pull.worker];
  worker.last_pull = pull.pull_id;
  worker.last_jobs.clear();
  while (static_cast<int>(worker.last_jobs.size()) < pull.slots && !set.buffered.empty()) {
    HeldJob job = std::move(set.buffered.front());
    set.buffered.pop_front();
    ++job.attempt;
    Handed& handed = handed_[job.lease];
    handed.over = {job.id, job.lease, pull.worker, 0};
    handed.line = job.line;
    handed.run_at = job.run_at;
    handed.at = now;
    starts_.emplace(now + options_.start_delay, job.lease);
    worker.last_jobs.push_back(std::move(job));
  }
  counters_.jobs_handed += std::ssize(worker.last_jobs);
  commands_.emplace_back(PullReply{pull.request, worker.last_jobs});
}

void ServerCore::EndPulls(TagSet& set, sys::Duration now) {
  std::erase_if(set.pulls, [&](const PullRequest& pull) {
    if (pull.patience > now && !draining_) return false;
    commands_.emplace_back(PullReply{pull.request, {}});
    return true;
  });
}

// ---- Claims.

void ServerCore::ClaimOrFind(size_t at, sys::Duration now) {
  TagSet& set = sets_[at];
  EndPulls(set, now);
  for (const PullRequest& pull : set.pulls) LookAgainAt(pull.patience);
  const int demand = draining_ ? 0 : Demand(set);
  if (demand == 0 || set.claiming || set.finding) return;
  if (now < set.claim_at) return LookAgainAt(set.claim_at);
  if (now >= set.sweep_at) {
    set.lines.Sweep();
    set.sweep_at = now + options_.sweep;
  }
  if (std::exchange(set.is_dry, false)) set.lines.Doubt();
  std::vector<LineDemand> demands = set.lines.Demands(demand);
  if (demands.empty()) {
    set.finding = true;
    commands_.emplace_back(FindLinesCommand{at, set.lines.Gaps()});
    return;
  }
  set.claiming = true;
  ++counters_.claims;
  commands_.emplace_back(
      ClaimCommand{at, std::move(demands), demand, (session_ << 32) + drawn_});
  drawn_ += demand;
}

void ServerCore::Claimed(const ClaimCommand& command, Result<std::vector<HeldJob>> jobs,
                         sys::Duration now) {
  TagSet& set = sets_[command.tag_set];
  set.claiming = false;
  if (!jobs.ok()) {
    set.claim_at = now + kAfterError;
    last_lost_ = command.before + command.most;
    lost_until_ = now + kClaimLingers;
    return;
  }
  if (jobs.value().empty()) ++counters_.empty_claims;
  counters_.jobs_claimed += std::ssize(jobs.value());
  set.lines.Note(command.demands, command.most, jobs.value());
  for (HeldJob& job : jobs.value()) set.buffered.push_back(std::move(job));
  HandOut(set, now);
  if (draining_) Drain(now);
}

void ServerCore::FoundLines(const FindLinesCommand& command, Result<std::vector<Line>> lines,
                            sys::Duration now) {
  TagSet& set = sets_[command.tag_set];
  set.finding = false;
  if (!lines.ok()) {
    set.claim_at = now + kAfterError;
    return;
  }
  for (const Line& line : lines.value()) set.lines.Add(line);
  if (!lines.value().empty()) return;
  set.is_dry = true;
  set.claim_at = now + options_.poll;
}

void ServerCore::Wake(int32_t tag_id, sys::Duration now) {
  for (TagSet& set : sets_) {
    const auto& tags = set.lines.tag_ids();
    if (!std::binary_search(tags.begin(), tags.end(), tag_id)) continue;
    set.is_dry = true;  // As far as is known: all is looked at again.
    set.claim_at = std::min(set.claim_at, now);
  }
}

// ---- Reports.

void ServerCore::Report(ReportRequest report, sys::Duration now) {
  const Worker& worker = Seen(report.worker, now);
  if (IsRepeated(report, worker)) return;
  Waiting waiting{report.request, report.worker, report.report_id, {},
                  std::vector<bool>(report.outcomes.size())};
  for (size_t at = 0; at < report.outcomes.size(); ++at) {
    Outcome& outcome = report.outcomes[at];
    const Lease lease = outcome.held.lease;
    waiting.places.emplace(lease, at);
    const auto handed = handed_.find(lease);
    if (handed != handed_.end()) {
      handed->second.settled = true;
      outcome.held.ran_millis = sys::Millis(now - handed->second.at);
    }
    outcome.held.worker = report.worker;
    auto& list = outcome.error.empty() ? pending_.completions : pending_.failures;
    list.push_back(std::move(outcome));
  }
  if (waiting.places.empty()) {
    commands_.emplace_back(ReportReply{report.request, {}});
  } else {
    waiting_.push_back(std::move(waiting));
  }
}

// One that was answered is answered again; one that waits is answered where it came from last.
bool ServerCore::IsRepeated(const ReportRequest& report, const Worker& worker) {
  if (report.report_id == 0) return false;
  if (report.report_id == worker.last_report) {
    commands_.emplace_back(ReportReply{report.request, worker.last_taken});
    return true;
  }
  const auto first = std::find_if(waiting_.begin(), waiting_.end(), [&](const Waiting& each) {
    return each.worker == report.worker && each.report_id == report.report_id;
  });
  if (first == waiting_.end()) return false;
  first->request = report.request;
  return true;
}

std::optional<std::vector<Lease>> ServerCore::Heartbeat(SessionId session,
                                                        std::span<const Lease> held,
                                                        sys::Duration now) {
  if (gone_.contains(session)) return std::nullopt;
  Worker& worker = Seen(session, now);
  worker.held = {held.begin(), held.end()};
  for (auto& [lease, handed] : handed_) {
    if (handed.over.worker != session || handed.settled || worker.held.contains(lease)) continue;
    if (now - handed.at < kHandOverTakes) continue;
    handed.settled = true;
    pending_.returns.push_back(handed.over);
  }
  std::erase_if(worker.lost, [&](Lease lease) { return !worker.held.contains(lease); });
  return std::vector<Lease>(worker.lost.begin(), worker.lost.end());
}

// ---- Flushes.

// Starts of jobs that have ended meanwhile are never written.
void ServerCore::CollectStarts(sys::Duration now) {
  while (!starts_.empty() && (draining_ || starts_.begin()->first <= now)) {
    const auto handed = handed_.find(starts_.begin()->second);
    starts_.erase(starts_.begin());
    if (handed == handed_.end() || handed->second.settled) continue;
    HandOver start = handed->second.over;
    start.ran_millis = sys::Millis(now - handed->second.at);
    pending_.starts.push_back(start);
  }
  if (!starts_.empty()) LookAgainAt(starts_.begin()->first);
}

void ServerCore::FlushIfDue(sys::Duration now) {
  CollectStarts(now);
  if (flushing_ || pending_.empty()) return;
  if (now < flush_at_) return LookAgainAt(flush_at_);
  FlushBatch flush;
  flush.starts = TakeFront(pending_.starts, kMostInFlush);
  flush.completions = TakeFront(pending_.completions, kMostInFlush);
  flush.failures = TakeFront(pending_.failures, kMostInFlush);
  flush.returns = TakeFront(pending_.returns, kMostInFlush);
  flushing_ = true;
  ++counters_.flushes;
  commands_.emplace_back(FlushCommand{std::move(flush)});
}

void ServerCore::Flushed(const FlushCommand& command, Result<FlushResult> result,
                         sys::Duration now) {
  flushing_ = false;
  const FlushBatch& batch = command.batch;
  if (!result.ok()) {  // It may have happened all the same: then the second time finds it stale.
    const auto again = [](auto& to, const auto& from) {
      to.insert(to.begin(), from.begin(), from.end());
    };
    again(pending_.starts, batch.starts);
    again(pending_.completions, batch.completions);
    again(pending_.failures, batch.failures);
    again(pending_.returns, batch.returns);
    flush_at_ = now + kAfterError;
    return;
  }
  const FlushResult& done = result.value();
  const std::set<JobId> completed(done.completed.begin(), done.completed.end());
  std::set<JobId> failed;
  for (const Moved& moved : done.failed) failed.insert(moved.id);
  for (const Outcome& each : batch.completions) {
    Settle(each.held.lease, completed.contains(each.held.id));
  }
  for (const Outcome& each : batch.failures) {
    Settle(each.held.lease, failed.contains(each.held.id));
  }
  const std::set<JobId> started(done.started.begin(), done.started.end());
  for (const HandOver& each : batch.starts) {
    const auto handed = handed_.find(each.lease);
    if (started.contains(each.id) || handed == handed_.end() || handed->second.settled) continue;
    handed->second.settled = true;  // Its worker has ended.
    pending_.returns.push_back(each);
  }
  for (const HandOver& each : batch.returns) {
    const auto handed = handed_.find(each.lease);
    if (handed == handed_.end()) continue;
    Lower(handed->second.line, handed->second.run_at);
    handed_.erase(handed);
  }
  counters_.completions += std::ssize(completed);
  counters_.failures += std::ssize(failed);
  counters_.given_back += std::ssize(done.returned);
}

// The outcome that came with `lease` is in the store, or was refused there.
void ServerCore::Settle(Lease lease, bool taken) {
  if (!taken) ++counters_.stale_writes;
  handed_.erase(lease);
  for (auto at = waiting_.begin(); at != waiting_.end(); ++at) {
    const auto place = at->places.find(lease);
    if (place == at->places.end()) continue;
    at->taken[place->second] = taken;
    at->places.erase(place);
    if (!at->places.empty()) return;
    Worker& worker = workers_[at->worker];
    worker.last_report = at->report_id;
    worker.last_taken = at->taken;
    commands_.emplace_back(ReportReply{at->request, at->taken});
    waiting_.erase(at);
    return;
  }
}

void ServerCore::Lower(const Line& line, Moment run_at) {
  for (TagSet& set : sets_) {
    const auto& tags = set.lines.tag_ids();
    if (!std::binary_search(tags.begin(), tags.end(), line.tag_id)) continue;
    set.lines.Lower(line, run_at);
    set.claim_at = {};
  }
}

// ---- Upkeep.

void ServerCore::KeepIfDue(sys::Duration now) {
  if (keeping_) return;
  if (now < keep_at_) return LookAgainAt(keep_at_);
  keep_at_ = now + options_.server_lease / 3;
  KeepCommand keep;
  keep.renewals.push_back({session_, sys::Millis(options_.server_lease)});
  for (auto& [session, worker] : workers_) {
    const sys::Duration left = options_.worker_lease - (now - worker.seen);
    if (std::exchange(worker.renewed, true) || left <= sys::Duration{0}) continue;
    keep.renewals.push_back({session, sys::Millis(left)});
  }
  AddAudits(keep, now);
  if (now < lost_until_) {
    keep.last_lost = last_lost_;
    for (const auto& [lease, handed] : handed_) keep.known.push_back(lease);
    for (const TagSet& set : sets_) {
      for (const HeldJob& job : set.buffered) keep.known.push_back(job.lease);
    }
    for (const HandOver& each : pending_.returns) keep.known.push_back(each.lease);
  }
  keeping_ = true;
  commands_.emplace_back(std::move(keep));
}

// Once a lease, and when it is new here: what a worker holds is compared with the store.
void ServerCore::AddAudits(KeepCommand& keep, sys::Duration now) {
  for (auto& [session, worker] : workers_) {
    if (now - worker.seen > options_.worker_lease || now < worker.audit_at) continue;
    worker.audit_at = now + options_.worker_lease;
    keep.audited.push_back(session);
    keep.known_of_audited.insert(keep.known_of_audited.end(), worker.held.begin(),
                                 worker.held.end());
  }
  if (keep.audited.empty()) return;
  for (const auto& [lease, handed] : handed_) keep.known_of_audited.push_back(lease);
}

// Sessions that were to be renewed and could not be.
void ServerCore::NoteEnded(const KeepCommand& command, const std::vector<SessionId>& renewed) {
  constexpr size_t kMostGone = 10'000;
  const std::set<SessionId> alive(renewed.begin(), renewed.end());
  for (const Renewal& renewal : command.renewals) {
    if (alive.contains(renewal.session)) continue;
    if (renewal.session == session_) {
      lost_ = true;
      commands_.emplace_back(LostCommand{});
      continue;
    }
    workers_.erase(renewal.session);
    gone_.insert(renewal.session);
    if (gone_.size() > kMostGone) gone_.erase(gone_.begin());
    for (TagSet& set : sets_) {
      std::erase_if(set.pulls, [&](const PullRequest& pull) {
        if (pull.worker != renewal.session) return false;
        commands_.emplace_back(GoneReply{pull.request});
        return true;
      });
    }
  }
}

void ServerCore::NoteAudits(const KeepCommand& command, const KeepResult& result) {
  std::map<SessionId, std::set<Lease>> running;
  for (const AuditedJob& job : result.audited) {
    if (!job.known) Lower(job.line, job.run_at);
    if (job.known && !job.cancelled) running[job.worker].insert(job.lease);
  }
  const std::set<Lease> asked(command.known_of_audited.begin(), command.known_of_audited.end());
  for (const SessionId session : command.audited) {
    const auto found = workers_.find(session);
    if (found == workers_.end()) continue;  // It has ended.
    Worker& worker = found->second;
    for (const Lease lease : worker.held) {
      const bool is_own = running[session].contains(lease) || handed_.contains(lease);
      if (!is_own && asked.contains(lease)) worker.lost.insert(lease);
    }
  }
}

void ServerCore::Kept(const KeepCommand& command, Result<KeepResult> result, sys::Duration now) {
  keeping_ = false;
  if (!result.ok()) {
    keep_at_ = now + kAfterError;
    return;
  }
  NoteEnded(command, result.value().renewed);
  NoteAudits(command, result.value());
  std::set<JobId> gone;
  for (const Expired& each : result.value().expired) {
    gone.insert(each.id);
    if (each.to == State::kReady) Lower(each.line, each.run_at);
  }
  std::erase_if(handed_, [&](const auto& each) { return gone.contains(each.second.over.id); });
  for (const PromotedLine& each : result.value().lines) Lower(each.line, each.run_at);
}

void ServerCore::Drain(sys::Duration now) {
  draining_ = true;
  for (TagSet& set : sets_) {
    EndPulls(set, now);
    for (const HeldJob& job : set.buffered) pending_.returns.push_back({job.id, job.lease, 0, 0});
    set.buffered.clear();
  }
}

bool ServerCore::idle() const {
  const bool sets = std::all_of(sets_.begin(), sets_.end(), [](const TagSet& set) {
    return set.buffered.empty() && set.pulls.empty() && !set.claiming && !set.finding;
  });
  return sets && starts_.empty() && pending_.empty() && !flushing_ && !keeping_ && waiting_.empty();
}

std::vector<Command> ServerCore::Commands(sys::Duration now) {
  next_ = kNever;
  if (!lost_) {
    for (size_t at = 0; at < sets_.size(); ++at) ClaimOrFind(at, now);
    FlushIfDue(now);
    KeepIfDue(now);
  }
  return std::exchange(commands_, {});
}

}  // namespace weir::queue
