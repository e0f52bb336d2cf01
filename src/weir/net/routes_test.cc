#include "weir/net/routes.h"

namespace weir::net {
namespace {

void Nothing(Request, Responder) {}

Routes Some() {
  Routes routes;
  routes.Add(Method::kGet, "/", Nothing);
  routes.Add(Method::kGet, "/jobs/{id}", Nothing);
  routes.Add(Method::kDelete, "/jobs/{id}", Nothing);
  routes.Add(Method::kGet, "/jobs/stats", Nothing);
  routes.Add(Method::kGet, "/{kind}/{id}/logs", Nothing, 7);
  routes.Add(Method::kHead, "/jobs/stats", Nothing);
  return routes;
}

std::string Shown(const Routes& routes, std::optional<Method> method, std::string_view path) {
  const RouteMatch match = routes.Find(method, ParseTarget(path).value().segments);
  if (match.route == nullptr) return match.allowed.empty() ? "404" : "405 " + match.allowed;
  std::string text(MethodName(match.route->method));
  for (const std::string& segment : match.route->segments) text.append("/").append(segment);
  for (const std::string& parameter : match.parameters) text.append(" ").append(parameter);
  return text;
}

TEST(Routes, FindsByMethodAndPath) {
  const Routes routes = Some();
  const struct {
    std::optional<Method> method;
    std::string_view path;
    std::string_view want;
  } rows[] = {
      {Method::kGet, "/", "GET/"},
      {Method::kGet, "/jobs/7", "GET/jobs/{id} 7"},
      {Method::kGet, "/jobs/a%2Fb", "GET/jobs/{id} a/b"},
      {Method::kGet, "/jobs/stats", "GET/jobs/stats"},  // Fixed text goes first.
      {Method::kDelete, "/jobs/stats", "DELETE/jobs/{id} stats"},
      {Method::kHead, "/jobs/7", "GET/jobs/{id} 7"},
      {Method::kHead, "/jobs/stats", "HEAD/jobs/stats"},
      {Method::kGet, "/jobs/7/logs", "GET/{kind}/{id}/logs jobs 7"},
      {Method::kPost, "/jobs/7", "405 GET, HEAD, DELETE"},
      {std::nullopt, "/jobs/7", "405 GET, HEAD, DELETE"},
      {std::nullopt, "/", "405 GET, HEAD"},
      {Method::kGet, "/jobs", "404"},
      {Method::kGet, "/jobs/", "404"},  // A parameter is not empty.
      {Method::kGet, "//", "404"},
      {Method::kGet, "/jobs/7/logs/1", "404"},
      {std::nullopt, "/nowhere", "404"},
  };
  for (const auto& row : rows) EXPECT_EQ(Shown(routes, row.method, row.path), row.want) << row.path;
  EXPECT_EQ(routes.Find(Method::kGet, {"a", "b", "logs"}).route->body_bytes, 7);
}

TEST(RoutesDeathTest, MistakesOfTheProgramAbort) {
  Routes routes = Some();
  EXPECT_DEATH(routes.Add(Method::kGet, "jobs", Nothing), "starts_with");
  EXPECT_DEATH(routes.Add(Method::kGet, "/jobs/{other}", Nothing), "shape");
  EXPECT_DEATH(routes.Add(Method::kGet, "/jobs/x{id}", Nothing), "IsParameter");
  EXPECT_DEATH(routes.Add(Method::kGet, "/empty", nullptr), "handler");
}

}  // namespace
}  // namespace weir::net
