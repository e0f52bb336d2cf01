// Jobs per second: a world made, one script run in it, the world taken down; with and without a
// fetch that is answered at once; on one thread and on two. And what running worlds hold in memory.
//
//   script_bench [--small]
#include <fmt/format.h>

#include <atomic>
#include <condition_variable>
#include <cstdio>
#include <cstring>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "weir/base/assert.h"
#include "weir/script/engine.h"
#include "weir/sys/process.h"

namespace weir::script {
namespace {

constexpr std::string_view kBare = "export async function main(x) { return x }";
constexpr std::string_view kFetching =
    "export async function main(x) {\n"
    "  const v = await fetch(\"http://127.0.0.1/api/version\");\n"
    "  await v.text();\n"
    "  return x\n"
    "}\n";

// Answers at once.
class HostOfBench final : public Host {
 public:
  void Fetch(Request, Reply reply) override {
    Response response;
    response.headers = {{"content-type", "text/plain"}};
    response.body = "CE v1.500.0";
    reply.Give(std::move(response));
  }
  void Log(Level, std::string_view) override {}
};

void RunJobs(Engine& engine, std::string_view text, int64_t jobs) {
  HostOfBench host;
  const sys::Stop stop;
  const Script script{"f/bench/job.ts", std::string(text)};
  Limits limits;
  limits.cpu_time = std::chrono::seconds(10);
  limits.wall_time = std::chrono::seconds(60);
  for (int64_t job = 0; job < jobs; ++job) {
    const std::string want = fmt::format("\"job {}\"", job);
    const auto outcome =
        engine.Run(script, fmt::format("{{\"x\":{}}}", want), limits, host, stop);
    WEIR_ASSERT(outcome.ok() && outcome.value().end == End::kReturned);
    WEIR_ASSERT(outcome.value().result == want);
  }
}

void Measure(const char* what, std::string_view text, int threads, int64_t jobs) {
  Engine engine;
  const sys::Duration began = sys::SteadyNow();
  std::vector<std::thread> workers;
  for (int at = 0; at < threads; ++at) {
    workers.emplace_back([&] { RunJobs(engine, text, jobs); });
  }
  for (std::thread& worker : workers) worker.join();
  const double seconds = sys::Seconds(sys::SteadyNow() - began);
  const auto all = static_cast<double>(jobs * threads);
  std::printf("%-8s %d thread%s %8.0f jobs/s  %6.1f us a job on its thread\n", what, threads,
              threads == 1 ? " " : "s", all / seconds, seconds * 1e6 / static_cast<double>(jobs));
}

// Answers nobody until `count` scripts wait.
class HostOfMany final : public Host {
 public:
  explicit HostOfMany(size_t count) : count_(count) {}

  void Fetch(Request, Reply reply) override {
    const std::lock_guard lock(mutex_);
    replies_.push_back(std::move(reply));
    changed_.notify_all();
  }
  void Log(Level, std::string_view) override {}

  void WaitForAll() {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return replies_.size() == count_; });
  }
  void AnswerAll() {
    const std::lock_guard lock(mutex_);
    for (const Reply& reply : replies_) reply.Give(Response{});
  }

 private:
  const size_t count_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<Reply> replies_;
};

void MeasureMemory() {
  constexpr int kWorlds = 8;
  Engine engine;
  RunJobs(engine, kFetching, 10);
  HostOfMany host(kWorlds);
  const sys::Stop stop;
  const Script script{"f/bench/job.ts", std::string(kFetching)};
  const int64_t before = sys::ReadProcessUsage().rss_bytes;
  std::vector<std::thread> workers;
  for (int at = 0; at < kWorlds; ++at) {
    workers.emplace_back([&] {
      const auto outcome = engine.Run(script, "{\"x\":1}", Limits(), host, stop);
      WEIR_ASSERT(outcome.ok() && outcome.value().result == "1");
    });
  }
  host.WaitForAll();
  const int64_t during = sys::ReadProcessUsage().rss_bytes;
  host.AnswerAll();
  for (std::thread& worker : workers) worker.join();
  std::printf("%d scripts that wait for an answer hold %.2f MiB each, their threads included\n",
              kWorlds, static_cast<double>(during - before) / kWorlds / (1 << 20));
}

}  // namespace
}  // namespace weir::script

int main(int argc, char** argv) {
  const bool small = argc > 1 && std::strcmp(argv[1], "--small") == 0;
  const int64_t jobs = small ? 50 : 20'000;
  for (const int threads : {1, 2}) {
    weir::script::Measure("bare", weir::script::kBare, threads, jobs);
    weir::script::Measure("fetch", weir::script::kFetching, threads, jobs);
  }
  weir::script::MeasureMemory();
  return 0;
}
