#pragma once
// Waiter: waits for a socket, a deadline or a stop. Connect: a connection made under one.
#include <memory>
#include <string>

#include "weir/base/result.h"
#include "weir/net/socket_internal.h"
#include "weir/net/target.h"
#include "weir/sys/clock.h"
#include "weir/sys/stop.h"

namespace weir::net {

/// A point in time after which nothing is waited for, and a stop that is watched meanwhile.
class Waiter {
 public:
  Waiter(const sys::Stop& stop, sys::Duration deadline) : stop_(stop), deadline_(deadline) {}

  sys::Duration deadline() const { return deadline_; }
  void SetDeadline(sys::Duration deadline) { deadline_ = deadline; }
  const sys::Stop& stop() const { return stop_; }

  /// Waits until `fd` is ready for one of the poll(2) events.
  /// Errors: kCancelled; kUnavailable when the deadline passed.
  Status For(int fd, short events) const;

 private:
  const sys::Stop& stop_;
  sys::Duration deadline_;
};

/// A connection to `url`, with its handshake done where it has TLS. `tls` is null without.
/// Errors: kUnavailable  the name, the connection or the time failed.
///         kInvalid      the certificate is not to be trusted.
///         kCancelled    the stop was asked for.
Result<Socket> Connect(const Url& url, const TlsContext* tls, const Waiter& waiter);

}  // namespace weir::net
