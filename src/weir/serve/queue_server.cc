#include "weir/serve/queue_server.h"

#include <charconv>
#include <future>

#include "weir/base/log.h"
#include "weir/queue/pg_store.h"
#include "weir/sys/thread.h"

namespace weir::serve {
namespace {

using queue::JobStore;
using std::chrono::milliseconds;

constexpr int kMostPromoted = 1000;

net::Response Ok200(std::string body) { return {.status = 200, .body = std::move(body)}; }

net::Response FailureResponse(const Error& error) {
  switch (error.code) {
    case Code::kInvalid:
    case Code::kUsage: return net::ErrorResponse(400, error.message);
    case Code::kNotFound: return net::ErrorResponse(404, error.message);
    default: return net::ErrorResponse(503, error.message);
  }
}

net::Response SessionEnded() {
  return net::ErrorResponse(410, "this worker's session has ended; open another");
}

// Kept where std::function has to copy it; answered once.
using SharedResponder = std::shared_ptr<net::Responder>;
SharedResponder Share(net::Responder responder) {
  return std::make_shared<net::Responder>(std::move(responder));
}

}  // namespace

// What the core's own thread has.
struct QueueServer::Core {
  std::unique_ptr<queue::ServerCore> core;
  queue::SessionId session = 0;
  std::map<queue::RequestId, SharedResponder> waiting;
  queue::RequestId last_request = 0;
  std::shared_ptr<std::promise<queue::SessionId>> drained;  // Told once, when all is done.
};

QueueServer::QueueServer(QueueServerOptions options) : options_(std::move(options)) {}

Result<std::unique_ptr<QueueServer>> QueueServer::Start(QueueServerOptions options,
                                                        sys::Clock& clock) {
  std::unique_ptr<QueueServer> server(new QueueServer(std::move(options)));
  WEIR_DO(server->Open(clock));
  return server;
}

Result<queue::SessionId> QueueServer::OpenOwnSession() {
  sys::Stop stop;
  WEIR_TRY(const auto store, queue::PgStore::Open(options_.target, options_.name, stop));
  return store->OpenSession({queue::Role::kServer, options_.name, {}, 0,
                             sys::Millis(options_.core.server_lease)});
}

Status QueueServer::Open(sys::Clock& clock) {
  WEIR_TRY(const queue::SessionId session, OpenOwnSession());
  WEIR_TRY(claims_, StoreThread::Start(options_.target, options_.name + " claims"));
  WEIR_TRY(flushes_, StoreThread::Start(options_.target, options_.name + " flushes"));
  WEIR_TRY(upkeep_, StoreThread::Start(options_.target, options_.name + " upkeep"));
  WEIR_TRY(thread_, sys::StartThread([this, session] { Run(session); }));
  WEIR_TRY(http_, net::Server::Start(options_.http, MakeRoutes(), clock));
  return Ok();
}

QueueServer::~QueueServer() {
  http_.reset();
  ending_ = true;
  letters_.Post([](Core&, sys::Duration) {});
  if (thread_.joinable()) thread_.join();
}

void QueueServer::Drain(milliseconds patience) {
  const auto drained = std::make_shared<std::promise<queue::SessionId>>();
  letters_.Post([drained](Core& core, sys::Duration now) {
    core.core->Drain(now);
    core.drained = drained;
  });
  auto session = drained->get_future();
  const sys::Duration start = sys::SteadyNow();
  const bool idle = session.wait_for(patience) == std::future_status::ready;
  const sys::Duration left = std::max(patience - (sys::SteadyNow() - start), sys::Duration{0});
  http_->Stop(std::chrono::duration_cast<milliseconds>(left));
  if (!idle) return;  // Its lease will end.
  const auto closed = std::make_shared<std::promise<void>>();
  upkeep_->Post([session = session.get(), closed](const Result<JobStore*>& store) {
    if (store.ok()) (void)store.value()->CloseSession(session);  // Else its lease ends it.
    closed->set_value();
  });
  constexpr auto kGoodbye = std::chrono::seconds(5);
  closed->get_future().wait_for(kGoodbye);
}

queue::ServerCounters QueueServer::counters() {
  auto asked = std::make_shared<std::promise<queue::ServerCounters>>();
  auto answer = asked->get_future();
  letters_.Post([asked](Core& core, sys::Duration) { asked->set_value(core.core->counters()); });
  return answer.get();
}

// ---- HTTP.

net::Routes QueueServer::MakeRoutes() {
  net::Routes routes;
  const auto add = [&](const char* path,
                       void (QueueServer::*take)(const std::string&, net::Responder)) {
    routes.Add(net::Method::kPost, path, [this, take](net::Request request, net::Responder to) {
      (this->*take)(request.body, std::move(to));
    });
  };
  add("/api/v1/sessions", &QueueServer::OpenSessionOf);
  add("/api/v1/pull", &QueueServer::TakePull);
  add("/api/v1/report", &QueueServer::TakeReport);
  add("/api/v1/heartbeat", &QueueServer::TakeHeartbeat);
  routes.Add(net::Method::kDelete, "/api/v1/sessions/{id}",
             [this](net::Request request, net::Responder to) {
               CloseSessionOf(request, std::move(to));
             });
  routes.Add(net::Method::kGet, "/healthz", [](net::Request, net::Responder responder) {
    responder.Send(Ok200("{\"status\": \"ok\"}"));
  });
  return routes;
}

void QueueServer::OpenSessionOf(const std::string& body, net::Responder responder) {
  auto parsed = ParseOpenSession(body);
  if (!parsed.ok()) return void(responder.Send(FailureResponse(parsed.error())));
  const int64_t lease_millis = sys::Millis(options_.core.worker_lease);
  upkeep_->Post([session = std::move(parsed).value(), lease_millis,
                 to = Share(std::move(responder))](const Result<JobStore*>& store) {
    const auto open = [&]() -> Result<OpenedSession> {
      if (!store.ok()) return store.error();
      OpenedSession opened;
      opened.lease_millis = lease_millis;
      for (const std::string& tag : session.tags) {
        WEIR_TRY(const int32_t id, store.value()->TagId(tag));
        opened.tag_ids.push_back(id);
      }
      WEIR_TRY(opened.session,
               store.value()->OpenSession({queue::Role::kWorker, session.name, session.tags,
                                           session.slots, lease_millis}));
      return opened;
    };
    const auto opened = open();
    to->Send(opened.ok() ? Ok200(Format(opened.value())) : FailureResponse(opened.error()));
  });
}

void QueueServer::CloseSessionOf(const net::Request& request, net::Responder responder) {
  queue::SessionId session = 0;
  const std::string& text = request.parameters[0];
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), session);
  if (error != std::errc() || end != text.data() + text.size()) {
    return void(responder.Send(net::ErrorResponse(400, "a session's id is a number")));
  }
  upkeep_->Post([session, to = Share(std::move(responder))](const Result<JobStore*>& store) {
    const Status closed = store.ok() ? store.value()->CloseSession(session) : store.error();
    to->Send(closed.ok() ? Ok200("{}") : FailureResponse(closed.error()));
  });
}

