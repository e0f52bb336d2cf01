#include "tests/support/raw_peer.h"

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cstdlib>
#include <utility>

#include "weir/base/assert.h"

namespace weir::test {
namespace {

constexpr int kWaitMillis = 20'000;

sockaddr_in Loopback(uint16_t port) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  address.sin_port = htons(port);
  return address;
}

}  // namespace

RawPeer::RawPeer(uint16_t port, int receive_bytes) : fd_(socket(AF_INET, SOCK_STREAM, 0)) {
  WEIR_ASSERT(fd_ >= 0);
  if (receive_bytes > 0) {
    setsockopt(fd_, SOL_SOCKET, SO_RCVBUF, &receive_bytes, sizeof receive_bytes);
  }
  const int on = 1;
  setsockopt(fd_, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
  const sockaddr_in address = Loopback(port);
  WEIR_ASSERT(connect(fd_, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0);
}

RawPeer::RawPeer(RawPeer&& other) noexcept
    : fd_(std::exchange(other.fd_, -1)), read_(std::move(other.read_)), ended_(other.ended_) {}

RawPeer::~RawPeer() { Close(); }

void RawPeer::Close() {
  if (fd_ >= 0) close(std::exchange(fd_, -1));
}

void RawPeer::EndSending() { shutdown(fd_, SHUT_WR); }

void RawPeer::Reset() {
  const linger abrupt{1, 0};
  setsockopt(fd_, SOL_SOCKET, SO_LINGER, &abrupt, sizeof abrupt);
  Close();
}

bool RawPeer::Send(std::string_view text) {
  while (!text.empty()) {
    pollfd watched{fd_, POLLOUT, 0};
    if (poll(&watched, 1, kWaitMillis) != 1) return false;
    const ssize_t sent = send(fd_, text.data(), text.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
    if (sent < 0) return false;
    text.remove_prefix(static_cast<size_t>(sent));
  }
  return true;
}

bool RawPeer::HasInput(std::chrono::milliseconds timeout) const {
  pollfd watched{fd_, POLLIN, 0};
  return !read_.empty() || poll(&watched, 1, static_cast<int>(timeout.count())) == 1;
}

bool RawPeer::ReadSome() {
  pollfd watched{fd_, POLLIN, 0};
  if (ended_ || poll(&watched, 1, kWaitMillis) != 1) return false;
  char room[16 << 10];
  const ssize_t got = recv(fd_, room, sizeof room, 0);
  ended_ = got <= 0;
  if (got > 0) read_.append(room, static_cast<size_t>(got));
  return got > 0;
}

std::string RawPeer::ReadUntil(std::string_view marker) {
  size_t found = read_.find(marker);
  while (found == std::string::npos && ReadSome()) found = read_.find(marker);
  if (found == std::string::npos) return std::exchange(read_, {});
  std::string all = read_.substr(0, found + marker.size());
  read_.erase(0, all.size());
  return all;
}

std::string RawPeer::ReadResponse() {
  std::string all = ReadUntil("\r\n\r\n");
  const size_t field = all.find("Content-Length: ");
  if (field == std::string::npos) return all;
  const size_t bytes = std::strtoull(all.c_str() + field + 16, nullptr, 10);
  while (read_.size() < bytes && ReadSome()) {
  }
  all.append(read_.substr(0, bytes));
  read_.erase(0, bytes);
  return all;
}

std::string RawPeer::ReadToEnd() {
  while (ReadSome()) {
  }
  return std::exchange(read_, {});
}

RawServer::RawServer() : fd_(socket(AF_INET, SOCK_STREAM, 0)) {
  sockaddr_in address = Loopback(0);
  socklen_t bytes = sizeof address;
  WEIR_ASSERT(fd_ >= 0);
  WEIR_ASSERT(bind(fd_, reinterpret_cast<const sockaddr*>(&address), bytes) == 0);
  WEIR_ASSERT(listen(fd_, 16) == 0);
  WEIR_ASSERT(getsockname(fd_, reinterpret_cast<sockaddr*>(&address), &bytes) == 0);
  port_ = ntohs(address.sin_port);
}

RawServer::~RawServer() { close(fd_); }

std::string RawServer::url() const { return "http://127.0.0.1:" + std::to_string(port_); }

RawPeer RawServer::Accept() {
  RawPeer peer;
  pollfd watched{fd_, POLLIN, 0};
  if (poll(&watched, 1, kWaitMillis) == 1) peer.fd_ = accept(fd_, nullptr, nullptr);
  WEIR_ASSERT(peer.fd_ >= 0);
  return peer;
}

}  // namespace weir::test
