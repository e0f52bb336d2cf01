// How much the server can do: requests per second of a tiny JSON POST over a few kept connections,
// with the clients in the same process; and what a held connection costs in memory.
//
//   net_bench [--small] [--connections K] [--seconds S] [--threads N] [--held H]
//             [--certificate PEM --key PEM --ca PEM]
//
// A line per measure. With TLS the memory of held connections is that of both ends. Exit 1 when an
// answer was wrong. --small checks the answers and measures nothing worth reading.
#include <fmt/format.h>
#include <malloc.h>
#include <poll.h>
#include <sys/resource.h>
#include <unistd.h>

#include <atomic>
#include <condition_variable>
#include <cstdio>
#include <cstdlib>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "weir/base/assert.h"
#include "weir/net/client.h"
#include "weir/net/connector_internal.h"
#include "weir/net/server.h"
#include "weir/sys/process.h"

namespace weir::net {
namespace {

struct Settings {
  int connections = 8;
  double seconds = 5;
  int threads = 1;
  int held = 1000;
  std::string certificate = {};
  std::string key = {};
  std::string ca = {};
};

constexpr std::string_view kQuestion = R"({"worker": "w-1", "slots": 8, "lease": 17})";
constexpr std::string_view kAnswer = R"({"jobs": [], "ok": true})";

/// Held requests, counted and kept.
class HeldRequests {
 public:
  void Keep(Responder responder) {
    const std::lock_guard lock(mutex_);
    held_.push_back(std::move(responder));
    changed_.notify_all();
  }
  std::vector<Responder> WaitFor(size_t count) {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return held_.size() >= count; });
    return std::move(held_);
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<Responder> held_;
};

std::unique_ptr<Server> Serve(const Settings& settings, sys::Clock& clock, HeldRequests& held,
                              std::atomic<int64_t>& wrong) {
  Routes routes;
  routes.Add(Method::kPost, "/api/pull", [&wrong](Request request, Responder responder) {
    if (request.body != kQuestion) ++wrong;
    Response response;
    response.body = kAnswer;
    responder.Send(std::move(response));
  });
  routes.Add(Method::kGet, "/api/wait",
             [&held](Request, Responder responder) { held.Keep(std::move(responder)); });
  auto server = Server::Start({.certificate_file = settings.certificate,
                               .key_file = settings.key,
                               .threads = settings.threads,
                               .connections = 100'000},
                              std::move(routes), clock);
  WEIR_ASSERT(server.ok());
  return std::move(server).value();
}

/// Asks again and again until `end`; returns how often.
int64_t AskUntil(const std::string& url, const std::string& ca, sys::Duration end,
                 std::atomic<int64_t>& wrong) {
  const sys::Stop stop;
  const auto client = Client::Create({.url = url, .ca_file = ca}).value();
  const ClientRequest request{
      .method = Method::kPost, .target = "/api/pull", .body = std::string(kQuestion)};
  int64_t count = 0;
  do {
    const auto answer = client->Send(request, stop);
    const bool right =
        answer.ok() && answer.value().status == 200 && answer.value().body == kAnswer;
    if (!right) ++wrong;
    ++count;
  } while (sys::SteadyNow() < end);
  if (client->connections_made() != 1) ++wrong;
  return count;
}

int64_t CpuMicros() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return (usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) * 1'000'000LL + usage.ru_utime.tv_usec +
         usage.ru_stime.tv_usec;
}

void MeasureRate(const Server& server, const Settings& settings, std::atomic<int64_t>& wrong) {
  const sys::Duration begin = sys::SteadyNow();
  const int64_t cpu_before = CpuMicros();
  const auto end = begin + std::chrono::duration_cast<sys::Duration>(
                               std::chrono::duration<double>(settings.seconds));
  std::atomic<int64_t> total{0};
  std::vector<std::thread> clients;
  for (int at = 0; at < settings.connections; ++at) {
    clients.emplace_back([&] { total += AskUntil(server.url(), settings.ca, end, wrong); });
  }
  for (std::thread& client : clients) client.join();
  const double seconds = sys::Seconds(sys::SteadyNow() - begin);
  if (server.counters().responses[2] != total) ++wrong;
  fmt::print(
      "requests_per_s {:.0f}  requests {}  connections {}  server_threads {}  "
      "cpu_us_per_request {:.1f}\n",
      static_cast<double>(total) / seconds, total.load(), settings.connections, settings.threads,
      static_cast<double>(CpuMicros() - cpu_before) / static_cast<double>(total));
}

/// Bytes of this process on the heap and resident; the kernel's sockets are in neither.
struct Memory {
  int64_t heap_bytes;
  int64_t resident_bytes;
};

Memory MemoryNow() {
  malloc_trim(0);
  const struct mallinfo2 heap = mallinfo2();
  long pages = 0;
  if (FILE* file = std::fopen("/proc/self/statm", "r"); file != nullptr) {
    if (std::fscanf(file, "%*d %ld", &pages) != 1) pages = 0;
    std::fclose(file);
  }
  return {static_cast<int64_t>(heap.uordblks + heap.hblkhd), pages * sysconf(_SC_PAGESIZE)};
}

/// Asks for something that is answered later.
Socket AskAndWait(const Url& url, const TlsContext* tls, const Waiter& waiter) {
  constexpr std::string_view kWait =
      "GET /api/wait HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer 0123456789abcdef\r\n\r\n";
  auto socket = Connect(url, tls, waiter);
  WEIR_ASSERT(socket.ok());
  size_t sent = 0;
  WEIR_ASSERT(socket.value().Write(kWait, sent) == IoStep::kDone && sent == kWait.size());
  return std::move(socket).value();
}

std::string ReadAnswer(Socket& socket, const Waiter& waiter) {
  std::string text;
  std::vector<char> room(1024);
  while (!text.ends_with(kAnswer)) {
    size_t bytes = 0;
    const IoStep step = socket.Read(room, bytes);
    if (step == IoStep::kDone) text.append(room.data(), bytes);
    if (step == IoStep::kWaitRead && waiter.For(socket.fd(), POLLIN).ok()) continue;
    if (step != IoStep::kDone) break;
  }
  return text;
}

/// Holds many requests, weighs them, and answers all at once from this thread.
void MeasureHeld(const Server& server, const Settings& settings, HeldRequests& held,
                 std::atomic<int64_t>& wrong) {
  const sys::Stop stop;
  const Waiter waiter(stop, sys::SteadyNow() + std::chrono::minutes(2));
  const Url url = ParseUrl(server.url()).value();
  std::shared_ptr<TlsContext> tls;
  if (url.tls) tls = TlsContext::ForClient(settings.ca).value();
  const auto count = static_cast<size_t>(settings.held);
  std::vector<Socket> peers;
  peers.reserve(count);
  const Memory before = MemoryNow();
  while (peers.size() < count) peers.push_back(AskAndWait(url, tls.get(), waiter));
  std::vector<Responder> responders = held.WaitFor(count);
  const Memory with = MemoryNow();
  const sys::Duration begin = sys::SteadyNow();
  std::thread answering([&responders] {
    for (Responder& responder : responders) {
      Response response;
      response.body = kAnswer;
      responder.Send(std::move(response));
    }
  });
  for (Socket& peer : peers) {
    if (!ReadAnswer(peer, waiter).starts_with("HTTP/1.1 200 OK\r\n")) ++wrong;
  }
  answering.join();
  const double millis = sys::Seconds(sys::SteadyNow() - begin) * 1000;
  responders.clear();
  for (Socket& peer : peers) peer.SetTls(nullptr);  // What is left is the server's.
  const Memory idle = MemoryNow();
  const auto each = [&](int64_t bytes) { return bytes / settings.held; };
  fmt::print(
      "held_connections {}  heap_bytes_each {}  resident_bytes_each {}  "
      "idle_server_heap_bytes_each {}  answered_in_ms {:.1f}\n",
      settings.held, each(with.heap_bytes - before.heap_bytes),
      each(with.resident_bytes - before.resident_bytes), each(idle.heap_bytes - before.heap_bytes),
      millis);
}

Settings Parse(int argc, char** argv) {
  Settings settings;
  for (int at = 1; at < argc; ++at) {
    const std::string_view flag = argv[at];
    const char* const value = at + 1 < argc ? argv[at + 1] : "0";
    if (flag == "--small") settings = {.connections = 4, .seconds = 0.2, .threads = 2, .held = 50};
    if (flag == "--connections") settings.connections = std::atoi(value);
    if (flag == "--seconds") settings.seconds = std::atof(value);
    if (flag == "--threads") settings.threads = std::atoi(value);
    if (flag == "--held") settings.held = std::atoi(value);
    if (flag == "--certificate") settings.certificate = value;
    if (flag == "--key") settings.key = value;
    if (flag == "--ca") settings.ca = value;
  }
  return settings;
}

int Main(int argc, char** argv) {
  const Settings settings = Parse(argc, argv);
  sys::RaiseDescriptorLimit();
  sys::RealClock clock;
  HeldRequests held;
  std::atomic<int64_t> wrong{0};
  const auto server = Serve(settings, clock, held, wrong);
  if (settings.connections > 0) MeasureRate(*server, settings, wrong);
  if (settings.held > 0) MeasureHeld(*server, settings, held, wrong);
  if (wrong != 0) fmt::print(stderr, "{} answers or connections were wrong\n", wrong.load());
  return wrong == 0 ? 0 : 1;
}

}  // namespace
}  // namespace weir::net

int main(int argc, char** argv) { return weir::net::Main(argc, argv); }
