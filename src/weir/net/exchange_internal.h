#pragma once
// Exchange: one request and its answer, where the thread that answers meets the one that sends.
// Mailbox: how the former wakes the latter.
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "weir/net/request.h"
#include "weir/net/socket_internal.h"

namespace weir::net {

class Connection;
struct Exchange;

/// What a loop's thread is to look at. Outlives the loop, because responders may.
///
/// Threads: any.
class Mailbox {
 public:
  struct Letters {
    std::vector<std::shared_ptr<Exchange>> exchanges;
    std::vector<std::pair<Descriptor, Address>> accepted;
  };

  Mailbox();
  /// Readable when there are letters; -1 when the system had no descriptor.
  int fd() const { return event_.fd(); }

  void Post(std::shared_ptr<Exchange> exchange);
  void Post(Descriptor accepted, const Address& peer);
  void Wake();
  /// All that was posted, in the order it was.
  Letters Take();
  /// Nobody will look any more: what is posted from now on is dropped.
  void Close();

 private:
  void WakeLocked();

  Descriptor event_;
  std::mutex mutex_;
  Letters letters_;
  bool woken_ = false;
  bool closed_ = false;
};

/// Life: waiting -> answered, or waiting -> streaming -> ended or cut. Gone may come at any time.
struct Exchange {
  enum class State { kWaiting, kAnswered, kStreaming, kEnded, kCut };

  std::shared_ptr<Mailbox> mailbox;  // Constant, as the next two.
  size_t waiting_bytes_limit = 0;
  bool chunked = true;
  bool bodiless = false;             // Of HEAD: what a stream is given goes nowhere.
  Connection* connection = nullptr;  // The loop's thread only; null once that has gone.

  std::mutex mutex;
  State state = State::kWaiting;
  bool gone = false;
  bool notice_set = false;
  std::function<void()> on_gone;
  bool in_handler = true;            // The loop looks by itself when the handler returns.
  bool posted = false;               // It is in the mailbox, or will be looked at.
  std::optional<Response> response;  // The whole answer, or a stream's head, until it is taken.
  std::string waiting;               // Of a stream, framed, not taken yet.
  size_t in_flight = 0;              // Of a stream, taken by the loop and not sent.

  /// Tells the loop to look. Requires: `mutex` is held through `lock`; it is let go.
  static void Notify(const std::shared_ptr<Exchange>& exchange, std::unique_lock<std::mutex>& lock);
  /// The peer has gone: counts it in `gone_count` and gives notice, unless the answer was complete.
  void Go(std::atomic<int64_t>& gone_count);
  void SetNotice(std::function<void()> notice);
};

}  // namespace weir::net
