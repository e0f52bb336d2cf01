#pragma once
// Routes: which handler answers which method and path.
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "weir/net/request.h"
#include "weir/net/responder.h"

namespace weir::net {

/// Answers one request through `responder`, now or later, from this thread or another.
///
/// Threads: called on one of the server's own, several at once. It must not block: others wait.
using Handler = std::function<void(Request request, Responder responder)>;

struct Route {
  Method method;
  std::vector<std::string> segments;  ///< "{...}" stands for any segment that is not empty.
  Handler handler;
  std::optional<int64_t> body_bytes;  ///< The most a body may have; none: the server's limit.
};

/// What a request's method and path lead to.
struct RouteMatch {
  const Route* route = nullptr;         ///< Null: no such path, or not with this method.
  std::vector<std::string> parameters;  ///< What stood for each {name}.
  std::string allowed;                  ///< With no route: "GET, HEAD" where the path is known.
};

/// The table of a server. Built first, then read by all its threads.
class Routes {
 public:
  /// `path` as "/api/jobs/{id}". GET answers HEAD too, where nothing else does.
  /// Requires: the path begins with a slash; a parameter is a whole segment; no other route takes
  ///           the same method and the same paths.
  void Add(Method method, std::string_view path, Handler handler,
           std::optional<int64_t> body_bytes = std::nullopt);

  /// A route with fixed text goes before one with a parameter, judged segment by segment. No
  /// method: one that is not in the list of methods.
  RouteMatch Find(std::optional<Method> method, const std::vector<std::string>& segments) const;

 private:
  std::vector<Route> routes_;
};

}  // namespace weir::net
