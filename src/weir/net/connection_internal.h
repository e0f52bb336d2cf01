#pragma once
// Connection: one peer of a server, from its first byte to its last.
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "weir/net/exchange_internal.h"
#include "weir/net/loop_internal.h"
#include "weir/net/message_internal.h"
#include "weir/net/socket_internal.h"
#include "weir/sys/clock.h"

namespace weir::net {

/// handshake -> reading -> handling -> sending or streaming -> reading ...; lingering before the
/// end.
///
/// Each call says what becomes of it: kClose means that the caller destroys it.
/// Memory:  no buffer while nothing is half read or half sent; reads and writes go through the
///          loop's.
/// Threads: its loop's.
class Connection {
 public:
  enum class Fate { kKeep, kClose };

  Connection(Loop& loop, Socket socket, std::string peer);
  ~Connection();
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;

  Fate OnEvents(uint32_t epoll_events);
  Fate OnLetter() { return Run(); }
  Fate OnDeadline();
  Fate OnDrain();

  int fd() const { return socket_.fd(); }

  // The loop's: where this connection stands in its lists, and since when.
  Wait wait = Wait::kNothing;
  sys::Duration due{0};
  Connections::iterator place;

 private:
  enum class Phase { kHandshake, kReading, kHandling, kSending, kStreaming, kLingering };
  enum class Turn { kAgain, kWait, kClose };

  Fate Run();
  Turn Step();
  Turn Handshake();
  Turn ReadMore();
  Turn Parse(std::string_view bytes);
  Turn WaitForMore(std::string_view rest);
  Turn Handle();
  Turn TakeAnswer();
  Turn SendMore();
  Turn StreamMore();
  Turn Linger();
  Turn EndResponse();

  /// Looks at a head; a status other than 0 refuses it.
  Refusal CheckHead();
  Refusal ChargeBody();
  void ReleaseBody();
  void ContinueBody(bool body_has_begun);
  Turn Refuse(const Refusal& refusal);
  void Format(const Response& response, bool stream, std::string& out);
  /// Sends what it can at once and keeps the rest.
  void Send(std::string_view text);
  /// True when all of it is sent.
  bool Flush();

  Loop& loop_;
  Socket socket_;
  std::string peer_;
  Phase phase_;
  bool readable_ = false;
  bool hung_up_ = false;      // The peer has ended its side, or the connection is broken.
  bool unparsed_ = false;     // input_ may hold a request already.
  bool broken_ = false;       // Nothing can be sent any more.
  bool close_after_ = false;  // The response is the last.
  bool body_unread_ = false;  // What is left of the body must be read before closing.
  bool head_only_ = false;    // Of HEAD.
  bool http11_ = true;
  size_t lingered_bytes_ = 0;
  int64_t charged_bytes_ = 0;
  std::unique_ptr<RequestParser> parser_;
  RouteMatch match_;
  Request request_;
  std::shared_ptr<Exchange> exchange_;
  std::string input_;                // Read and not parsed.
  std::vector<std::string> output_;  // Not sent; the first without its first sent_ bytes.
  size_t sent_ = 0;
};

}  // namespace weir::net
