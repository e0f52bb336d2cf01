#include "weir/queue/worker_core.h"

#include <algorithm>

namespace weir::queue {

void WorkerCore::Failed(Call& call, sys::Duration now) {
  call.sent = false;
  call.repeated = true;
  call.retry = std::clamp(2 * call.retry, options_.retry, options_.retry_most);
  call.at = now + call.retry;
}

void WorkerCore::Answered(Call& call, sys::Duration now) {
  call.sent = false;
  call.repeated = false;
  call.retry = {};
  call.at = now;
  heard_ = now;
}

bool WorkerCore::IsDue(const Call& call, sys::Duration now) {
  if (call.sent) return false;
  if (now >= call.at) return true;
  next_ = std::min(next_, call.at);
  return false;
}

void WorkerCore::Pulled(std::vector<HeldJob> jobs, sys::Duration now) {
  Answered(pull_, now);
  for (HeldJob& job : jobs) {
    if (!running_.try_emplace(job.lease, job).second) continue;  // Of a repeated answer.
    commands_.emplace_back(RunJob{std::move(job)});
  }
}

void WorkerCore::PullFailed(sys::Duration now) { Failed(pull_, now); }

void WorkerCore::Reported(const std::vector<bool>& taken, sys::Duration now) {
  Answered(report_call_, now);
  lost_ += std::count(taken.begin(), taken.end(), false);
  report_.outcomes.clear();
}

void WorkerCore::ReportFailed(sys::Duration now) { Failed(report_call_, now); }

void WorkerCore::HeartbeatAnswered(std::span<const Lease> to_stop, sys::Duration now) {
  Answered(heartbeat_, now);
  heartbeat_.at = now + options_.heartbeat;
  for (const Lease lease : to_stop) {
    if (running_.contains(lease)) commands_.emplace_back(StopJob{lease});
  }
}

void WorkerCore::HeartbeatFailed(sys::Duration now) { Failed(heartbeat_, now); }

void WorkerCore::Finished(Outcome outcome) {
  if (running_.erase(outcome.held.lease) == 0) return;
  outcome.held.worker = session_;
  ended_.push_back(std::move(outcome));
}

void WorkerCore::StopAll() {
  for (const auto& [lease, job] : running_) commands_.emplace_back(StopJob{lease});
}

void WorkerCore::PullIfDue(sys::Duration now) {
  const int free = options_.slots - static_cast<int>(running_.size());
  if (!IsDue(pull_, now)) return;
  if (!pull_.repeated) {
    if (free == 0 || draining_) return;
    ++pull_.id;
    pulled_slots_ = free;
  }
  pull_.sent = true;
  commands_.emplace_back(SendPull{pull_.id, pulled_slots_});
}

void WorkerCore::ReportIfDue(sys::Duration now) {
  if (!IsDue(report_call_, now)) return;
  if (report_.outcomes.empty()) {
    if (ended_.empty()) return;
    report_ = {++report_call_.id, std::exchange(ended_, {})};
  }
  report_call_.sent = true;
  commands_.emplace_back(report_);
}

std::vector<WorkerCommand> WorkerCore::Commands(sys::Duration now) {
  next_ = heard_ + options_.lease;
  if (now >= next_) {
    StopAll();
    heard_ = now;  // Once per lease.
  }
  if (IsDue(heartbeat_, now)) {
    SendHeartbeat heartbeat;
    for (const auto& [lease, job] : running_) heartbeat.held.push_back(lease);
    heartbeat_.sent = true;
    commands_.emplace_back(std::move(heartbeat));
  }
  ReportIfDue(now);
  PullIfDue(now);
  return std::exchange(commands_, {});
}

}  // namespace weir::queue
