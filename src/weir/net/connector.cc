#include <poll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <mutex>
#include <optional>

#include "weir/base/assert.h"
#include "weir/net/connector_internal.h"
#include "weir/sys/thread.h"

namespace weir::net {
namespace {

/// What a thread that asks for a name shares with the one that waits, which may have left.
struct Lookup {
  Descriptor done{eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)};
  std::mutex mutex;
  std::optional<Result<std::vector<Address>>> found;
};

/// The system's resolver cannot be interrupted, so a thread asks it that nobody has to wait for.
Result<std::vector<Address>> ResolveName(const Url& url, const Waiter& waiter) {
  auto lookup = std::make_shared<Lookup>();
  if (lookup->done.fd() < 0) {
    return Fail(Code::kExhausted, "cannot look for the host '{}': {}; close some files", url.host,
                std::strerror(errno));
  }
  WEIR_TRY(std::thread asking, sys::StartThread([lookup, host = url.host, port = url.port] {
             auto found = Resolve(host, port);
             const std::lock_guard lock(lookup->mutex);
             lookup->found = std::move(found);
             const uint64_t one = 1;
             [[maybe_unused]] const ssize_t told = write(lookup->done.fd(), &one, sizeof one);
           }));
  asking.detach();
  WEIR_DO(waiter.For(lookup->done.fd(), POLLIN), "looking for the host '{}'", url.host);
  const std::lock_guard lock(lookup->mutex);
  return *std::move(lookup->found);
}

bool SameAddress(const Address& a, const Address& b) {
  return a.bytes == b.bytes && std::memcmp(&a.storage, &b.storage, a.bytes) == 0;
}

/// What connect(2) came to; 0 for success.
int ConnectError(int fd, const Address& address) {
  int error = 0;
  socklen_t bytes = sizeof error;
  if (getsockopt(fd, SOL_SOCKET, SO_ERROR, &error, &bytes) != 0) return errno;
  // A free port of this machine may be given to the very socket that asks for it.
  const Address own = LocalAddress(fd);
  return error == 0 && SameAddress(own, address) ? ECONNREFUSED : error;
}

Result<Descriptor> ConnectOne(const Address& address, const Waiter& waiter) {
  Descriptor made(socket(address.storage.ss_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
  const auto failed = [&](int error) {
    return Fail(Code::kUnavailable, "cannot connect to {}: {}; is the server running?",
                address.Text(), std::strerror(error));
  };
  if (made.fd() < 0) return failed(errno);
  if (connect(made.fd(), reinterpret_cast<const sockaddr*>(&address.storage), address.bytes) != 0) {
    if (errno != EINPROGRESS && errno != EINTR) return failed(errno);
    WEIR_DO(waiter.For(made.fd(), POLLOUT), "connecting to {}", address.Text());
  }
  if (const int error = ConnectError(made.fd(), address); error != 0) return failed(error);
  SetNoDelay(made.fd());
  return made;
}

Result<Descriptor> ConnectAny(const Url& url, const Waiter& waiter) {
  auto addresses = IsAddress(url.host) ? Resolve(url.host, url.port) : ResolveName(url, waiter);
  if (!addresses.ok()) return std::move(addresses).error();
  std::optional<Error> first;
  for (const Address& address : addresses.value()) {
    auto connected = ConnectOne(address, waiter);
    if (connected.ok() || connected.error().code == Code::kCancelled) return connected;
    if (!first) first = connected.error();
  }
  WEIR_ASSERT(first.has_value());
  return *std::move(first);
}

Status Shake(const Url& url, Socket& socket, const Waiter& waiter) {
  while (true) {
    const IoStep step = socket.tls()->Handshake();
    if (step == IoStep::kDone) return Ok();
    if (step == IoStep::kWaitRead || step == IoStep::kWaitWrite) {
      const short events = step == IoStep::kWaitRead ? POLLIN : POLLOUT;
      WEIR_DO(waiter.For(socket.fd(), events), "TLS with {}", url.authority());
      continue;
    }
    if (socket.tls()->distrusted()) {
      return Fail(Code::kInvalid,
                  "the certificate of {} is not to be trusted: {}; name the CA file it was signed "
                  "with and the host it was made for",
                  url.authority(), socket.reason());
    }
    return Fail(Code::kUnavailable, "TLS with {} failed: {}; does it speak TLS at that port?",
                url.authority(), step == IoStep::kClosed ? "it closed" : socket.reason());
  }
}

}  // namespace

Status Waiter::For(int fd, short events) const {
  while (true) {
    WEIR_DO(stop_.Check());
    const sys::Duration left = std::max(deadline_ - sys::SteadyNow(), sys::Duration(0));
    const timespec timeout{left.count() / 1'000'000'000, left.count() % 1'000'000'000};
    pollfd watched[] = {{fd, events, 0}, {stop_.fd(), POLLIN, 0}};
    const int ready = ppoll(watched, 2, &timeout, nullptr);
    WEIR_DO(stop_.Check());
    if (ready > 0 && watched[0].revents != 0) return Ok();
    if (ready == 0 && deadline_ <= sys::SteadyNow()) {
      return Fail(Code::kUnavailable, "the time is over; try again, or wait longer");
    }
  }
}

Result<Socket> Connect(const Url& url, const TlsContext* tls, const Waiter& waiter) {
  WEIR_TRY(Descriptor connected, ConnectAny(url, waiter));
  Socket socket(std::move(connected));
  if (tls == nullptr) return socket;
  socket.SetTls(TlsSession::Connect(*tls, socket.fd(), url.host));
  WEIR_DO(Shake(url, socket, waiter));
  return socket;
}

}  // namespace weir::net
