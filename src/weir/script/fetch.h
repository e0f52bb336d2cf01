#pragma once
// What a script asks of the network, and the way an answer comes back to it from any thread.
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "weir/base/result.h"

namespace weir::script {

using Headers = std::vector<std::pair<std::string, std::string>>;

struct Request {
  std::string method = "GET";  ///< Upper case.
  std::string url;             ///< Absolute, http or https.
  Headers headers;             ///< Names in lower case.
  std::string body;
};

struct Response {
  int status = 200;
  std::string status_text;
  std::string url;  ///< Where it came from in the end; empty: where the request went.
  Headers headers;
  std::string body;
};

class Inbox;

/// The right to answer one request, once. Copies share it; later answers are dropped, as are those
/// that come when the script has ended. A request that nobody answers keeps its script waiting.
///
/// Threads: any.
class Reply {
 public:
  Reply(std::shared_ptr<Inbox> inbox, uint64_t id) : inbox_(std::move(inbox)), id_(id) {}

  /// An error rejects the script's promise with its message.
  void Give(Result<Response> answer) const;
  /// False once the script has ended or given the request up: the answer would be dropped.
  bool wanted() const;

 private:
  std::shared_ptr<Inbox> inbox_;
  uint64_t id_;
};

enum class Level { kDebug, kInfo, kWarn, kError };

/// What a running script reaches outside of itself. Called on the thread that runs it.
class Host {
 public:
  virtual ~Host() = default;

  /// Starts a request; must not wait for its answer. `reply` may be given before this returns.
  virtual void Fetch(Request request, Reply reply) = 0;
  /// One line that the script printed, without its end.
  virtual void Log(Level level, std::string_view line) = 0;
};

}  // namespace weir::script
