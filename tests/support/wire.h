#pragma once
// Servers and networks that misbehave: what stands between weir and a PostgreSQL, on loopback.
#include <atomic>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

namespace weir::test {

/// Accepts connections on a port of 127.0.0.1, each served by a thread of its own.
///
/// Threads: whoever derives from it calls Start() when made and Stop() first when destroyed.
class LoopbackServer {
 public:
  LoopbackServer(const LoopbackServer&) = delete;
  LoopbackServer& operator=(const LoopbackServer&) = delete;

  /// Where it answers, as a libpq URI without TLS.
  std::string Url(const std::string& user, const std::string& database) const;

 protected:
  LoopbackServer();
  virtual ~LoopbackServer();
  void Start();
  /// Ends every connection and waits for its thread.
  void Stop();
  /// One connection, counted from 1, until it ends; Stop() shuts `client` down.
  virtual void Serve(int client, int number) = 0;
  /// Has Stop() shut down `fd` too.
  void Watch(int fd);

 private:
  void Accept();

  int listener_ = -1;
  int port_ = 0;
  std::mutex mutex_;
  std::vector<int> fds_;  // All open ones, to be shut down and closed by Stop().
  std::vector<std::thread> threads_;
  std::thread accepting_;
};

/// "server" that lets everyone in and gives each message of theirs the same answer.
class FakeServer final : public LoopbackServer {
 public:
  /// `answer` is bytes of the protocol; see Message. `endless`: again and again, once asked.
  explicit FakeServer(std::string answer, bool endless = false);
  ~FakeServer() override;

  /// One message of the protocol: its type, its length, its body.
  static std::string Message(char type, const std::string& body);
  /// "Ready for the next statement."
  static std::string Ready() { return Message('Z', "I"); }

 private:
  void Serve(int client, int number) override;

  const std::string answer_;
  const bool endless_;
};

/// Passes connections on to a server's socket. One of them falls silent after some bytes from the
/// server, as behind a firewall that forgot it.
class StallingProxy final : public LoopbackServer {
 public:
  /// Connection number `stalled` (from 1; 0: none) gets `bytes` of the server's, then no more.
  StallingProxy(std::string server_socket, int stalled, size_t bytes);
  ~StallingProxy() override;

  /// True once bytes were kept back.
  bool stalls() const { return stalls_; }

 private:
  void Serve(int client, int number) override;

  const std::string server_socket_;
  const int stalled_;
  const size_t bytes_;
  std::atomic<bool> stalls_{false};
};

}  // namespace weir::test
