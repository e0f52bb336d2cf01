#include "weir/experiment/bench_source.h"

#include <unistd.h>

#include <algorithm>
#include <cstdlib>

#include "weir/base/log.h"
#include "weir/pg/connection.h"

namespace weir::experiment {
namespace {

// Reading must meet nothing but reading: no vacuum, no checkpoint of what the seeding left, no WAL
// for it either. The tables can be made again, so fsync is off (LocalServerOptions::durable).
const std::map<std::string, std::string> kServerSettings = {
    {"shared_buffers", "512MB"},      {"autovacuum", "off"}, {"wal_level", "minimal"},
    {"max_wal_senders", "0"},         {"max_wal_size", "16GB"},
    {"checkpoint_timeout", "1d"},     {"jit", "off"},
};

constexpr const char* kAskSettings =
    "SELECT name, current_setting(name) FROM pg_settings WHERE name IN ("
    "'server_version', 'shared_buffers', 'autovacuum', 'fsync', 'wal_level', 'jit', "
    "'checkpoint_timeout', 'max_wal_size') ORDER BY name";

std::string Quoted(const std::string& text) {
  std::string quoted = "'";
  for (const char c : text) {
    if (c == '\'' || c == '\\') quoted += '\\';
    quoted += c;
  }
  return quoted + "'";
}

Result<std::unique_ptr<pg::Connection>> Connect(const std::string& url, const sys::Stop& stop) {
  WEIR_TRY(pg::Target target, pg::Target::Parse(url));
  return pg::Connection::Open(std::move(target), "weir/bench", stop, pg::kNoBound);
}

}  // namespace

Result<ChildAddress> AddressOf(const pg::Target& target) {
  ChildAddress address;
  for (const auto& [keyword, value] : target.keywords()) {
    if (keyword == "sslpassword") {
      return Fail(Code::kUsage, "a URL with sslpassword cannot be handed to psql without showing "
                                "it: use a key without a passphrase");
    }
    if (keyword == "password") {
      address.environment.push_back("PGPASSWORD=" + value);
      continue;
    }
    if (!address.conninfo.empty()) address.conninfo += ' ';
    address.conninfo += keyword + "=" + Quoted(value);
  }
  return address;
}

Result<std::unique_ptr<BenchSource>> BenchSource::Open(const std::string& url,
                                                       const std::string& folder, Socket socket,
                                                       const sys::Stop& stop) {
  std::unique_ptr<BenchSource> source(new BenchSource(socket, stop));
  source->url_ = url;
  if (!url.empty()) return source;

  pg::LocalServerOptions options;
  options.folder = sys::JoinPath(folder, "server");
  options.keep = true;
  options.durable = false;
  options.listen_tcp = socket == Socket::kTcp;
  options.settings = kServerSettings;
  if (const Status checked = pg::CheckServerFolder(options.folder); !checked.ok()) {
    LogWarn("{}; the private server goes elsewhere, and a later run seeds its tables again",
            checked.error().message);
    options.folder.clear();
    options.keep = false;
  }
  WEIR_TRY(source->server_, pg::LocalServer::Start(std::move(options)));
  source->url_ = source->PrivateUrl("postgres");
  return source;
}

Result<std::string> BenchSource::Database(const std::string& name) {
  if (!is_private()) return url_;
  WEIR_TRY(const auto connection, Connect(url_, stop_));
  WEIR_TRY(const pg::Rows found,
           connection->Query("SELECT 1 FROM pg_database WHERE datname = $1", {name}));
  if (found.empty()) WEIR_DO(server_->CreateDatabase(name));
  return PrivateUrl(name);
}

std::string BenchSource::PrivateUrl(const std::string& database) const {
  return socket_ == Socket::kTcp ? server_->tcp_url(database) : server_->url(database);
}

Result<Settings> BenchSource::ServerSettings() {
  WEIR_TRY(const auto connection, Connect(url_, stop_));
  WEIR_TRY(const pg::Rows rows, connection->Query(kAskSettings));
  Settings settings;
  for (const pg::Row& row : rows) {
    settings.Set("server." + row[0].value_or(""), row[1].value_or(""));
  }
  WEIR_TRY(const pg::Row address, connection->QueryRow("SELECT inet_client_addr()"));
  settings.Set("server.socket", address[0] ? "TCP" : "Unix");
  settings.Set("server.private", is_private() ? "yes" : "no");
  return settings;
}

Result<std::string> FindClientProgram(const std::string& name) {
  if (const auto folder = pg::FindServerPrograms(); folder.ok()) {
    const std::string path = sys::JoinPath(folder.value(), name);
    if (access(path.c_str(), X_OK) == 0) return path;
  }
  const char* folders = std::getenv("PATH");
  std::string_view left = folders == nullptr ? "" : folders;
  while (!left.empty()) {
    const size_t end = std::min(left.find(':'), left.size());
    const std::string path = sys::JoinPath(left.substr(0, end), name);
    if (access(path.c_str(), X_OK) == 0) return path;
    left.remove_prefix(std::min(end + 1, left.size()));
  }
  return Fail(Code::kNotFound,
              "no program {} on this machine: install the package `postgresql-client`, or put it "
              "on PATH",
              name);
}

Result<std::string> AskOne(const std::string& url, const std::string& sql, const sys::Stop& stop) {
  WEIR_TRY(const auto connection, Connect(url, stop));
  WEIR_TRY(const pg::Row row, connection->QueryRow(sql));
  return row[0].value_or("");
}

}  // namespace weir::experiment
