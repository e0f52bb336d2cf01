#pragma once
// Loop: one thread of a server and its connections. ServerCore: what all threads share.
#include <sys/epoll.h>

#include <array>
#include <atomic>
#include <cstdint>
#include <list>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "weir/net/exchange_internal.h"
#include "weir/net/server.h"
#include "weir/net/socket_internal.h"
#include "weir/sys/clock.h"

namespace weir::net {

class Loop;

/// ServerCounters as threads write it.
struct LiveCounters {
  using Count = std::atomic<int64_t>;
  Count connections_accepted{0};
  Count connections_open{0};
  Count connections_refused{0};
  Count tls_failures{0};
  std::array<Count, 6> responses{};
  Count requests_refused{0};
  Count peers_gone{0};
  Count streams_cut{0};
  Count bytes_received{0};
  Count bytes_sent{0};

  static void Add(Count& count, int64_t more = 1) {
    count.fetch_add(more, std::memory_order_relaxed);
  }
};

struct ServerCore {
  ServerOptions options;
  Routes routes;
  sys::Clock* clock = nullptr;
  std::shared_ptr<TlsContext> tls;  // Null: none.
  Address address;
  LiveCounters counters;
  std::atomic<int64_t> bodies_bytes{0};  // Of all bodies that are coming in.
  std::atomic<bool> stopping{false};
  std::atomic<int64_t> stop_by_ns{0};  // SteadyNow() at which connections are cut.
  std::mutex stop_mutex;
  std::vector<std::unique_ptr<Loop>> loops;
};

/// What a connection waits for; each has one duration, so that a list per kind is in order of
/// time.
enum class Wait { kNothing, kHead, kBody, kIdle, kWrite, kLinger };
inline constexpr size_t kWaits = 6;

using Connections = std::list<std::unique_ptr<Connection>>;

/// Threads: its own, but for Start, mailbox() and Join.
class Loop {
 public:
  explicit Loop(ServerCore& core);
  ~Loop();

  /// The loop accepts from `listener` where it has one, for all loops of the core.
  Status Start(Descriptor listener);
  Mailbox& mailbox() { return *mailbox_; }
  void Join();

  // For connections.
  ServerCore& core() { return core_; }
  const std::shared_ptr<Mailbox>& shared_mailbox() const { return mailbox_; }
  /// Moves a connection into the list of those that wait for `wait`, from now on.
  void Arm(Connection& connection, Wait wait);
  /// "Tue, 01 Dec 2026 10:00:00 GMT".
  std::string_view Date();
  std::vector<char>& read_room() { return read_room_; }
  std::string& write_room() { return write_room_; }

 private:
  static constexpr size_t kReadRoomBytes = 64 << 10;

  void Run();
  int NextTimeoutMillis() const;
  void AcceptAll();
  void Adopt(Descriptor socket, const Address& peer);
  void Refuse(Descriptor socket);
  void TakeLetters();
  void ExpireDeadlines();
  bool WatchListener(bool watch);
  void Drain();
  void Drop(Connection& connection);
  bool Empty() const;

  ServerCore& core_;
  std::shared_ptr<Mailbox> mailbox_;
  Descriptor epoll_;
  Descriptor listener_;
  sys::Duration accept_again_{0};  // Accepting pauses until then; 0: it does not.
  size_t next_loop_ = 0;
  std::array<Connections, kWaits> waiting_;
  sys::Duration now_{0};
  bool draining_ = false;
  int64_t date_second_ = -1;
  std::string date_;
  std::vector<char> read_room_;
  std::string write_room_;
  std::thread thread_;
};

}  // namespace weir::net