void QueueServer::TakePull(const std::string& body, net::Responder responder) {
  auto parsed = ParsePull(body);
  if (!parsed.ok()) return void(responder.Send(FailureResponse(parsed.error())));
  letters_.Post([this, pull = std::move(parsed).value(),
                 to = Share(std::move(responder))](Core& core, sys::Duration now) {
    const queue::RequestId request = ++core.last_request;
    core.waiting.emplace(request, to);
    to->OnGone([this, request] {
      letters_.Post([request](Core& later, sys::Duration) {
        later.core->Forget(request);
        later.waiting.erase(request);
      });
    });
    core.core->Pull({request, pull.session, pull.tag_ids, pull.pull_id, pull.slots,
                     pull.all_slots, milliseconds(pull.patience_millis)},
                    now);
  });
}

void QueueServer::TakeReport(const std::string& body, net::Responder responder) {
  auto parsed = ParseReport(body);
  if (!parsed.ok()) return void(responder.Send(FailureResponse(parsed.error())));
  letters_.Post([report = std::move(parsed).value(),
                 to = Share(std::move(responder))](Core& core, sys::Duration now) {
    const queue::RequestId request = ++core.last_request;
    core.waiting.emplace(request, to);
    core.core->Report({request, report.session, report.report_id, report.outcomes}, now);
  });
}

void QueueServer::TakeHeartbeat(const std::string& body, net::Responder responder) {
  auto parsed = ParseHeartbeat(body);
  if (!parsed.ok()) return void(responder.Send(FailureResponse(parsed.error())));
  letters_.Post([beat = std::move(parsed).value(),
                 to = Share(std::move(responder))](Core& core, sys::Duration now) {
    const auto stop = core.core->Heartbeat(beat.session, beat.held, now);
    to->Send(stop.has_value() ? Ok200(FormatLeases(*stop)) : SessionEnded());
  });
}

// ---- The core's thread.

void QueueServer::Run(queue::SessionId session) {
  Core core;
  core.session = session;
  core.core = std::make_unique<queue::ServerCore>(options_.core, session);
  while (!ending_) {
    const auto letters = letters_.Take(core.core->next());
    const sys::Duration now = sys::SteadyNow();
    for (const Letter& letter : letters) letter(core, now);
    for (queue::Command& command : core.core->Commands(now)) {
      std::visit([&](auto& one) { Execute(core, one); }, command);
    }
    if (core.drained != nullptr && core.core->idle()) {
      std::exchange(core.drained, nullptr)->set_value(core.session);
    }
  }
  claims_.reset();  // Their calls end with letters to this thread.
  flushes_.reset();
  upkeep_.reset();
}

