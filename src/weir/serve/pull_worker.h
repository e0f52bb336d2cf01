#pragma once
// PullWorker: a worker with sub-workers that pulls its jobs from a server over HTTP.
#include <atomic>
#include <condition_variable>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "weir/net/client.h"
#include "weir/queue/worker_core.h"
#include "weir/serve/mailbox.h"
#include "weir/serve/pull_api.h"
#include "weir/sys/stop.h"

namespace weir::serve {

/// Does one job: its result as JSON, or why it failed. `stop`: nobody waits for it any more.
///
/// Threads: any number at once.
using JobHandler = std::function<Result<std::string>(const queue::HeldJob& job,
                                                     const sys::Stop& stop)>;

struct PullWorkerOptions {
  net::ClientOptions server;
  std::string name = "weir worker";
  std::vector<std::string> tags = {"default"};
  queue::WorkerOptions core{};
  std::map<std::string, JobHandler> handlers;  ///< By kind.
};

/// Two connections: pulls on one, reports and heartbeats on the other.
class PullWorker {
 public:
  explicit PullWorker(PullWorkerOptions options) : options_(std::move(options)) {}

  /// Works until `stop` is asked for; then finishes what runs, within `grace`, reports it, and
  /// leaves.
  /// Errors: kInvalid, kUsage of net::Client, and what the server says to a new session.
  Status Run(const sys::Stop& stop, sys::Duration grace);
  int64_t jobs_done() const { return jobs_done_; }

 private:
  using Letter = std::function<void(queue::WorkerCore&, sys::Duration now)>;
  // A connection with a thread of its own.
  struct Line {
    std::unique_ptr<net::Client> client;
    Mailbox<std::function<void(net::Client&)>> calls;
    std::thread thread;
  };
  struct Running {
    queue::HeldJob job;
    std::shared_ptr<sys::Stop> stop;
  };

  Result<OpenedSession> Open(const sys::Stop& stop);
  Status Start();
  Status Leave();
  void End();
  void Note(const Error& error);
  void RunLine(Line& line);
  void RunJobs();
  queue::Outcome Do(const Running& running);
  Result<std::string> Send(net::Client& client, const char* target, std::string body,
                           std::chrono::milliseconds deadline);
  void Answer(queue::SessionId session, Letter letter);
  void Execute(queue::SendPull& pull);
  void Execute(queue::SendReport& report);
  void Execute(queue::SendHeartbeat& heartbeat);
  void Execute(queue::RunJob& run);
  void Execute(queue::StopJob& stop);

  const PullWorkerOptions options_;
  OpenedSession session_;
  Mailbox<Letter> letters_;
  Line pulls_;
  Line others_;
  sys::Stop ending_;
  std::mutex mutex_;
  std::condition_variable work_;
  std::deque<Running> queue_;                                  // Guarded by mutex_.
  std::map<queue::Lease, std::shared_ptr<sys::Stop>> stops_;   // The core's thread's.
  bool gone_ = false;  // The session has ended.
  std::vector<std::thread> runners_;
  std::atomic<int64_t> jobs_done_{0};
};

}  // namespace weir::serve
