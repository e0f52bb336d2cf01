#include <arpa/inet.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <utility>

#include "weir/base/assert.h"
#include "weir/net/socket_internal.h"

namespace weir::net {
namespace {

constexpr int kBacklog =
    1024;  // Connections that may wait for accept; the kernel cuts at somaxconn.

Result<std::vector<Address>> Look(const std::string& host, uint16_t port, int flags) {
  addrinfo hints{};
  hints.ai_socktype = SOCK_STREAM;
  hints.ai_flags = flags | AI_NUMERICSERV;
  addrinfo* found = nullptr;
  const int failed = getaddrinfo(host.c_str(), std::to_string(port).c_str(), &hints, &found);
  if (failed != 0) {
    return Fail(Code::kUnavailable, "cannot find the host '{}': {}; check the name and the network",
                host, gai_strerror(failed));
  }
  std::vector<Address> addresses;
  for (const addrinfo* entry = found; entry != nullptr; entry = entry->ai_next) {
    Address address;
    std::memcpy(&address.storage, entry->ai_addr, entry->ai_addrlen);
    address.bytes = entry->ai_addrlen;
    addresses.push_back(address);
  }
  freeaddrinfo(found);
  return addresses;
}

}  // namespace

Descriptor& Descriptor::operator=(Descriptor&& other) noexcept {
  if (this != &other) {
    if (fd_ >= 0) close(fd_);
    fd_ = other.Release();
  }
  return *this;
}

Descriptor::~Descriptor() {
  if (fd_ >= 0) close(fd_);
}

int Descriptor::Release() { return std::exchange(fd_, -1); }

std::string Address::Text() const {
  char text[INET6_ADDRSTRLEN] = "";
  if (storage.ss_family == AF_INET6) {
    const auto& address = reinterpret_cast<const sockaddr_in6&>(storage);
    inet_ntop(AF_INET6, &address.sin6_addr, text, sizeof text);
    return fmt::format("[{}]:{}", text, port());
  }
  const auto& address = reinterpret_cast<const sockaddr_in&>(storage);
  inet_ntop(AF_INET, &address.sin_addr, text, sizeof text);
  return fmt::format("{}:{}", text, port());
}

bool Address::loopback() const {
  if (storage.ss_family == AF_INET6) {
    return IN6_IS_ADDR_LOOPBACK(&reinterpret_cast<const sockaddr_in6&>(storage).sin6_addr) != 0;
  }
  const uint32_t address = ntohl(reinterpret_cast<const sockaddr_in&>(storage).sin_addr.s_addr);
  return storage.ss_family == AF_INET && address >> 24 == IN_LOOPBACKNET;
}

uint16_t Address::port() const {
  return storage.ss_family == AF_INET6
             ? ntohs(reinterpret_cast<const sockaddr_in6&>(storage).sin6_port)
             : ntohs(reinterpret_cast<const sockaddr_in&>(storage).sin_port);
}

Result<std::vector<Address>> Resolve(const std::string& host, uint16_t port) {
  auto literal = Look(host, port, AI_NUMERICHOST);
  return literal.ok() ? std::move(literal) : Look(host, port, AI_ADDRCONFIG);
}

bool IsAddress(const std::string& host) { return Look(host, 0, AI_NUMERICHOST).ok(); }

Result<Descriptor> Listen(const Address& address) {
  Descriptor listener(
      socket(address.storage.ss_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
  const auto* const name = reinterpret_cast<const sockaddr*>(&address.storage);
  const int on = 1;
  if (listener.fd() >= 0 &&
      setsockopt(listener.fd(), SOL_SOCKET, SO_REUSEADDR, &on, sizeof on) == 0 &&
      bind(listener.fd(), name, address.bytes) == 0 && listen(listener.fd(), kBacklog) == 0) {
    return listener;
  }
  const int error = errno;
  Code code = Code::kInvalid;
  std::string_view remedy = "name an address of this machine, and a port that is free";
  if (error == EADDRINUSE) {
    code = Code::kUnavailable;
    remedy = "end the program that does, or name another port";
  } else if (error == EMFILE || error == ENFILE || error == ENOMEM || error == ENOBUFS) {
    code = Code::kExhausted;
    remedy = "raise the limit on open files (ulimit -n), then run again";
  }
  return Fail(code, "cannot listen on {}: {}; {}", address.Text(), std::strerror(error), remedy);
}

Address LocalAddress(int socket) {
  Address address;
  address.bytes = sizeof address.storage;
  const int failed =
      getsockname(socket, reinterpret_cast<sockaddr*>(&address.storage), &address.bytes);
  WEIR_ASSERT(failed == 0);
  return address;
}

void SetNoDelay(int socket) {
  const int on = 1;
  setsockopt(socket, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
}

IoStep Socket::Read(std::span<char> room, size_t& bytes) {
  if (tls_ != nullptr) return tls_->Read(room, bytes);
  while (true) {
    const ssize_t got = recv(fd(), room.data(), room.size(), 0);
    if (got > 0) {
      bytes = static_cast<size_t>(got);
      return IoStep::kDone;
    }
    if (got == 0) return IoStep::kClosed;
    if (errno == EINTR) continue;
    if (errno == EAGAIN) return IoStep::kWaitRead;
    error_ = errno;
    return IoStep::kFailed;
  }
}

IoStep Socket::Write(std::string_view text, size_t& bytes) {
  if (tls_ != nullptr) return tls_->Write(text, bytes);
  while (true) {
    const ssize_t sent = send(fd(), text.data(), text.size(), MSG_NOSIGNAL);
    if (sent >= 0) {
      bytes = static_cast<size_t>(sent);
      return IoStep::kDone;
    }
    if (errno == EINTR) continue;
    if (errno == EAGAIN) return IoStep::kWaitWrite;
    error_ = errno;
    return IoStep::kFailed;
  }
}

void Socket::EndSending() {
  if (tls_ != nullptr) tls_->Close();
  shutdown(fd(), SHUT_WR);
}

void Socket::Close() {
  if (tls_ != nullptr) tls_->Close();
  tls_.reset();
  descriptor_ = Descriptor();
}

std::string Socket::reason() const {
  return tls_ != nullptr ? tls_->reason() : std::strerror(error_);
}

}  // namespace weir::net
