#pragma once
// Socket: a TCP socket that does not block, with TLS on it or without. Listening and connecting.
#include <sys/socket.h>

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "weir/base/result.h"
#include "weir/net/target.h"
#include "weir/net/tls_internal.h"

namespace weir::net {

/// A file descriptor that is closed at the end.
class Descriptor {
 public:
  Descriptor() = default;
  explicit Descriptor(int fd) : fd_(fd) {}
  Descriptor(Descriptor&& other) noexcept : fd_(other.Release()) {}
  Descriptor& operator=(Descriptor&& other) noexcept;
  ~Descriptor();

  int fd() const { return fd_; }
  int Release();

 private:
  int fd_ = -1;
};

/// An address of a peer, or to listen on.
struct Address {
  sockaddr_storage storage{};
  socklen_t bytes = 0;

  /// "127.0.0.1:8640", "[::1]:8640".
  std::string Text() const;
  bool loopback() const;
  uint16_t port() const;
};

/// The addresses of a host. Names are asked of the system, which may take seconds.
/// Errors: kUnavailable when the name cannot be resolved.
Result<std::vector<Address>> Resolve(const std::string& host, uint16_t port);
/// True for what Resolve knows without asking: an address.
bool IsAddress(const std::string& host);

/// Errors: kUnavailable when the port is taken, kInvalid when the address is not this machine's,
///         kExhausted when there are no descriptors.
Result<Descriptor> Listen(const Address& address);
/// The address a socket is bound to.
Address LocalAddress(int socket);
/// Small messages leave at once.
void SetNoDelay(int socket);

/// A connection's bytes, through TLS where it has it.
class Socket {
 public:
  Socket() = default;
  explicit Socket(Descriptor descriptor) : descriptor_(std::move(descriptor)) {}

  int fd() const { return descriptor_.fd(); }
  TlsSession* tls() { return tls_.get(); }
  void SetTls(std::unique_ptr<TlsSession> tls) { tls_ = std::move(tls); }

  /// kClosed at the peer's end of bytes. Of TLS, one without notice is kFailed.
  IoStep Read(std::span<char> room, size_t& bytes);
  IoStep Write(std::string_view text, size_t& bytes);
  /// Nothing more will be sent; what was sent arrives.
  void EndSending();
  void Close();
  /// After kFailed: why, in words.
  std::string reason() const;

 private:
  Descriptor descriptor_;
  std::unique_ptr<TlsSession> tls_;
  int error_ = 0;
};

}  // namespace weir::net
