#pragma once
// Server: HTTP/1.1, with TLS or without, for handlers that answer now or later.
#include <chrono>
#include <cstdint>
#include <memory>
#include <string>

#include "weir/base/result.h"
#include "weir/net/routes.h"
#include "weir/sys/clock.h"

namespace weir::net {

struct ServerOptions {
  std::string listen = "127.0.0.1:0";  ///< Port 0: one that is free, see Server::port().
  std::string certificate_file = {};   ///< PEM, the server's own first. Empty: no TLS.
  std::string key_file = {};           ///< PEM.
  /// Passwords and tokens cross the network in the clear: for a proxy that does TLS itself.
  bool plaintext_beyond_loopback = false;
  int threads = 1;  ///< One does 8,000 requests/s and more; handlers do not block it.

  int64_t head_bytes = 16 << 10;         ///< The most of a request before its body: else 431.
  int64_t body_bytes = 8 << 20;          ///< The most of a body, unless its route says: else 413.
  int64_t all_bodies_bytes = 256 << 20;  ///< The most of all bodies that come in: else 503.
  int64_t waiting_bytes = 1 << 20;       ///< The most a stream's slow reader may leave waiting.
  int64_t connections = 4096;            ///< The most at once: one more gets 503 and is closed.
  std::chrono::milliseconds head_timeout{10'000};   ///< To say hello and what is wanted: else 408.
  std::chrono::milliseconds body_timeout{60'000};   ///< From there to the body's end: else 408.
  std::chrono::milliseconds idle_timeout{75'000};   ///< Between requests: then it is closed.
  std::chrono::milliseconds write_timeout{30'000};  ///< Without a byte taken by the peer.
};

/// What happened since the start, and what is now.
struct ServerCounters {
  int64_t connections_accepted = 0;
  int64_t connections_open = 0;     ///< Now.
  int64_t connections_refused = 0;  ///< For more than `connections`, or no descriptors.
  int64_t tls_failures = 0;         ///< Handshakes that did not end well.
  int64_t responses[6] = {};        ///< By status class: [2] counts 200 to 299; [0] is unused.
  int64_t requests_refused = 0;     ///< Of these, not given to a handler: 400, 404, 408, 413, ...
  int64_t peers_gone = 0;   ///< Requests whose peer went away, or was cut, before the answer.
  int64_t streams_cut = 0;  ///< For a reader too slow, or an answer that was given up.
  int64_t bytes_received = 0;
  int64_t bytes_sent = 0;
};

struct ServerCore;

/// A listening server, until stopped.
///
/// What is refused needs no handler: bad requests (400), unknown paths (404) and methods (405, with
/// Allow), requests too slow (408), bodies and heads too large (413, 431), expectations other than
/// 100-continue (417), all with the body {"error": "..."}. HEAD is answered by GET's handler.
/// One request of a connection is handled at a time; more that were sent wait in the socket.
///
/// A peer counts as gone when it ends its side, too: half-closing to mark the end of a request is
/// not for requests whose answer is not made at once.
///
/// A connection is a descriptor: where thousands are held, see sys::RaiseDescriptorLimit.
///
/// Memory:  about 1 KiB per connection that waits, its request aside; with TLS about 15 KiB.
/// Threads: any. Stop() and the destructor must not be called by a handler or notice.
class Server {
 public:
  /// Listens when it returns. The clock is for the field Date.
  /// Errors: kUsage        `listen` is no endpoint, or beyond loopback without TLS; bad
  /// certificate.
  ///         kUnavailable  the port is taken.
  ///         kInvalid      the address is not this machine's.
  ///         kExhausted    no more threads or descriptors.
  static Result<std::unique_ptr<Server>> Start(ServerOptions options, Routes routes,
                                               sys::Clock& clock);
  ~Server();  ///< Stops without waiting for anybody.
  Server(const Server&) = delete;
  Server& operator=(const Server&) = delete;

  uint16_t port() const;
  /// "http://127.0.0.1:8640".
  std::string url() const;
  ServerCounters counters() const;

  /// Accepts nothing more and closes idle connections; waits for `patience` that requests that have
  /// begun are answered, then closes their connections. Done when it returns; again: does nothing.
  void Stop(std::chrono::milliseconds patience);

 private:
  explicit Server(std::unique_ptr<ServerCore> core);

  std::unique_ptr<ServerCore> core_;
};

}  // namespace weir::net
