#include "weir/net/target.h"

#include <algorithm>
#include <charconv>
#include <optional>

#include "weir/base/printable.h"
#include "weir/base/utf8.h"
#include "weir/net/headers.h"

namespace weir::net {
namespace {

int HexDigit(char digit) {
  if (digit >= '0' && digit <= '9') return digit - '0';
  if (digit >= 'a' && digit <= 'f') return digit - 'a' + 10;
  if (digit >= 'A' && digit <= 'F') return digit - 'A' + 10;
  return -1;
}

bool IsUtf8(std::string_view text) {
  while (!text.empty()) {
    const size_t bytes = CharacterBytes(text);
    if (bytes == 0) return false;
    text.remove_prefix(bytes);
  }
  return true;
}

bool HasControl(std::string_view text) {
  return std::any_of(text.begin(), text.end(), [](char letter) {
    const auto byte = static_cast<unsigned char>(letter);
    return byte < 0x20 || byte == 0x7F;
  });
}

enum class Plus { kIsPlus, kIsSpace };

Result<std::string> Decode(std::string_view text, Plus plus) {
  std::string decoded;
  decoded.reserve(text.size());
  for (size_t at = 0; at < text.size(); ++at) {
    if (text[at] == '+' && plus == Plus::kIsSpace) {
      decoded.push_back(' ');
    } else if (text[at] != '%') {
      decoded.push_back(text[at]);
    } else {
      const int high = at + 2 < text.size() ? HexDigit(text[at + 1]) : -1;
      const int low = at + 2 < text.size() ? HexDigit(text[at + 2]) : -1;
      if (high < 0 || low < 0) {
        return Fail(Code::kInvalid,
                    "a percent sign without two hexadecimal digits after it; write "
                    "%25 for the sign itself");
      }
      decoded.push_back(static_cast<char>(high * 16 + low));
      at += 2;
    }
  }
  if (HasControl(decoded)) {
    return Fail(Code::kInvalid, "a control character; leave it out");
  }
  if (!IsUtf8(decoded)) {
    return Fail(Code::kInvalid, "text that is not UTF-8; encode it as UTF-8 first");
  }
  return decoded;
}

Status ParsePath(std::string_view path, std::vector<std::string>& segments) {
  if (path.empty() || path.front() != '/') {
    return Fail(Code::kInvalid, "the path does not begin with a slash");
  }
  while (!path.empty()) {
    path.remove_prefix(1);
    const std::string_view raw = path.substr(0, path.find('/'));
    path.remove_prefix(raw.size());
    WEIR_TRY(std::string segment, Decode(raw, Plus::kIsPlus), "the path has");
    if (segment == "." || segment == "..") {
      return Fail(Code::kInvalid, "the path has the segment \"{}\"; write the path without it",
                  segment);
    }
    if (segments.size() == kMostSegments) {
      return Fail(Code::kInvalid, "the path has more than {} segments", kMostSegments);
    }
    segments.push_back(std::move(segment));
  }
  return Ok();
}

Result<uint16_t> ParsePort(std::string_view text) {
  uint16_t port = 0;
  const char* const end = text.data() + text.size();
  const auto [stopped, error] = std::from_chars(text.data(), end, port);
  if (text.empty() || error != std::errc() || stopped != end) {
    return Fail(Code::kInvalid, "the port '{}' is not a number from 0 to 65535", Printable(text));
  }
  return port;
}

/// What stands for host and port; the port is none where there is no colon.
struct Authority {
  std::string host;
  std::optional<uint16_t> port;
};

Status CheckHost(std::string_view host, bool bracketed) {
  constexpr size_t kMostHostBytes = 255;
  if (host.empty()) return Fail(Code::kInvalid, "there is no host");
  if (host.size() > kMostHostBytes) return Fail(Code::kInvalid, "the host is over 255 bytes long");
  const bool fits = std::all_of(host.begin(), host.end(), [&](char letter) {
    if (bracketed) return HexDigit(letter) >= 0 || letter == ':' || letter == '.';
    return (letter >= 'a' && letter <= 'z') || (letter >= 'A' && letter <= 'Z') ||
           (letter >= '0' && letter <= '9') || letter == '-' || letter == '.' || letter == '_';
  });
  if (!fits) {
    return Fail(Code::kInvalid,
                "the host '{}' is neither a name nor an address; IPv6 addresses stand in brackets",
                Printable(host));
  }
  return Ok();
}

Result<Authority> ParseAuthority(std::string_view text) {
  Authority authority;
  std::string_view rest;
  if (text.starts_with('[')) {
    const size_t end = text.find(']');
    if (end == std::string_view::npos) return Fail(Code::kInvalid, "the bracket is not closed");
    WEIR_DO(CheckHost(text.substr(1, end - 1), true));
    authority.host = LowerCase(text.substr(1, end - 1));
    rest = text.substr(end + 1);
  } else {
    const size_t end = std::min(text.find(':'), text.size());
    WEIR_DO(CheckHost(text.substr(0, end), false));
    authority.host = LowerCase(text.substr(0, end));
    rest = text.substr(end);
  }
  if (rest.empty()) return authority;
  if (rest.front() != ':') return Fail(Code::kInvalid, "only a port may follow the bracket");
  WEIR_TRY(authority.port, ParsePort(rest.substr(1)));
  return authority;
}

bool StartsIgnoringCase(std::string_view text, std::string_view prefix) {
  return text.size() >= prefix.size() && SameIgnoringCase(text.substr(0, prefix.size()), prefix);
}

/// Takes "http://" or "https://" off the front; none when neither stands there.
std::optional<bool> TakeScheme(std::string_view& text) {
  for (const bool tls : {false, true}) {
    const std::string_view scheme = tls ? "https://" : "http://";
    if (!StartsIgnoringCase(text, scheme)) continue;
    text.remove_prefix(scheme.size());
    return tls;
  }
  return std::nullopt;
}

Result<Url> ParseUrlParts(std::string_view text) {
  Url url;
  const std::optional<bool> tls = TakeScheme(text);
  if (!tls) return Fail(Code::kInvalid, "it begins with neither http:// nor https://");
  url.tls = *tls;
  const std::string_view before_path = text.substr(0, text.find_first_of("/?#"));
  if (before_path.find('@') != std::string_view::npos) {
    return Fail(Code::kInvalid, "it names a user or password, which do not belong in a URL");
  }
  WEIR_TRY(const Authority authority, ParseAuthority(before_path));
  url.host = authority.host;
  url.port = authority.port.value_or(url.tls ? 443 : 80);
  if (url.port == 0) return Fail(Code::kInvalid, "nobody can be reached at port 0");
  std::string_view path = text.substr(before_path.size());
  if (path.find_first_of("?#") != std::string_view::npos) {
    return Fail(Code::kInvalid, "it has a query or fragment; end it before the ? or #");
  }
  while (path.ends_with('/')) path.remove_suffix(1);
  if (!path.empty()) {
    std::vector<std::string> segments;
    WEIR_DO(ParsePath(path, segments));
    const bool ascii = std::all_of(path.begin(), path.end(),
                                   [](char letter) { return letter > 0x20 && letter < 0x7F; });
    if (!ascii) return Fail(Code::kInvalid, "the path has a character that is not encoded");
  }
  url.path = path;
  return url;
}

}  // namespace

std::string Target::path() const {
  std::string path;
  for (const std::string& segment : segments) path.append("/").append(segment);
  return path;
}

std::string Url::authority() const {
  const bool bracketed = host.find(':') != std::string::npos;
  std::string text = bracketed ? fmt::format("[{}]", host) : host;
  if (port != (tls ? 443 : 80)) text.append(fmt::format(":{}", port));
  return text;
}

Result<Target> ParseTarget(std::string_view text) {
  if (text.size() > kMostTargetBytes) {
    return Fail(Code::kInvalid, "the target has over {} bytes", kMostTargetBytes);
  }
  if (TakeScheme(text)) {
    const std::string_view authority = text.substr(0, text.find_first_of("/?"));
    WEIR_DO(ParseAuthority(authority).ok() ? Ok() : Status(ParseAuthority(authority).error()));
    text.remove_prefix(authority.size());
    if (text.empty()) text = "/";
  }
  if (text.find('#') != std::string_view::npos) {
    return Fail(Code::kInvalid, "the target has a fragment, which only its client may see");
  }
  Target target;
  const size_t path_bytes = std::min(text.find('?'), text.size());
  WEIR_DO(ParsePath(text.substr(0, path_bytes), target.segments));
  if (path_bytes < text.size()) {
    WEIR_TRY(target.query, ParseQuery(text.substr(path_bytes + 1)));
  }
  return target;
}

Result<std::vector<QueryPair>> ParseQuery(std::string_view text) {
  std::vector<QueryPair> pairs;
  while (!text.empty()) {
    const std::string_view pair = text.substr(0, text.find('&'));
    text.remove_prefix(std::min(pair.size() + 1, text.size()));
    if (pair.empty()) continue;
    if (pairs.size() == kMostQueryPairs) {
      return Fail(Code::kInvalid, "the query has more than {} pairs", kMostQueryPairs);
    }
    const size_t name_bytes = std::min(pair.find('='), pair.size());
    const std::string_view raw_value = pair.substr(std::min(name_bytes + 1, pair.size()));
    WEIR_TRY(std::string name, Decode(pair.substr(0, name_bytes), Plus::kIsSpace), "the query has");
    WEIR_TRY(std::string value, Decode(raw_value, Plus::kIsSpace), "the query has");
    pairs.push_back({std::move(name), std::move(value)});
  }
  return pairs;
}

Result<Url> ParseUrl(std::string_view text) {
  if (text.size() > kMostTargetBytes) {
    return Fail(Code::kInvalid, "a URL has over {} bytes", kMostTargetBytes);
  }
  auto url = ParseUrlParts(text);
  if (url.ok()) return url;
  // A URL with a user may hold a password, so it is not repeated.
  const bool secret = text.find('@') != std::string_view::npos;
  return Fail(Code::kInvalid, "URL {}: {}; write it as http://host:8640",
              secret ? "(not shown)" : fmt::format("'{}'", Printable(text)), url.error().message);
}

Result<Endpoint> ParseEndpoint(std::string_view text) {
  const auto authority = ParseAuthority(text);
  const bool good = authority.ok() && authority.value().port.has_value();
  if (!good) {
    return Fail(Code::kUsage, "cannot listen on '{}': {}; write host:port, as 127.0.0.1:8640",
                Printable(text), authority.ok() ? "it has no port" : authority.error().message);
  }
  return Endpoint{authority.value().host, *authority.value().port};
}

std::string PercentEncode(std::string_view text) {
  constexpr std::string_view kDigits = "0123456789ABCDEF";
  std::string encoded;
  encoded.reserve(text.size());
  for (const char letter : text) {
    const auto byte = static_cast<unsigned char>(letter);
    const bool plain = (byte >= 'a' && byte <= 'z') || (byte >= 'A' && byte <= 'Z') ||
                       (byte >= '0' && byte <= '9') || byte == '-' || byte == '.' || byte == '_' ||
                       byte == '~';
    if (plain) {
      encoded.push_back(letter);
    } else {
      encoded.push_back('%');
      encoded.push_back(kDigits[byte >> 4]);
      encoded.push_back(kDigits[byte & 15]);
    }
  }
  return encoded;
}

std::string FormatTarget(const Target& target) {
  std::string text;
  for (const std::string& segment : target.segments) {
    text.append("/").append(PercentEncode(segment));
  }
  char mark = '?';
  for (const QueryPair& pair : target.query) {
    text.push_back(mark);
    text.append(PercentEncode(pair.name)).append("=").append(PercentEncode(pair.value));
    mark = '&';
  }
  return text;
}

}  // namespace weir::net
