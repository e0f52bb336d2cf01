#include "weir/base/secret.h"

#include <algorithm>

namespace weir {
namespace {

constexpr std::string_view kHidden = "***";

bool IsBlank(char c) { return c == ' ' || c == '\n' || c == '\t' || c == '\r'; }

// Of a URL after its "://": user:password@host:port/database?parameters, where a password may hold
// raw @ and / by mistake, or stand where the port should because the host was forgotten.
void AppendAuthority(std::string_view url, std::string& out) {
  const size_t query = url.find('?');
  const size_t at = url.substr(0, query).rfind('@');
  const size_t colon = url.find(':');
  if (colon >= std::min(query, url.size())) {
    out += url;
    return;
  }
  if (at != url.npos && colon < at) {
    out.append(url.substr(0, colon + 1)).append(kHidden).append(url.substr(at));
    return;
  }
  const std::string_view rest = url.substr(colon + 1);
  const size_t end = std::min(rest.find_first_not_of("0123456789"), rest.size());
  const bool is_port = at != url.npos || end == rest.size() || rest[end] == '/' || rest[end] == '?';
  out.append(url.substr(0, colon + 1));
  if (is_port) {
    out += rest;
  } else {
    out.append(kHidden);
  }
}

// Past the value of "password=": quoted, or up to a blank or the next parameter of a URL.
size_t ValueEnd(std::string_view text, size_t at) {
  if (at < text.size() && text[at] == '\'') {
    for (++at; at < text.size() && text[at] != '\''; ++at) {
      if (text[at] == '\\') ++at;
    }
    return std::min(at + 1, text.size());
  }
  while (at < text.size() && !IsBlank(text[at]) && text[at] != '&') ++at;
  return at;
}

std::string HideValues(std::string_view text) {
  constexpr std::string_view kKey = "password=";
  std::string out;
  while (true) {
    const size_t key = text.find(kKey);
    if (key == text.npos) return out.append(text);
    out.append(text.substr(0, key)).append(kKey).append(kHidden);
    text.remove_prefix(ValueEnd(text, key + kKey.size()));
  }
}

}  // namespace

std::string HidePasswords(std::string_view text) {
  constexpr std::string_view kScheme = "://";
  const std::string hidden = HideValues(text);
  std::string_view rest = hidden;
  std::string out;
  while (true) {
    const size_t scheme = rest.find(kScheme);
    if (scheme == rest.npos) return out.append(rest);
    const size_t start = scheme + kScheme.size();
    out.append(rest.substr(0, start));
    rest.remove_prefix(start);
    const auto blank = std::find_if(rest.begin(), rest.end(), IsBlank);
    const auto end = static_cast<size_t>(blank - rest.begin());
    AppendAuthority(rest.substr(0, end), out);
    rest.remove_prefix(end);
  }
}

}  // namespace weir
