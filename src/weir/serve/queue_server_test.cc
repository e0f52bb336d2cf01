#include "weir/serve/queue_server.h"

#include "tests/support/postgres.h"
#include "weir/queue/migrations.h"
#include "weir/queue/pg_store.h"
#include "weir/serve/pull_worker.h"

namespace weir::serve {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

class QueueServerTest : public testing::Test {
 protected:
  QueueServerTest() : target_(pg::Target::Parse(database_.url()).value()) {
    const auto connection = pg::Connection::Open(target_, "weir test", stop_).value();
    EXPECT_TRUE(queue::Migrate(*connection).ok());
    store_ = queue::PgStore::Open(target_, "weir test", stop_).value();
  }

  std::unique_ptr<QueueServer> StartServer(uint16_t port = 0) {
    QueueServerOptions options{.target = target_};
    options.http.listen = fmt::format("127.0.0.1:{}", port);
    auto server = QueueServer::Start(options, clock_);
    EXPECT_TRUE(server.ok()) << server.error().message;
    return std::move(server).value();
  }
  PullWorkerOptions WorkerOptions(const std::string& url, int slots) {
    PullWorkerOptions options;
    options.server.url = url;
    options.core.slots = slots;
    options.handlers["noop"] = [](const queue::HeldJob& job, const sys::Stop&) {
      return Result<std::string>(job.args);
    };
    options.handlers["fail"] = [](const queue::HeldJob&, const sys::Stop&) {
      return Result<std::string>(Fail(Code::kInvalid, "as it should"));
    };
    options.handlers["wait"] = [this](const queue::HeldJob&, const sys::Stop& stop) {
      clock_.Wait(seconds(60), stop);
      return Result<std::string>(Fail(Code::kCancelled, "stopped"));
    };
    return options;
  }
  // Until no job lives; the longest that this test waits is the test's own limit.
  void AwaitAllEnded() {
    while (database_.Text("SELECT count(*) FROM weir_queue.job") != "0") std::this_thread::yield();
  }
  int64_t Count(const std::string& where) {
    return std::stoll(database_.Text("SELECT count(*) FROM weir_queue.finished WHERE " + where));
  }

  test::Database database_;
  pg::Target target_;
  sys::Stop stop_;
  sys::RealClock clock_;
  std::unique_ptr<queue::PgStore> store_;
};

TEST_F(QueueServerTest, WorkersDoAllJobs) {
  constexpr int kJobs = 500;
  for (int at = 0; at < kJobs; ++at) {
    ASSERT_TRUE(store_->Enqueue({.kind = at % 10 == 0 ? "fail" : "noop",
                                 .args = fmt::format("{{\"x\": {}}}", at)})
                    .ok());
  }
  const auto server = StartServer();
  std::vector<std::unique_ptr<PullWorker>> workers;
  std::vector<std::thread> threads;
  sys::Stop done;
  for (int at = 0; at < 3; ++at) {
    workers.push_back(std::make_unique<PullWorker>(WorkerOptions(server->url(), 8)));
    threads.emplace_back([&, worker = workers.back().get()] {
      const Status ended = worker->Run(done, seconds(5));
      EXPECT_TRUE(ended.ok()) << ended.error().message;
    });
  }
  AwaitAllEnded();
  done.Ask();
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(Count("state = 'done' AND attempt = 1"), kJobs * 9 / 10);
  EXPECT_EQ(Count("state = 'failed' AND error = 'as it should' AND attempt = 1"), kJobs / 10);
  EXPECT_EQ(database_.Text("SELECT sum((result->>'x')::int) FROM weir_queue.finished"),
            std::to_string(kJobs * (kJobs - 1) / 2 - 10 * (kJobs / 10) * (kJobs / 10 - 1) / 2));
  const queue::ServerCounters counters = server->counters();
  EXPECT_EQ(counters.jobs_handed, kJobs);
  EXPECT_EQ(counters.stale_writes, 0);
  EXPECT_EQ(database_.Text("SELECT count(*) FROM weir_queue.session WHERE role = 'worker' AND "
                           "ended_at IS NULL"), "0");
  server->Drain(seconds(5));
  EXPECT_EQ(database_.Text("SELECT count(*) FROM weir_queue.session WHERE ended_at IS NULL"), "0");
}

// One that is told to stop finishes nothing it cannot, and leaves nothing to its lease.
TEST_F(QueueServerTest, AWorkerThatLeavesGivesBackWhatRuns) {
  const auto server = StartServer();
  const queue::JobId id = store_->Enqueue({.kind = "wait"}).value();
  PullWorker worker(WorkerOptions(server->url(), 2));
  sys::Stop done;
  std::thread thread([&] { EXPECT_TRUE(worker.Run(done, milliseconds(0)).ok()); });
  while (store_->Find(id).value()->state != queue::State::kRunning) std::this_thread::yield();
  done.Ask();
  thread.join();
  const auto job = store_->Find(id).value().value();
  EXPECT_EQ(job.state, queue::State::kReady);
  EXPECT_EQ(job.attempt, 0);
}

// A server that dies is replaced by another at the same place: what runs goes on, and is reported
// there.
TEST_F(QueueServerTest, WorkersGoOnWithTheNextServer) {
  constexpr int kJobs = 200;
  auto server = StartServer();
  const uint16_t port = static_cast<uint16_t>(
      std::stoi(server->url().substr(server->url().rfind(':') + 1)));
  PullWorker worker(WorkerOptions(server->url(), 8));
  sys::Stop done;
  std::thread thread([&] { EXPECT_TRUE(worker.Run(done, seconds(5)).ok()); });
  for (int at = 0; at < kJobs; ++at) {
    ASSERT_TRUE(store_->Enqueue({.kind = "noop"}).ok());
    if (at == kJobs / 2) {
      server.reset();
      server = StartServer(port);
    }
  }
  AwaitAllEnded();
  done.Ask();
  thread.join();
  EXPECT_EQ(Count("state = 'done'"), kJobs);
}

TEST_F(QueueServerTest, BadBodiesAreRefusedInWords) {
  const auto server = StartServer();
  const auto client = net::Client::Create({.url = server->url()}).value();
  const auto post = [&](const std::string& target, std::string body) {
    net::ClientRequest request;
    request.method = net::Method::kPost;
    request.target = target;
    request.body = std::move(body);
    return client->Send(request, stop_).value();
  };
  const std::string deep = std::string(100'000, '[') + std::string(100'000, ']');
  for (const char* target : {"/api/v1/sessions", "/api/v1/pull", "/api/v1/report",
                             "/api/v1/heartbeat"}) {
    for (const std::string& body :
         {std::string(), std::string("{"), std::string("[]"), std::string("{}"),
          std::string("\xff"), std::string("{\"session\": -1}"),
          std::string("{\"session\": 1e300}"), deep}) {
      const net::ClientResponse response = post(target, body);
      EXPECT_EQ(response.status, 400) << target << " " << body.substr(0, 50);
      EXPECT_NE(response.body.find("\"error\""), std::string::npos);
    }
  }
  EXPECT_EQ(post("/api/v1/report", R"({"session": 1, "report": 1, "outcomes": [{"id": "x"}]})")
                .body, R"({"error": "'id' of the request has to be a UUID"})" "\n");
}

}  // namespace
}  // namespace weir::serve
