#include <sys/epoll.h>
#include <sys/socket.h>
#include <time.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <thread>
#include <utility>

#include "weir/base/assert.h"
#include "weir/net/connection_internal.h"
#include "weir/net/loop_internal.h"
#include "weir/sys/thread.h"

namespace weir::net {
namespace {

constexpr uint64_t kMailboxTag = 0;
constexpr uint64_t kListenerTag = 1;  // Everything else is the address of a Connection.
constexpr int kMostEvents = 256;      // Of one wait; more come with the next.
constexpr int kMostAccepted = 64;     // In a row, before others have their turn.
constexpr std::chrono::milliseconds kLingerTimeout{2'000};
constexpr std::chrono::milliseconds kAcceptPause{100};  // When there are no descriptors.

/// False when the system has no room for one more.
bool Watch(int epoll, int operation, int fd, uint32_t events, uint64_t tag) {
  epoll_event event{};
  event.events = events;
  event.data.u64 = tag;
  return epoll_ctl(epoll, operation, fd, &event) == 0;
}

std::chrono::milliseconds DurationOf(Wait wait, const ServerOptions& options) {
  switch (wait) {
    case Wait::kHead:
      return options.head_timeout;
    case Wait::kBody:
      return options.body_timeout;
    case Wait::kIdle:
      return options.idle_timeout;
    case Wait::kWrite:
      return options.write_timeout;
    case Wait::kLinger:
      return kLingerTimeout;
    case Wait::kNothing:
      break;
  }
  return {};
}

std::string FormatDate(int64_t second) {
  constexpr const char* kDays[] = {"Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"};
  constexpr const char* kMonths[] = {"Jan", "Feb", "Mar", "Apr", "May", "Jun",
                                     "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"};
  const time_t time = second;
  tm parts{};
  gmtime_r(&time, &parts);
  return fmt::format("{}, {:02} {} {:04} {:02}:{:02}:{:02} GMT", kDays[parts.tm_wday],
                     parts.tm_mday, kMonths[parts.tm_mon], parts.tm_year + 1900, parts.tm_hour,
                     parts.tm_min, parts.tm_sec);
}

}  // namespace

Loop::Loop(ServerCore& core)
    : core_(core),
      mailbox_(std::make_shared<Mailbox>()),
      epoll_(epoll_create1(EPOLL_CLOEXEC)),
      read_room_(kReadRoomBytes) {}

Loop::~Loop() { Join(); }

Status Loop::Start(Descriptor listener) {
  listener_ = std::move(listener);
  if (!Watch(epoll_.fd(), EPOLL_CTL_ADD, mailbox_->fd(), EPOLLIN, kMailboxTag) ||
      (listener_.fd() >= 0 && !WatchListener(true))) {
    return Fail(
        Code::kExhausted,
        "cannot wait for connections: no descriptors or memory are left; raise the limit on "
        "open files (ulimit -n), then run again");
  }
  now_ = sys::SteadyNow();
  WEIR_TRY(thread_, sys::StartThread([this] { Run(); }));
  return Ok();
}

void Loop::Join() {
  WEIR_ASSERT(thread_.get_id() != std::this_thread::get_id());  // Handlers do not stop a server.
  if (thread_.joinable()) thread_.join();
}

void Loop::Run() {
  std::vector<epoll_event> events(kMostEvents);
  while (true) {
    const int count = epoll_wait(epoll_.fd(), events.data(), kMostEvents, NextTimeoutMillis());
    now_ = sys::SteadyNow();
    bool accept = false;
    bool letters = false;
    for (int at = 0; at < count; ++at) {
      const uint64_t tag = events[static_cast<size_t>(at)].data.u64;
      if (tag == kMailboxTag) {
        letters = true;
      } else if (tag == kListenerTag) {
        accept = true;
      } else {
        auto& connection = *reinterpret_cast<Connection*>(tag);
        const auto fate = connection.OnEvents(events[static_cast<size_t>(at)].events);
        if (fate == Connection::Fate::kClose) Drop(connection);
      }
    }
    if (letters) TakeLetters();
    if (accept) AcceptAll();
    ExpireDeadlines();
    if (core_.stopping && !draining_) Drain();
    if (draining_ && (Empty() || now_.count() >= core_.stop_by_ns)) break;
  }
  for (Connections& list : waiting_) list.clear();
  mailbox_->Close();
}

int Loop::NextTimeoutMillis() const {
  sys::Duration next = sys::Duration::max();
  for (size_t at = 1; at < kWaits; ++at) {
    if (!waiting_[at].empty()) next = std::min(next, waiting_[at].front()->due);
  }
  if (accept_again_.count() != 0) next = std::min(next, accept_again_);
  if (draining_) next = std::min(next, sys::Duration(core_.stop_by_ns));
  if (next == sys::Duration::max()) return -1;
  constexpr int64_t kMostMillis = 3'600'000;
  const auto left = std::chrono::ceil<std::chrono::milliseconds>(next - sys::SteadyNow());
  return static_cast<int>(std::clamp<int64_t>(left.count(), 0, kMostMillis));
}

void Loop::Arm(Connection& connection, Wait wait) {
  Connections& from = waiting_[static_cast<size_t>(connection.wait)];
  Connections& to = waiting_[static_cast<size_t>(wait)];
  to.splice(to.end(), from, connection.place);
  connection.wait = wait;
  connection.due = now_ + DurationOf(wait, core_.options);
}

void Loop::Drop(Connection& connection) {
  // Moved out first: its end may tell others, who must find the lists whole.
  const Connections::iterator place = connection.place;
  const std::unique_ptr<Connection> dropped = std::move(*place);
  waiting_[static_cast<size_t>(dropped->wait)].erase(place);
}

bool Loop::Empty() const {
  return std::all_of(waiting_.begin(), waiting_.end(),
                     [](const Connections& list) { return list.empty(); });
}

std::string_view Loop::Date() {
  const int64_t second = core_.clock->WallMillis() / 1000;
  if (second != date_second_) {
    date_second_ = second;
    date_ = FormatDate(second);
  }
  return date_;
}

bool Loop::WatchListener(bool watch) {
  return Watch(epoll_.fd(), watch ? EPOLL_CTL_ADD : EPOLL_CTL_DEL, listener_.fd(), EPOLLIN,
               kListenerTag);
}

void Loop::AcceptAll() {
  for (int count = 0; count < kMostAccepted; ++count) {
    Address peer;
    peer.bytes = sizeof peer.storage;
    Descriptor socket(accept4(listener_.fd(), reinterpret_cast<sockaddr*>(&peer.storage),
                              &peer.bytes, SOCK_NONBLOCK | SOCK_CLOEXEC));
    if (socket.fd() < 0) {
      const bool full = errno == EMFILE || errno == ENFILE || errno == ENOBUFS || errno == ENOMEM;
      if (!full) return;  // Nobody is there, or who was has gone.
      LiveCounters::Add(core_.counters.connections_refused);
      WatchListener(false);
      accept_again_ = now_ + kAcceptPause;
      return;
    }
    if (core_.counters.connections_open >= core_.options.connections) {
      Refuse(std::move(socket));
      continue;
    }
    LiveCounters::Add(core_.counters.connections_accepted);
    Loop& loop = *core_.loops[next_loop_++ % core_.loops.size()];
    if (&loop == this) {
      Adopt(std::move(socket), peer);
    } else {
      loop.mailbox().Post(std::move(socket), peer);
    }
  }
}

void Loop::Refuse(Descriptor socket) {
  LiveCounters::Add(core_.counters.connections_refused);
  if (core_.tls != nullptr) return;  // A handshake is what it would cost to say so.
  const Response response = ErrorResponse(503, "too many connections; try again later");
  const std::string text = fmt::format(
      "HTTP/1.1 503 {}\r\nDate: {}\r\nContent-Type: {}\r\nContent-Length: {}\r\n"
      "Connection: close\r\nRetry-After: 1\r\n\r\n{}",
      StatusWords(503), Date(), response.content_type, response.body.size(), response.body);
  // Into an empty buffer: it fits. A request that is on its way may take it back again.
  [[maybe_unused]] const ssize_t sent =
      send(socket.fd(), text.data(), text.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
  shutdown(socket.fd(), SHUT_WR);
}

void Loop::Adopt(Descriptor descriptor, const Address& peer) {
  const int fd = descriptor.fd();
  SetNoDelay(fd);
  Socket socket(std::move(descriptor));
  if (core_.tls != nullptr) socket.SetTls(TlsSession::Accept(*core_.tls, fd));
  Connections& list = waiting_[static_cast<size_t>(Wait::kNothing)];
  list.push_back(std::make_unique<Connection>(*this, std::move(socket), peer.Text()));
  Connection& connection = *list.back();
  connection.place = std::prev(list.end());
  Arm(connection, Wait::kHead);
  constexpr uint32_t kEvents = EPOLLIN | EPOLLOUT | EPOLLRDHUP | EPOLLET;
  const auto tag = reinterpret_cast<uint64_t>(&connection);
  if (!Watch(epoll_.fd(), EPOLL_CTL_ADD, fd, kEvents, tag)) {
    LiveCounters::Add(core_.counters.connections_refused);
    Drop(connection);
  }
}

void Loop::TakeLetters() {
  Mailbox::Letters letters = mailbox_->Take();
  for (auto& [socket, peer] : letters.accepted) Adopt(std::move(socket), peer);
  for (const std::shared_ptr<Exchange>& exchange : letters.exchanges) {
    Connection* const connection = exchange->connection;
    if (connection == nullptr) continue;
    if (connection->OnLetter() == Connection::Fate::kClose) Drop(*connection);
  }
}

void Loop::ExpireDeadlines() {
  for (size_t at = 1; at < kWaits; ++at) {
    while (!waiting_[at].empty() && waiting_[at].front()->due <= now_) {
      Connection& connection = *waiting_[at].front();
      const bool close = connection.OnDeadline() == Connection::Fate::kClose;
      if (close) Drop(connection);
    }
  }
  if (accept_again_.count() != 0 && accept_again_ <= now_) {
    const bool again = listener_.fd() < 0 || WatchListener(true);
    accept_again_ = again ? sys::Duration(0) : now_ + kAcceptPause;
  }
}

void Loop::Drain() {
  draining_ = true;
  listener_ = Descriptor();
  for (Connections& list : waiting_) {
    for (auto at = list.begin(); at != list.end();) {
      Connection& connection = **at++;
      if (connection.OnDrain() == Connection::Fate::kClose) Drop(connection);
    }
  }
}

}  // namespace weir::net
