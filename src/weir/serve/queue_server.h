#pragma once
// QueueServer: the batch-pull server: HTTP in front, PostgreSQL behind, a ServerCore between.
#include <atomic>
#include <functional>
#include <memory>
#include <thread>

#include "weir/net/responder.h"
#include "weir/net/server.h"
#include "weir/pg/target.h"
#include "weir/queue/server_core.h"
#include "weir/serve/mailbox.h"
#include "weir/serve/pull_api.h"
#include "weir/serve/store_thread.h"

namespace weir::serve {

struct QueueServerOptions {
  pg::Target target;
  net::ServerOptions http{};
  queue::ServerOptions core{};
  std::string name = "weir serve";
};

/// Three connections to PostgreSQL: one claims, one flushes, one renews leases; so that none of
/// them waits for another.
///
/// Threads: any.
class QueueServer {
 public:
  /// Listens when it returns.
  /// Errors: of pg::Connection and net::Server; kInvalid when the schema is not this weir's.
  static Result<std::unique_ptr<QueueServer>> Start(QueueServerOptions options, sys::Clock& clock);
  ~QueueServer();  ///< As a crash: what it holds comes back when its lease ends.
  QueueServer(const QueueServer&) = delete;
  QueueServer& operator=(const QueueServer&) = delete;

  std::string url() const { return http_->url(); }
  /// Claims no more, gives back what it has buffered, writes down what was reported, and ends its
  /// session; `patience` at most.
  void Drain(std::chrono::milliseconds patience);
  queue::ServerCounters counters();

 private:
  struct Core;
  using Letter = std::function<void(Core&, sys::Duration now)>;

  explicit QueueServer(QueueServerOptions options);
  Status Open(sys::Clock& clock);
  Result<queue::SessionId> OpenOwnSession();
  net::Routes MakeRoutes();
  void OpenSessionOf(const std::string& body, net::Responder responder);
  void CloseSessionOf(const net::Request& request, net::Responder responder);
  void TakePull(const std::string& body, net::Responder responder);
  void TakeReport(const std::string& body, net::Responder responder);
  void TakeHeartbeat(const std::string& body, net::Responder responder);
  void Run(queue::SessionId session);
  template <typename Answer, typename Ask, typename Then>
  void Call(StoreThread& thread, const Core& core, Ask ask, Then then);
  void Execute(Core& core, queue::ClaimCommand& claim);
  void Execute(Core& core, queue::FindLinesCommand& find);
  void Execute(Core& core, queue::FlushCommand& flush);
  void Execute(Core& core, queue::KeepCommand& keep);
  void Execute(Core& core, queue::PullReply& pull);
  void Execute(Core& core, queue::ReportReply& report);
  void Execute(Core& core, queue::GoneReply& gone);
  void Execute(Core& core, queue::LostCommand& lost);
  static void Reply(Core& core, queue::RequestId request, std::string body);
  Result<queue::KeepResult> Keep(queue::JobStore& store, const queue::KeepCommand& keep,
                                 queue::SessionId session) const;

  const QueueServerOptions options_;
  Mailbox<Letter> letters_;
  std::unique_ptr<StoreThread> claims_;
  std::unique_ptr<StoreThread> flushes_;
  std::unique_ptr<StoreThread> upkeep_;
  std::atomic<bool> ending_{false};
  std::thread thread_;
  std::unique_ptr<net::Server> http_;  // First to go.
};

}  // namespace weir::serve
