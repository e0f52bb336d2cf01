#include "weir/net/routes.h"

#include <algorithm>

#include "weir/base/assert.h"

namespace weir::net {
namespace {

bool IsParameter(std::string_view segment) {
  return segment.size() > 2 && segment.front() == '{' && segment.back() == '}';
}

/// A text that sorts fixed segments before parameters, and is the same for the same paths.
std::string Shape(const std::vector<std::string>& segments) {
  std::string shape;
  for (const std::string& segment : segments) {
    shape.append(IsParameter(segment) ? "\xFF" : segment).append("/");
  }
  return shape;
}

bool Fits(const std::vector<std::string>& pattern, const std::vector<std::string>& segments) {
  return std::equal(pattern.begin(), pattern.end(), segments.begin(), segments.end(),
                    [](const std::string& want, const std::string& is) {
                      return IsParameter(want) ? !is.empty() : want == is;
                    });
}

}  // namespace

void Routes::Add(Method method, std::string_view path, Handler handler,
                 std::optional<int64_t> body_bytes) {
  WEIR_ASSERT(path.starts_with('/') && handler != nullptr);
  Route route{method, {}, std::move(handler), body_bytes};
  while (!path.empty()) {
    path.remove_prefix(1);
    const std::string_view segment = path.substr(0, path.find('/'));
    path.remove_prefix(segment.size());
    WEIR_ASSERT(IsParameter(segment) || segment.find_first_of("{}") == std::string_view::npos);
    route.segments.emplace_back(segment);
  }
  const std::string shape = Shape(route.segments);
  auto at = routes_.begin();
  while (at != routes_.end() && Shape(at->segments) <= shape) {
    WEIR_ASSERT(at->method != method || Shape(at->segments) != shape);
    ++at;
  }
  routes_.insert(at, std::move(route));
}

RouteMatch Routes::Find(std::optional<Method> method,
                        const std::vector<std::string>& segments) const {
  RouteMatch match;
  std::vector<Method> known;
  const auto knows = [&](Method wanted) {
    return std::find(known.begin(), known.end(), wanted) != known.end();
  };
  for (const Route& route : routes_) {
    if (!Fits(route.segments, segments)) continue;
    known.push_back(route.method);
    const bool better = match.route == nullptr || match.route->method != method;
    if (route.method == method && better) match.route = &route;
    if (method == Method::kHead && route.method == Method::kGet && match.route == nullptr) {
      match.route = &route;
    }
  }
  if (match.route != nullptr) {
    for (size_t at = 0; at < segments.size(); ++at) {
      if (IsParameter(match.route->segments[at])) match.parameters.push_back(segments[at]);
    }
    return match;
  }
  if (knows(Method::kGet)) known.push_back(Method::kHead);
  for (const Method each : kMethods) {
    if (!knows(each)) continue;
    match.allowed.append(match.allowed.empty() ? "" : ", ").append(MethodName(each));
  }
  return match;
}

}  // namespace weir::net
