#pragma once
// Request and Response: what a handler gets, and what it gives.
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "weir/net/headers.h"
#include "weir/net/target.h"

namespace weir::net {

enum class Method : uint8_t { kGet, kHead, kPost, kPut, kPatch, kDelete };
inline constexpr Method kMethods[] = {Method::kGet, Method::kHead,  Method::kPost,
                                      Method::kPut, Method::kPatch, Method::kDelete};

/// "GET"; ParseMethod is its reverse, none for a word that is not in the list.
std::string_view MethodName(Method method);
std::optional<Method> ParseMethod(std::string_view word);

/// One request, complete and checked.
struct Request {
  Method method = Method::kGet;
  Target target;                             ///< Decoded: UTF-8, no control characters, no "..".
  std::vector<std::string> parameters = {};  ///< What stood for each {name} of the route, in order.
  HeaderList headers = {};                   ///< Of the wire: any bytes but control characters.
  std::string body = {};
  std::string peer = {};  ///< "127.0.0.1:50123". Behind a proxy, the proxy's.

  /// The first value in the query under `name`; none when it is not there.
  std::optional<std::string_view> Query(std::string_view name) const;
};

struct Response {
  int status = 200;
  std::string body = {};
  std::string content_type = "application/json";
  /// Further fields; Date, Content-Length, Content-Type, Connection and Transfer-Encoding are the
  /// server's. One that is not a token and a text without control characters makes it status 500.
  std::vector<std::pair<std::string, std::string>> headers = {};
};

/// `{"error": "..."}` under `status`.
Response ErrorResponse(int status, std::string_view message);
/// "Not Found" for 404; "Status" for a number that has no words here.
std::string_view StatusWords(int status);
/// `text` between quotes as JSON has it. Bytes that are not UTF-8 become U+FFFD.
std::string JsonText(std::string_view text);

}  // namespace weir::net
