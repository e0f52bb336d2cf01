#include "weir/serve/pull_worker.h"

#include "weir/base/log.h"
#include "weir/sys/process.h"
#include "weir/sys/thread.h"

namespace weir::serve {
namespace {

using std::chrono::milliseconds;

constexpr milliseconds kDeadline{10'000};  // Of what the server answers at once.
constexpr int kGone = 410;                 // Status: the session has ended.

}  // namespace

Result<std::string> PullWorker::Send(net::Client& client, const char* target, std::string body,
                                     milliseconds deadline) {
  net::ClientRequest request;
  request.method = net::Method::kPost;
  request.target = target;
  request.body = std::move(body);
  request.deadline = deadline;
  WEIR_TRY(net::ClientResponse response, client.Send(request, ending_));
  if (response.status == 200) return std::move(response.body);
  const Code code = response.status == kGone  ? Code::kNotFound
                    : response.status >= 500 ? Code::kUnavailable
                                             : Code::kInvalid;
  return Fail(code, "the server answers {}: {}", response.status, response.body);
}

Result<OpenedSession> PullWorker::Open(const sys::Stop& stop) {
  WEIR_TRY(const auto client, net::Client::Create(options_.server));
  sys::RealClock clock;
  sys::Duration wait = options_.core.retry;
  while (true) {
    auto body = Send(*client, "/api/v1/sessions",
                     Format(OpenSession{options_.name, options_.tags, options_.core.slots}),
                     kDeadline);
    if (body.ok()) return ParseOpenedSession(body.value());
    if (body.error().code != Code::kUnavailable) return std::move(body).error();
    LogWarn("{}; trying again", body.error().message);
    clock.Wait(wait, stop);
    WEIR_DO(stop.Check());
    wait = std::min(2 * wait, options_.core.retry_most);
  }
}

// ---- The threads.

Status PullWorker::Start() {
  for (Line* line : {&pulls_, &others_}) {
    WEIR_TRY(line->client, net::Client::Create(options_.server));
    WEIR_TRY(line->thread, sys::StartThread([this, line] { RunLine(*line); }));
  }
  for (int slot = 0; slot < options_.core.slots; ++slot) {
    WEIR_TRY(auto runner, sys::StartThread([this] { RunJobs(); }));
    runners_.push_back(std::move(runner));
  }
  return Ok();
}

void PullWorker::End() {
  ending_.Ask();
  for (Line* line : {&pulls_, &others_}) {
    line->calls.Post([](net::Client&) {});
    if (line->thread.joinable()) line->thread.join();
  }
  for (const auto& [lease, stop] : stops_) stop->Ask();
  {
    const std::lock_guard lock(mutex_);
    queue_.clear();
  }
  work_.notify_all();
  for (std::thread& runner : runners_) runner.join();
  runners_.clear();
}

void PullWorker::RunLine(Line& line) {
  while (!ending_.asked()) {
    for (const auto& call : line.calls.Take(sys::Duration::max())) {
      if (ending_.asked()) return;
      call(*line.client);
    }
  }
}

void PullWorker::RunJobs() {
  while (true) {
    Running running;
    {
      std::unique_lock lock(mutex_);
      work_.wait(lock, [&] { return !queue_.empty() || ending_.asked(); });
      if (ending_.asked()) return;
      running = std::move(queue_.front());
      queue_.pop_front();
    }
    letters_.Post([this, outcome = Do(running)](queue::WorkerCore& core, sys::Duration) {
      stops_.erase(outcome.held.lease);
      core.Finished(outcome);
    });
  }
}

queue::Outcome PullWorker::Do(const Running& running) {
  queue::Outcome outcome;
  outcome.held.id = running.job.id;
  outcome.held.lease = running.job.lease;
  const auto handler = options_.handlers.find(running.job.kind);
  if (handler == options_.handlers.end()) {
    outcome.error = fmt::format("this worker does not know kind '{}'", running.job.kind);
    return outcome;
  }
  const sys::Duration start = sys::ThreadCpuTime();
  auto result = handler->second(running.job, *running.stop);
  outcome.cpu_micros = (sys::ThreadCpuTime() - start).count() / 1000;
  if (result.ok()) {
    outcome.result = std::move(result).value();
  } else {
    outcome.error = result.error().message;
    outcome.may_retry = result.error().code != Code::kInvalid;
  }
  return outcome;
}

// ---- The core's thread.

Status PullWorker::Run(const sys::Stop& stop, sys::Duration grace) {
  WEIR_TRY(session_, Open(stop));
  queue::WorkerOptions core_options = options_.core;
  core_options.lease = milliseconds(session_.lease_millis);
  auto core = std::make_unique<queue::WorkerCore>(core_options, session_.session,
                                                  sys::SteadyNow());
  Status started = Start();
  sys::Duration end = sys::Duration::max();
  while (started.ok()) {
    const sys::Duration now = sys::SteadyNow();
    if (stop.asked() && end == sys::Duration::max()) {
      core->Drain();
      end = now + grace;
    }
    if (end != sys::Duration::max() && (core->idle() || now >= end)) break;
    for (queue::WorkerCommand& command : core->Commands(now)) {
      std::visit([&](auto& one) { Execute(one); }, command);
    }
    constexpr sys::Duration kLook = milliseconds(50);  // At whether to stop.
    for (const Letter& letter : letters_.Take(std::min(core->next(), now + kLook))) {
      letter(*core, sys::SteadyNow());
    }
    if (!gone_) continue;
    gone_ = false;
    for (const auto& [lease, job_stop] : stops_) job_stop->Ask();
    stops_.clear();
    auto opened = Open(stop);
    if (!opened.ok()) {
      started = std::move(opened).error();
      break;
    }
    session_ = std::move(opened).value();
    core = std::make_unique<queue::WorkerCore>(core_options, session_.session, sys::SteadyNow());
  }
  if (started.ok()) started = Leave();
  End();
  return started;
}

// What is not done goes back now, and not when the lease ends.
Status PullWorker::Leave() {
  WEIR_TRY(const auto client, net::Client::Create(options_.server));
  net::ClientRequest request;
  request.method = net::Method::kDelete;
  request.target = fmt::format("/api/v1/sessions/{}", session_.session);
  request.deadline = kDeadline;
  const sys::Stop never;
  const auto response = client->Send(request, never);
  if (!response.ok()) LogWarn("{}; what runs comes back in its lease", response.error().message);
  return Ok();
}

// What was asked for an earlier session is nobody's.
void PullWorker::Answer(queue::SessionId session, Letter letter) {
  letters_.Post([this, session, letter = std::move(letter)](queue::WorkerCore& core,
                                                            sys::Duration now) {
    if (session == session_.session) letter(core, now);
  });
}

void PullWorker::Execute(queue::SendPull& pull) {
  const PullBody body{session_.session, session_.tag_ids,   pull.id, pull.slots,
                      options_.core.slots, sys::Millis(options_.core.patience)};
  const auto deadline =
      std::chrono::duration_cast<milliseconds>(options_.core.patience) + kDeadline;
  pulls_.calls.Post([this, body, deadline](net::Client& client) {
    const auto answer = Send(client, "/api/v1/pull", Format(body), deadline);
    auto jobs = answer.ok() ? ParseJobs(answer.value())
                            : Result<std::vector<queue::HeldJob>>(answer.error());
    Answer(body.session, [this, jobs = std::move(jobs)](queue::WorkerCore& core,
                                                        sys::Duration now) {
      if (jobs.ok()) return core.Pulled(jobs.value(), now);
      Note(jobs.error());
      core.PullFailed(now);
    });
  });
}

void PullWorker::Execute(queue::SendReport& report) {
  const ReportBody body{session_.session, report.id, report.outcomes};
  others_.calls.Post([this, body](net::Client& client) {
    const auto answer = Send(client, "/api/v1/report", Format(body), kDeadline);
    auto taken = answer.ok() ? ParseTaken(answer.value())
                             : Result<std::vector<bool>>(answer.error());
    Answer(body.session, [this, taken = std::move(taken), count = body.outcomes.size()](
                             queue::WorkerCore& core, sys::Duration now) {
      if (taken.ok()) {
        jobs_done_ += static_cast<int64_t>(count);
        return core.Reported(taken.value(), now);
      }
      Note(taken.error());
      core.ReportFailed(now);
    });
  });
}

void PullWorker::Execute(queue::SendHeartbeat& heartbeat) {
  const HeartbeatBody body{session_.session, heartbeat.held};
  others_.calls.Post([this, body](net::Client& client) {
    const auto answer = Send(client, "/api/v1/heartbeat", Format(body), kDeadline);
    auto stop = answer.ok() ? ParseLeases(answer.value())
                            : Result<std::vector<queue::Lease>>(answer.error());
    Answer(body.session, [this, stop = std::move(stop)](queue::WorkerCore& core,
                                                        sys::Duration now) {
      if (stop.ok()) return core.HeartbeatAnswered(stop.value(), now);
      Note(stop.error());
      core.HeartbeatFailed(now);
    });
  });
}

void PullWorker::Execute(queue::RunJob& run) {
  Running running{std::move(run.job), std::make_shared<sys::Stop>()};
  stops_[running.job.lease] = running.stop;
  {
    const std::lock_guard lock(mutex_);
    queue_.push_back(std::move(running));
  }
  work_.notify_one();
}

void PullWorker::Execute(queue::StopJob& stop) {
  const auto found = stops_.find(stop.lease);
  if (found != stops_.end()) found->second->Ask();
}

void PullWorker::Note(const Error& error) {
  if (error.code == Code::kNotFound) gone_ = true;
  if (error.code != Code::kCancelled) LogWarn("{}", error.message);
}

}  // namespace weir::serve
