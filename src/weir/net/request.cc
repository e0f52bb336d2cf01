#include "weir/net/request.h"

#include <algorithm>
#include <iterator>

#include "weir/base/utf8.h"

namespace weir::net {
namespace {

constexpr std::string_view kMethodNames[] = {"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE"};
static_assert(std::size(kMethodNames) == std::size(kMethods));

constexpr std::pair<int, std::string_view> kStatusWords[] = {
    {100, "Continue"},
    {200, "OK"},
    {201, "Created"},
    {202, "Accepted"},
    {204, "No Content"},
    {301, "Moved Permanently"},
    {302, "Found"},
    {303, "See Other"},
    {304, "Not Modified"},
    {307, "Temporary Redirect"},
    {308, "Permanent Redirect"},
    {400, "Bad Request"},
    {401, "Unauthorized"},
    {403, "Forbidden"},
    {404, "Not Found"},
    {405, "Method Not Allowed"},
    {406, "Not Acceptable"},
    {408, "Request Timeout"},
    {409, "Conflict"},
    {410, "Gone"},
    {411, "Length Required"},
    {412, "Precondition Failed"},
    {413, "Content Too Large"},
    {414, "URI Too Long"},
    {415, "Unsupported Media Type"},
    {417, "Expectation Failed"},
    {422, "Unprocessable Content"},
    {429, "Too Many Requests"},
    {431, "Request Header Fields Too Large"},
    {500, "Internal Server Error"},
    {501, "Not Implemented"},
    {502, "Bad Gateway"},
    {503, "Service Unavailable"},
    {504, "Gateway Timeout"},
    {505, "HTTP Version Not Supported"},
};

}  // namespace

std::string_view MethodName(Method method) { return kMethodNames[static_cast<size_t>(method)]; }

std::optional<Method> ParseMethod(std::string_view word) {
  for (const Method method : kMethods) {
    if (MethodName(method) == word) return method;
  }
  return std::nullopt;
}

std::optional<std::string_view> Request::Query(std::string_view name) const {
  for (const QueryPair& pair : target.query) {
    if (pair.name == name) return pair.value;
  }
  return std::nullopt;
}

std::string_view StatusWords(int status) {
  const auto* found = std::lower_bound(
      std::begin(kStatusWords), std::end(kStatusWords), status,
      [](const std::pair<int, std::string_view>& row, int wanted) { return row.first < wanted; });
  return found != std::end(kStatusWords) && found->first == status ? found->second : "Status";
}

std::string JsonText(std::string_view text) {
  std::string quoted = "\"";
  while (!text.empty()) {
    const size_t bytes = CharacterBytes(text);
    const char first = text.front();
    if (bytes == 0) {
      quoted.append("\\ufffd");
    } else if (first == '"' || first == '\\') {
      quoted.append({'\\', first});
    } else if (static_cast<unsigned char>(first) < 0x20) {
      quoted.append(fmt::format("\\u{:04x}", static_cast<unsigned>(first)));
    } else {
      quoted.append(text.substr(0, bytes));
    }
    text.remove_prefix(std::max<size_t>(bytes, 1));
  }
  quoted.push_back('"');
  return quoted;
}

Response ErrorResponse(int status, std::string_view message) {
  Response response;
  response.status = status;
  response.body = fmt::format("{{\"error\": {}}}\n", JsonText(message));
  return response;
}

}  // namespace weir::net
