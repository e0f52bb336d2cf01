#pragma once
// Targets and URLs: what stands in a request's first line, and what people write to name a server.
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "weir/base/result.h"

namespace weir::net {

/// One `name=value` of a query, decoded.
struct QueryPair {
  std::string name = {};
  std::string value = {};
  friend bool operator==(const QueryPair&, const QueryPair&) = default;
};

/// A request's target: its path in segments and its query, decoded.
///
/// Invariant: every text is UTF-8 without control characters; no segment is "." or "..". A segment
///            may hold a slash that was written %2F; it did not separate anything.
struct Target {
  std::vector<std::string> segments =
      {};  ///< "/api/jobs/7" has three, "/" has one, which is empty.
  std::vector<QueryPair> query = {};

  /// The segments with slashes between, for people; what was %2F is a slash too.
  std::string path() const;
  friend bool operator==(const Target&, const Target&) = default;
};

/// Where a server is.
struct Url {
  bool tls = false;
  std::string host = {};  ///< A name or address, without the brackets of IPv6; lower case.
  uint16_t port = 0;      ///< 80 or 443 where the text has none.
  std::string path = {};  ///< As written, still encoded; "" or begins with a slash, ends with none.

  /// "host:port" as the field Host has it: the port only where it is not the scheme's own.
  std::string authority() const;
  friend bool operator==(const Url&, const Url&) = default;
};

/// A host and a port to listen on.
struct Endpoint {
  std::string host = {};
  uint16_t port = 0;
  friend bool operator==(const Endpoint&, const Endpoint&) = default;
};

inline constexpr size_t kMostTargetBytes = 8192;  ///< More than any browser's address bar sends.
inline constexpr size_t kMostSegments = 64;
inline constexpr size_t kMostQueryPairs = 256;

/// "/path?query", "http://host/path?query", as servers must take both.
/// Errors: kInvalid, with the reason: not an absolute path, a percent sign without two digits, text
///         that is not UTF-8, a control character, "..", more than the bounds above.
Result<Target> ParseTarget(std::string_view text);

/// "a=1&b=two+words" with percent signs and plus signs decoded; a name without "=" has value "".
/// Errors: kInvalid as above.
Result<std::vector<QueryPair>> ParseQuery(std::string_view text);

/// "https://host:8640/base": a scheme, a host, and perhaps a port and a path.
/// Errors: kInvalid, naming what is wrong; a user, password, query or fragment is refused.
Result<Url> ParseUrl(std::string_view text);

/// "127.0.0.1:8640", "[::1]:0", "localhost:80".
/// Errors: kUsage with an example.
Result<Endpoint> ParseEndpoint(std::string_view text);

/// The target as ParseTarget reads it back: everything that is not a letter, a digit or one of
/// -._~ is percent-encoded.
/// Requires: at least one segment, none of them "." or "..".
std::string FormatTarget(const Target& target);
/// One segment, or one name or value of a query, percent-encoded.
std::string PercentEncode(std::string_view text);

}  // namespace weir::net
