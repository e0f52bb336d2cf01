#pragma once
// Responder and Stream: the answer to one request, from any thread.
#include <cstddef>
#include <functional>
#include <memory>
#include <string_view>

#include "weir/net/request.h"

namespace weir::net {

struct Exchange;

/// An answer that is given piece by piece: chunks, or bytes until the end for HTTP/1.0.
///
/// Threads: any, one at a time. Destroying it without Close() cuts the connection, so that the peer
/// does not take half an answer for a whole one.
class Stream {
 public:
  explicit Stream(std::shared_ptr<Exchange> exchange);
  Stream(Stream&&) noexcept = default;
  Stream& operator=(Stream&& other) noexcept;
  ~Stream();

  /// Hands `bytes` over to be sent. False when the peer does not listen any more: it has gone, or
  /// it reads so slowly that more than the server's waiting_bytes would wait; then it is cut off.
  bool Write(std::string_view bytes);
  /// Bytes that wait for the peer to read.
  size_t waiting_bytes() const;
  /// The answer is complete. False as for Write.
  bool Close();
  /// As Responder::OnGone.
  void OnGone(std::function<void()> notice);

 private:
  std::shared_ptr<Exchange> exchange_;
};

/// The one answer to a request.
///
/// Threads: any, one at a time. Destroying it unused answers 500, so that nobody waits for ever.
class Responder {
 public:
  explicit Responder(std::shared_ptr<Exchange> exchange);
  Responder(Responder&&) noexcept = default;
  Responder& operator=(Responder&& other) noexcept;
  ~Responder();

  /// Answers. False when the peer is known to have gone: nobody will see the answer. True is no
  /// promise that it arrives.
  /// Requires: not answered before.
  bool Send(Response response);
  /// Answers with `head`, whose body is the stream's first piece; the rest follows.
  /// Requires: not answered before.
  Stream Open(Response head);
  /// True when the peer closed its connection, or the server cut it.
  bool gone() const;
  /// Calls `notice` once if the peer goes away before the answer is given or the stream closed: on
  /// a thread of the server, or at once on this one when it has gone already. It must not block,
  /// nor destroy the server. Call at most once per request.
  void OnGone(std::function<void()> notice);

 private:
  std::shared_ptr<Exchange> exchange_;
};

}  // namespace weir::net
