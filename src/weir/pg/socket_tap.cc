#include <fcntl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "weir/base/assert.h"
#include "weir/pg/copy_block.h"
#include "weir/pg/socket_tap_internal.h"
#include "weir/pg/wire_internal.h"

namespace weir::pg {

std::unique_ptr<SocketTap> SocketTap::Insert(int libpq_fd) {
  const int server_fd = fcntl(libpq_fd, F_DUPFD_CLOEXEC, 0);
  int pair[2];
  if (server_fd < 0) return nullptr;
  if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, pair) != 0) {
    close(server_fd);
    return nullptr;
  }
  WEIR_ASSERT(dup3(pair[0], libpq_fd, O_CLOEXEC) == libpq_fd);
  close(pair[0]);
  return std::unique_ptr<SocketTap>(new SocketTap(libpq_fd, server_fd, pair[1]));
}

SocketTap::~SocketTap() {
  close(server_fd_);
  close(pair_fd_);
}

void SocketTap::Remove() { WEIR_ASSERT(dup3(server_fd_, libpq_fd_, O_CLOEXEC) == libpq_fd_); }

bool SocketTap::SendOn() {
  uint8_t piece[kMostForwarded];
  while (true) {
    while (!unsent_.empty()) {
      const ssize_t sent = send(server_fd_, unsent_.data(), unsent_.size(), MSG_NOSIGNAL);
      if (sent < 0) {
        if (errno == EAGAIN) return false;
        if (errno == EINTR) continue;
        unsent_.clear();  // The server is gone; reading will tell.
        return true;
      }
      unsent_.erase(unsent_.begin(), unsent_.begin() + sent);
    }
    const ssize_t size = recv(pair_fd_, piece, sizeof piece, 0);
    if (size <= 0) return true;
    unsent_.assign(piece, piece + size);
  }
}

void SocketTap::ForwardReply() {
  uint8_t piece[kMostForwarded];
  const int64_t wanted = left_ > 0 ? std::min(left_, kMostForwarded)
                                   : CopyBlock::kHeaderBytes - std::ssize(header_);
  const ssize_t size = Receive({piece, static_cast<size_t>(wanted)});
  if (size <= 0) return;
  if (left_ > 0) {
    left_ -= size;
    return Forward({piece, static_cast<size_t>(size)});
  }
  header_.insert(header_.end(), piece, piece + size);
  if (std::ssize(header_) < CopyBlock::kHeaderBytes) return;
  left_ = std::max<int64_t>(0, ReadI32(header_.data() + 1) - 4);
  Forward(header_);
  header_.clear();
}

ssize_t SocketTap::Receive(std::span<uint8_t> room) {
  while (true) {
    const ssize_t size = recv(server_fd_, room.data(), room.size(), MSG_DONTWAIT);
    if (size >= 0 || errno != EINTR) {
      if (size == 0 || (size < 0 && errno != EAGAIN)) HangUp();
      return size;
    }
  }
}

void SocketTap::Forward(Bytes bytes) {
  WEIR_ASSERT(std::ssize(bytes) <= kMostForwarded);
  // Into an empty buffer of our own: it fits. libpq may have closed its end.
  [[maybe_unused]] const ssize_t sent = send(pair_fd_, bytes.data(), bytes.size(), MSG_NOSIGNAL);
}

void SocketTap::HangUp() { shutdown(pair_fd_, SHUT_WR); }

}  // namespace weir::pg
