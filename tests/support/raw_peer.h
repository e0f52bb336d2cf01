#pragma once
// RawPeer: one end of a TCP connection on 127.0.0.1, byte by byte, to say what a well-behaved peer
// would not. RawServer: gives the other end of it.
#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>

namespace weir::test {

/// Every wait ends after 20 s; what came until then is returned.
class RawPeer {
 public:
  /// Connects to 127.0.0.1. `receive_bytes` bounds what the kernel takes in while nobody reads.
  explicit RawPeer(uint16_t port, int receive_bytes = 0);
  RawPeer(RawPeer&& other) noexcept;
  ~RawPeer();

  /// False when the other end does not take it any more.
  bool Send(std::string_view text);
  /// All that comes until `marker` has come, with it; or until the other end closes.
  std::string ReadUntil(std::string_view marker);
  /// A head and as many bytes as its Content-Length says.
  std::string ReadResponse();
  /// All that comes until the other end closes.
  std::string ReadToEnd();
  /// Whether something can be read, or the other end closed, before `timeout` is over.
  bool HasInput(std::chrono::milliseconds timeout) const;
  /// Whether the other end closed, rather than being silent.
  bool ended() const { return ended_; }
  void EndSending();
  void Close();
  /// Closes so that the other end sees an error.
  void Reset();

 private:
  friend class RawServer;
  RawPeer() = default;
  bool ReadSome();

  int fd_ = -1;
  std::string read_;
  bool ended_ = false;
};

class RawServer {
 public:
  RawServer();
  ~RawServer();
  RawServer(const RawServer&) = delete;
  RawServer& operator=(const RawServer&) = delete;

  uint16_t port() const { return port_; }
  std::string url() const;
  RawPeer Accept();

 private:
  int fd_ = -1;
  uint16_t port_ = 0;
};

}  // namespace weir::test
