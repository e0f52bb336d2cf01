#include "weir/config/connection.h"

#include <arpa/inet.h>

#include <algorithm>
#include <map>
#include <string_view>
#include <vector>

namespace weir::config {
namespace {

constexpr int64_t kMaxUrlFileBytes = 65'536;

using Parameters = std::map<std::string, std::string>;

// The bytes that %XX stands for; nothing when a % is followed by anything else.
std::optional<std::string> PercentDecoded(std::string_view text) {
  const auto digit = [](char c) {
    if (c >= '0' && c <= '9') return c - '0';
    const char lower = static_cast<char>(c | 0x20);
    return lower >= 'a' && lower <= 'f' ? lower - 'a' + 10 : -1;
  };
  std::string out;
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '%') {
      out += text[i];
      continue;
    }
    if (i + 2 >= text.size() || digit(text[i + 1]) < 0 || digit(text[i + 2]) < 0) {
      return std::nullopt;
    }
    out += static_cast<char>(digit(text[i + 1]) * 16 + digit(text[i + 2]));
    i += 2;
  }
  return out;
}

// The hosts of "[::1]:5432,db:5433", joined by commas as libpq keeps them.
std::optional<std::string> HostsOf(std::string_view list) {
  std::string hosts;
  while (true) {
    std::string_view host;
    if (!list.empty() && list.front() == '[') {
      const size_t close = list.find(']');
      if (close == list.npos) return std::nullopt;
      host = list.substr(1, close - 1);
      list.remove_prefix(close + 1);
    } else {
      host = list.substr(0, list.find_first_of(":,"));
      list.remove_prefix(host.size());
    }
    const auto decoded = PercentDecoded(host);
    if (!decoded.has_value()) return std::nullopt;
    hosts += *decoded;
    const size_t comma = list.find(',');
    if (comma == list.npos) return hosts;
    hosts += ',';
    list.remove_prefix(comma + 1);
  }
}

// Splits a URL as libpq does, keeping what decides where it leads. Nothing when it is not one.
std::optional<Parameters> ParseUrl(std::string_view url) {
  Parameters found;
  url.remove_prefix(url.find("://") + 3);
  const size_t user_end = url.find_first_of("@/");
  if (user_end != url.npos && url[user_end] == '@') url.remove_prefix(user_end + 1);
  const auto hosts = HostsOf(url.substr(0, url.find_first_of("/?")));
  if (!hosts.has_value()) return std::nullopt;
  if (!hosts->empty()) found["host"] = *hosts;

  const size_t question = url.find('?');
  if (question == url.npos) return found;
  for (std::string_view rest = url.substr(question + 1); !rest.empty();) {
    const std::string_view pair = rest.substr(0, rest.find('&'));
    rest.remove_prefix(std::min(rest.size(), pair.size() + 1));
    const size_t equals = pair.find('=');
    if (equals == pair.npos) return std::nullopt;
    const auto key = PercentDecoded(pair.substr(0, equals));
    const auto value = PercentDecoded(pair.substr(equals + 1));
    if (!key.has_value() || !value.has_value()) return std::nullopt;
    if (*key == "ssl" && *value == "true") {
      found["sslmode"] = "require";
    } else {
      found[*key] = *value;
    }
  }
  return found;
}

// Splits "host=db user='o''brien'": libpq's keyword string. Nothing when it is not one.
std::optional<Parameters> ParseKeywords(std::string_view text) {
  constexpr std::string_view kSpace = " \t\r\n\f\v";
  Parameters found;
  size_t at = 0;
  const auto skip_space = [&] { at = std::min(text.find_first_not_of(kSpace, at), text.size()); };
  for (skip_space(); at < text.size(); skip_space()) {
    const size_t key_end = std::min(text.find_first_of(" \t\r\n\f\v=", at), text.size());
    const std::string key(text.substr(at, key_end - at));
    at = key_end;
    skip_space();
    if (key.empty() || at == text.size() || text[at] != '=') return std::nullopt;
    ++at;
    skip_space();
    const bool quoted = at < text.size() && text[at] == '\'';
    if (quoted) ++at;
    std::string value;
    bool closed = !quoted;
    for (; at < text.size(); ++at) {
      if (quoted && text[at] == '\'') {
        closed = true;
        ++at;
        break;
      }
      if (!quoted && kSpace.find(text[at]) != kSpace.npos) break;
      if (text[at] == '\\' && at + 1 < text.size()) ++at;
      value += text[at];
    }
    if (!closed) return std::nullopt;
    found[key] = value;
  }
  return found;
}

std::optional<Parameters> Parse(const std::string& conninfo) {
  if (conninfo.starts_with("postgres://") || conninfo.starts_with("postgresql://")) {
    return ParseUrl(conninfo);
  }
  return ParseKeywords(conninfo);
}

// Empty is libpq's default, a Unix socket.
bool StaysHere(std::string_view host) {
  if (host.empty() || host == "localhost") return true;
  if (host.front() == '/' || host.front() == '@') return true;  // A socket's folder, or its name.
  const std::string text(host);
  in_addr v4{};
  if (inet_pton(AF_INET, text.c_str(), &v4) == 1) return ntohl(v4.s_addr) >> 24 == 127;
  in6_addr v6{};
  return inet_pton(AF_INET6, text.c_str(), &v6) == 1 && IN6_IS_ADDR_LOOPBACK(&v6);
}

