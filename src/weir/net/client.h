#pragma once
// Client: requests to one server over one connection that is kept.
#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "weir/base/result.h"
#include "weir/net/headers.h"
#include "weir/net/request.h"
#include "weir/sys/stop.h"

namespace weir::net {

using Fields = std::vector<std::pair<std::string, std::string>>;

struct ClientOptions {
  std::string url = {};  ///< "http://host:8640/base"; the base goes before each request's target.
  std::string ca_file = {};  ///< PEM. Empty: what the system trusts.
  Fields headers = {};       ///< Of every request: Authorization. Never printed.
  std::chrono::milliseconds connect_timeout{5'000};  ///< Name, connection and handshake together.
  /// A connection that was idle longer is replaced: the server may be closing it. Below the
  /// server's idle_timeout.
  std::chrono::milliseconds reuse_within{60'000};
  int64_t head_bytes = 64 << 10;     ///< The most of an answer before its body.
  int64_t response_bytes = 8 << 20;  ///< The most of a body that Send() gathers.
};

struct ClientRequest {
  Method method = Method::kGet;
  std::string target = "/";  ///< Encoded: FormatTarget, or text that needs no encoding.
  std::string body = {};
  std::string content_type = "application/json";  ///< Sent where there is a body.
  Fields headers = {};
  /// From the call to the answer's end; of Stream() to the end of its head.
  std::chrono::milliseconds deadline{30'000};
  /// Of Stream(): the longest wait for the next byte of the body.
  std::chrono::milliseconds silence{60'000};
};

struct ClientResponse {
  int status = 0;
  HeaderList headers = {};
  std::string body = {};
};

/// What became of the last request.
enum class Delivery {
  kNotSent,   ///< Not a byte of it left: it may be sent again.
  kPerhaps,   ///< The server may have received it, and done what it says.
  kAnswered,  ///< The answer's head has come; after an error of Stream() too.
};

/// A connection to one server, made when first needed and made again when the server has closed it
/// between two requests. A request is sent at most once: whether to repeat one whose answer did not
/// come is for the caller to decide, who asks delivery(). Redirects are not followed.
///
/// Threads: one at a time. A stop asked for by another thread ends a call at once.
class Client {
 public:
  /// Does not connect yet.
  /// Errors: kInvalid  the URL, or a header that cannot be sent.
  ///         kUsage    the CA file cannot be read.
  static Result<std::unique_ptr<Client>> Create(ClientOptions options);
  ~Client();
  Client(const Client&) = delete;
  Client& operator=(const Client&) = delete;

  /// Any status is an answer.
  /// Errors: kUnavailable  nobody is there, the link broke, or the time is over.
  ///         kInvalid      the server's certificate is not to be trusted; it does not speak HTTP;
  ///         the
  ///                       answer is larger than response_bytes; a header or target that cannot be
  ///                       sent.
  ///         kExhausted    no threads or descriptors to look for the host with.
  ///         kCancelled    the stop was asked for.
  Result<ClientResponse> Send(const ClientRequest& request, const sys::Stop& stop);

  /// As Send, but of an answer with status 200 to 299 the body goes to `take` piece by piece, as it
  /// comes, and not into the response. When `take` returns false the call ends well and the
  /// connection is closed.
  Result<ClientResponse> Stream(const ClientRequest& request, const sys::Stop& stop,
                                const std::function<bool(std::string_view)>& take);

  Delivery delivery() const;
  /// How many connections were made so far.
  int64_t connections_made() const;
  void Disconnect();

 private:
  struct Link;
  explicit Client(std::unique_ptr<Link> link);

  std::unique_ptr<Link> link_;
};

}  // namespace weir::net
