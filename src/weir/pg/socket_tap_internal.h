#pragma once
// SocketTap: a place between libpq and its server where the messages of a COPY are taken out.
#include <sys/types.h>

#include <memory>
#include <span>
#include <vector>

#include "weir/base/bytes.h"

namespace weir::pg {

/// While it is in, libpq's descriptor is one end of a socket pair and the server's socket is ours:
/// what libpq says is sent on, what it should hear is forwarded, and CopyData goes by it. libpq
/// copies each message to a block of heap memory of its own, which for rows of 5 KB is a tenth of
/// an export's processor time.
///
/// Only for connections without encryption. Nothing here waits.
/// Threads: one at a time.
class SocketTap {
 public:
  /// Null if there are no descriptors left for it.
  static std::unique_ptr<SocketTap> Insert(int libpq_fd);
  /// Leaves libpq_fd as it is: call Remove first, unless libpq has closed it.
  ~SocketTap();
  SocketTap(const SocketTap&) = delete;
  SocketTap& operator=(const SocketTap&) = delete;

  /// Gives libpq its server back. Requires: libpq has read all that was forwarded.
  void Remove();

  /// The descriptor to wait for the server on.
  int fd() const { return server_fd_; }
  int libpq_fd() const { return libpq_fd_; }
  /// Sends on what libpq has written. False: the server does not take all of it yet.
  bool SendOn();
  /// Forwards a piece of a message of the server, and nothing of the one after it.
  void ForwardReply();
  /// Receives past libpq: recv()'s result.
  ssize_t Receive(std::span<uint8_t> room);
  /// Forwards bytes that were received. At most kMostForwarded at a time, then libpq has to read.
  void Forward(Bytes bytes);
  static constexpr int64_t kMostForwarded = 4096;
  /// Lets libpq find its connection closed, as ours is.
  void HangUp();

 private:
  SocketTap(int libpq_fd, int server_fd, int pair_fd)
      : libpq_fd_(libpq_fd), server_fd_(server_fd), pair_fd_(pair_fd) {}

  const int libpq_fd_;
  const int server_fd_;
  const int pair_fd_;  // The other end of what libpq has.
  std::vector<uint8_t> unsent_;
  std::vector<uint8_t> header_;  // The begin of a message whose length has not come.
  int64_t left_ = 0;             // Bytes to come of the message being forwarded.
};

}  // namespace weir::pg
