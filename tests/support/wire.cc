#include "tests/support/wire.h"

#include <arpa/inet.h>
#include <fmt/format.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <tuple>

#include "weir/base/assert.h"

namespace weir::test {
namespace {

bool SendAll(int fd, const char* bytes, size_t size) {
  while (size > 0) {
    const ssize_t sent = send(fd, bytes, size, MSG_NOSIGNAL);
    if (sent <= 0) return false;
    bytes += sent;
    size -= static_cast<size_t>(sent);
  }
  return true;
}

std::string BigEndian(uint32_t value) {
  std::string bytes;
  for (int shift = 24; shift >= 0; shift -= 8) bytes += static_cast<char>(value >> shift & 0xFF);
  return bytes;
}

}  // namespace

LoopbackServer::LoopbackServer() {
  listener_ = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof address;
  WEIR_ASSERT(bind(listener_, reinterpret_cast<sockaddr*>(&address), size) == 0);
  WEIR_ASSERT(listen(listener_, 16) == 0);
  WEIR_ASSERT(getsockname(listener_, reinterpret_cast<sockaddr*>(&address), &size) == 0);
  port_ = ntohs(address.sin_port);
}

LoopbackServer::~LoopbackServer() { WEIR_ASSERT(!accepting_.joinable()); }

std::string LoopbackServer::Url(const std::string& user, const std::string& database) const {
  return fmt::format("postgresql://{}@127.0.0.1:{}/{}?sslmode=disable&gssencmode=disable", user,
                     port_, database);
}

void LoopbackServer::Start() {
  accepting_ = std::thread([this] { Accept(); });
}

void LoopbackServer::Accept() {
  for (int number = 1;; ++number) {
    const int client = accept4(listener_, nullptr, nullptr, SOCK_CLOEXEC);
    if (client < 0) return;
    Watch(client);
    threads_.emplace_back([this, client, number] {
      Serve(client, number);
      shutdown(client, SHUT_RDWR);
    });
  }
}

void LoopbackServer::Watch(int fd) {
  const std::lock_guard lock(mutex_);
  fds_.push_back(fd);
}

void LoopbackServer::Stop() {
  shutdown(listener_, SHUT_RDWR);
  accepting_.join();
  {
    const std::lock_guard lock(mutex_);
    for (const int fd : fds_) shutdown(fd, SHUT_RDWR);
  }
  for (std::thread& thread : threads_) thread.join();
  for (const int fd : fds_) close(fd);
  close(listener_);
}

FakeServer::FakeServer(std::string answer, bool endless)
    : answer_(std::move(answer)), endless_(endless) {
  Start();
}

FakeServer::~FakeServer() { Stop(); }

std::string FakeServer::Message(char type, const std::string& body) {
  return type + BigEndian(static_cast<uint32_t>(body.size() + 4)) + body;
}

void FakeServer::Serve(int client, int /*number*/) {
  const std::string welcome = Message('R', BigEndian(0)) +
                              Message('S', std::string("server_version\0", 15) + "15.1" + '\0') +
                              Ready();
  char buffer[65536];
  if (recv(client, buffer, sizeof buffer, 0) <= 0) return;  // The startup message.
  if (!SendAll(client, welcome.data(), welcome.size())) return;
  while (recv(client, buffer, sizeof buffer, 0) > 0) {
    do {
      if (!SendAll(client, answer_.data(), answer_.size())) return;
    } while (endless_);
  }
}

StallingProxy::StallingProxy(std::string server_socket, int stalled, size_t bytes)
    : server_socket_(std::move(server_socket)), stalled_(stalled), bytes_(bytes) {
  Start();
}

StallingProxy::~StallingProxy() { Stop(); }

void StallingProxy::Serve(int client, int number) {
  const int server = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  Watch(server);
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  server_socket_.copy(address.sun_path, sizeof address.sun_path - 1);
  if (connect(server, reinterpret_cast<sockaddr*>(&address), sizeof address) != 0) return;
  size_t left = number == stalled_ ? bytes_ : SIZE_MAX;
  char buffer[65536];
  while (true) {
    // What a stalled server says is not even read.
    pollfd watched[2] = {{client, POLLIN, 0}, {left == 0 ? -1 : server, POLLIN, 0}};
    if (poll(watched, 2, -1) < 0) break;
    for (const auto& [from, to, room] :
         {std::tuple{client, server, SIZE_MAX}, std::tuple{server, client, left}}) {
      if (watched[from == client ? 0 : 1].revents == 0) continue;
      const ssize_t got = recv(from, buffer, std::min(sizeof buffer, room), 0);
      if (got <= 0 || !SendAll(to, buffer, static_cast<size_t>(got))) {
        shutdown(server, SHUT_RDWR);
        return;
      }
      if (from == server && number == stalled_) left -= static_cast<size_t>(got);
    }
    if (left == 0) stalls_ = true;
  }
}

}  // namespace weir::test