// Runs `ask` on a store's thread and `then` with its answer on this one, if the session is still
// the same: the answers to a core that is gone are nobody's.
template <typename Answer, typename Ask, typename Then>
void QueueServer::Call(StoreThread& thread, const Core& core, Ask ask, Then then) {
  thread.Post([this, session = core.session, ask, then](const Result<JobStore*>& store) {
    auto answer = store.ok() ? ask(*store.value()) : Result<Answer>(store.error());
    letters_.Post([session, then, answer = std::move(answer)](Core& to, sys::Duration now) {
      if (to.session == session) then(*to.core, answer, now);
    });
  });
}

void QueueServer::Execute(Core& core, queue::ClaimCommand& claim) {
  Call<std::vector<queue::HeldJob>>(
      *claims_, core,
      [claim, session = core.session](JobStore& store) {
        return store.Claim(claim.demands, claim.most, claim.before, session);
      },
      [claim](queue::ServerCore& to, const auto& jobs, sys::Duration now) {
        to.Claimed(claim, jobs, now);
      });
}

void QueueServer::Execute(Core& core, queue::FindLinesCommand& find) {
  Call<std::vector<queue::Line>>(
      *claims_, core, [find](JobStore& store) { return store.FindLines(find.gaps); },
      [find](queue::ServerCore& to, const auto& lines, sys::Duration now) {
        to.FoundLines(find, lines, now);
      });
}

void QueueServer::Execute(Core& core, queue::FlushCommand& flush) {
  Call<queue::FlushResult>(
      *flushes_, core, [flush](JobStore& store) { return store.Flush(flush.batch); },
      [flush](queue::ServerCore& to, const auto& done, sys::Duration now) {
        to.Flushed(flush, done, now);
      });
}

void QueueServer::Execute(Core& core, queue::KeepCommand& keep) {
  Call<queue::KeepResult>(
      *upkeep_, core,
      [this, keep, session = core.session](JobStore& store) { return Keep(store, keep, session); },
      [keep](queue::ServerCore& to, const auto& kept, sys::Duration now) {
        to.Kept(keep, kept, now);
      });
}

void QueueServer::Execute(Core& core, queue::PullReply& pull) {
  Reply(core, pull.request, FormatJobs(pull.jobs));
}

void QueueServer::Execute(Core& core, queue::ReportReply& report) {
  Reply(core, report.request, FormatTaken(report.taken));
}

void QueueServer::Execute(Core& core, queue::GoneReply& gone) {
  const auto waiting = core.waiting.find(gone.request);
  if (waiting == core.waiting.end()) return;
  waiting->second->Send(SessionEnded());
  core.waiting.erase(waiting);
}

// Its session has ended under it: what waits is told to come again.
void QueueServer::Execute(Core& core, queue::LostCommand&) {
  LogWarn("the server's lease has run out; it begins anew");
  for (const auto& [request, to] : core.waiting) {
    to->Send(net::ErrorResponse(503, "the server began anew; send the request again"));
  }
  core.waiting.clear();
  auto opened = OpenOwnSession();
  while (!opened.ok() && !ending_) {
    LogWarn("{}", opened.error().message);
    sys::RealClock().Wait(milliseconds(200), sys::Stop());
    opened = OpenOwnSession();
  }
  if (!opened.ok()) return;
  core.session = opened.value();
  core.core = std::make_unique<queue::ServerCore>(options_.core, core.session);
}

void QueueServer::Reply(Core& core, queue::RequestId request, std::string body) {
  const auto waiting = core.waiting.find(request);
  if (waiting == core.waiting.end()) return;
  waiting->second->Send(Ok200(std::move(body)));
  core.waiting.erase(waiting);
}

Result<queue::KeepResult> QueueServer::Keep(JobStore& store, const queue::KeepCommand& keep,
                                            queue::SessionId session) const {
  queue::KeepResult result;
  WEIR_TRY(result.renewed, store.Renew(keep.renewals));
  WEIR_TRY(result.expired, store.EndSessions(options_.core.crashes_to_die));
  WEIR_TRY(result.lines, store.Promote(kMostPromoted));
  if (!keep.audited.empty()) {
    WEIR_TRY(result.audited, store.Audit(keep.audited, keep.known_of_audited));
  }
  if (keep.last_lost == 0) return result;
  WEIR_TRY(const auto back, store.GiveBackUnknown(session, keep.last_lost, keep.known));
  result.lines.insert(result.lines.end(), back.begin(), back.end());
  return result;
}

}  // namespace weir::serve