bool AllStayHere(std::string_view hosts) {
  while (true) {
    const size_t comma = hosts.find(',');
    if (!StaysHere(hosts.substr(0, comma))) return false;
    if (comma == hosts.npos) return true;
    hosts.remove_prefix(comma + 1);
  }
}

// A parameter as libpq sees it: the connection string's, else the environment's.
std::string Effective(const Parameters& parameters, const std::string& key,
                      const std::string& variable, const GetEnv& get_env) {
  const auto found = parameters.find(key);
  if (found != parameters.end()) return found->second;
  return get_env(variable).value_or("");
}

bool NeedsTls(const Parameters& parameters, const GetEnv& get_env) {
  const std::string mode = Effective(parameters, "sslmode", "PGSSLMODE", get_env);
  const auto written = parameters.find("sslmode");
  if (written != parameters.end() && written->second == "disable") return false;  // It is meant.
  if (mode == "require" || mode == "verify-ca" || mode == "verify-full") return false;
  if (!Effective(parameters, "service", "PGSERVICE", get_env).empty()) return true;
  // hostaddr is where the bytes go; host is then only a name to verify.
  const std::string address = Effective(parameters, "hostaddr", "PGHOSTADDR", get_env);
  if (!address.empty()) return !AllStayHere(address);
  return !AllStayHere(Effective(parameters, "host", "PGHOST", get_env));
}

constexpr std::string_view kInTheClear =
    "the host is remote and nothing asks for TLS, so the password and the rows would cross the "
    "network in the clear";

// value as libpq's keyword strings take it.
std::string Quoted(std::string_view value) {
  std::string out = "'";
  for (const char c : value) {
    if (c == '\'' || c == '\\') out += '\\';
    out += c;
  }
  return out + "'";
}

Result<std::string> FromStructure(const SourceConfig& source, const GetEnv& get_env) {
  std::string conninfo = fmt::format("host={} port={}", Quoted(source.host), source.port);
  if (!source.user.empty()) conninfo += " user=" + Quoted(source.user);
  if (!source.database.empty()) conninfo += " dbname=" + Quoted(source.database);
  std::string password = source.password.Reveal();
  if (!source.password_env.empty()) {
    const auto found = get_env(source.password_env);
    if (!found.has_value()) {
      return Fail(Code::kUsage,
                  "source.password_env: environment variable '{}' is not set; set it to the "
                  "password",
                  source.password_env);
    }
    password = *found;
  }
  if (!password.empty()) conninfo += " password=" + Quoted(password);
  return conninfo;
}

Result<std::string> FromUrl(const SourceConfig& source, sys::Files& files, const GetEnv& get_env) {
  if (!source.url.empty()) return source.url.Reveal();
  if (!source.url_env.empty()) {
    const auto found = get_env(source.url_env);
    if (!found.has_value() || found->empty()) {
      return Fail(Code::kUsage,
                  "source.url_env: environment variable '{}' is not set; set it to the source's "
                  "URL",
                  source.url_env);
    }
    return *found;
  }
  auto text = files.Read(source.url_file, kMaxUrlFileBytes);
  if (!text.ok()) return Fail(Code::kUsage, "source.url_file: {}", text.error().message);
  std::string line = text.value().substr(0, text.value().find_first_of("\r\n"));
  if (line.empty()) {
    return Fail(Code::kUsage,
                "source.url_file: the first line of '{}' is empty; write the source's URL there",
                source.url_file);
  }
  return line;
}

}  // namespace

Result<Connection> ResolveConnection(const SourceConfig& source, sys::Files& files,
                                     const GetEnv& get_env) {
  WEIR_TRY(std::string conninfo, source.host.empty() ? FromUrl(source, files, get_env)
                                                     : FromStructure(source, get_env));
  const auto parameters = Parse(conninfo);
  if (!parameters.has_value() || conninfo.find('\0') != conninfo.npos) {
    return Fail(Code::kUsage,
                "source: the connection string is malformed (it is not shown, as it may hold a "
                "password); write postgresql://USER:PASSWORD@HOST:PORT/DATABASE with odd "
                "characters as %XX");
  }
  if (!source.tls.has_value() && NeedsTls(*parameters, get_env)) {
    return Fail(Code::kUsage,
                "source: {}; add tls: {{mode: verify-full}} to the source, or {{mode: disable}} to "
                "accept that",
                kInTheClear);
  }
  return Connection{Secret(std::move(conninfo)), source.tls};
}

Status CheckTls(const std::string& conninfo, const GetEnv& get_env) {
  const auto parameters = Parse(conninfo);
  if (parameters.has_value() && !NeedsTls(*parameters, get_env)) return Ok();
  return Fail(Code::kUsage,
              "{}; end the URL with ?sslmode=require, or with ?sslmode=disable to accept that",
              kInTheClear);
}

}  // namespace weir::config
