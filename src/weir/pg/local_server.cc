#include "weir/pg/local_server.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <signal.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdio>
#include <cstdlib>

#include "weir/pg/connection.h"
#include "weir/pg/server_folder_internal.h"
#include "weir/pg/sql.h"
#include "weir/sys/files.h"

namespace weir::pg {
namespace {

using std::chrono::milliseconds;

constexpr int kOldestVersion = 12;
// Start-up may have to replay WAL after a crash; initdb takes 1 s here, more on a slow disk.
constexpr milliseconds kStartBound{300'000};
// How soon a ready server is noticed; the child's exit is noticed at once.
constexpr milliseconds kReadyInterval{5};
// A fast shutdown writes all dirty buffers; an immediate one waits 5 s for stubborn backends.
constexpr milliseconds kFastShutdownBound{60'000};
constexpr milliseconds kImmediateShutdownBound{15'000};
// Another program may take the port between our look and PostgreSQL's bind.
constexpr int kPortAttempts = 3;
constexpr int64_t kLogLimitBytes = 64 << 20;

bool HasPrograms(const std::string& folder) {
  return access(sys::JoinPath(folder, "postgres").c_str(), X_OK) == 0 &&
         access(sys::JoinPath(folder, "initdb").c_str(), X_OK) == 0;
}

std::string BinFromPgConfig() {
  std::string folder;
  std::FILE* pipe = popen("pg_config --bindir 2>/dev/null", "re");
  if (pipe == nullptr) return folder;
  std::array<char, 4096> line{};
  if (std::fgets(line.data(), line.size(), pipe) != nullptr) folder = line.data();
  pclose(pipe);
  while (!folder.empty() && folder.back() == '\n') folder.pop_back();
  return folder;
}

// "/usr/lib/postgresql/15/bin", where Debian puts each version.
std::string NewestDebianBin() {
  constexpr std::string_view kRoot = "/usr/lib/postgresql";
  sys::DiskFiles files;
  const auto names = files.List(std::string(kRoot));
  if (!names.ok()) return "";
  int newest = kOldestVersion - 1;
  for (const std::string& name : names.value()) {
    int version = 0;
    std::from_chars(name.data(), name.data() + name.size(), version);
    if (HasPrograms(fmt::format("{}/{}/bin", kRoot, name))) newest = std::max(newest, version);
  }
  return newest < kOldestVersion ? "" : fmt::format("{}/{}/bin", kRoot, newest);
}

// PostgreSQL refuses to run as root.
Result<std::optional<sys::User>> ServerUser() {
  if (geteuid() != 0) return std::optional<sys::User>();
  if (auto postgres = sys::FindUser("postgres"); postgres.ok()) {
    return std::optional(std::move(postgres).value());
  }
  WEIR_TRY(auto nobody, sys::FindUser("nobody"), "PostgreSQL does not run as root");
  return std::optional(std::move(nobody));
}

// A port of 127.0.0.1 that nobody listens on now; 0 when there is none.
int FreePort() {
  const int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (fd < 0) return 0;
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t length = sizeof address;
  int port = 0;
  if (bind(fd, reinterpret_cast<sockaddr*>(&address), length) == 0 &&
      getsockname(fd, reinterpret_cast<sockaddr*>(&address), &length) == 0) {
    port = ntohs(address.sin_port);
  }
  close(fd);
  return port;
}

std::string PercentEncoded(std::string_view text) {
  std::string encoded;
  for (const char c : text) {
    const bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                       c == '-' || c == '_' || c == '.';
    encoded += plain ? std::string(1, c) : fmt::format("%{:02X}", static_cast<unsigned char>(c));
  }
  return encoded;
}

// a"b -> "a""b": how SQL names and PostgreSQL's list settings are quoted.
std::string InDoubleQuotes(std::string text) {
  for (size_t at = 0; (at = text.find('"', at)) != text.npos; at += 2) text.insert(at, 1, '"');
  return fmt::format("\"{}\"", text);
}

std::string RandomPassword() {
  std::array<unsigned char, 16> bytes{};
  WEIR_ASSERT(getrandom(bytes.data(), bytes.size(), 0) == ssize_t{sizeof bytes});
  std::string text;
  for (const unsigned char byte : bytes) text += fmt::format("{:02x}", byte);
  return text;
}

// The n-th line of a text, from 0.
std::string_view Line(std::string_view text, int n) {
  for (; n > 0; --n) {
    const size_t end = text.find('\n');
    if (end == text.npos) return {};
    text.remove_prefix(end + 1);
  }
  std::string_view line = text.substr(0, text.find('\n'));
  while (!line.empty() && line.back() == ' ') line.remove_suffix(1);
  return line;
}

// The last lines of a log on one line.
std::string LogTail(std::string_view log) {
  constexpr int kLines = 6;
  while (!log.empty() && log.back() == '\n') log.remove_suffix(1);
  size_t start = log.size();
  for (int line = 0; line < kLines && start != log.npos && start > 0; ++line) {
    start = log.rfind('\n', start - 1);
  }
  std::string tail(log.substr(start == log.npos ? 0 : start + (start == 0 ? 0 : 1)));
  std::replace(tail.begin(), tail.end(), '\n', '|');
  return tail;
}

// Runs statements on a connection of its own.
Status RunStatements(const std::string& url, const std::string& statements) {
  const sys::Stop never;
  WEIR_TRY(Target target, Target::Parse(url));
  WEIR_TRY(const auto connection, Connection::Open(std::move(target), "weir/local_server", never));
  return connection->Exec(statements);
}

}  // namespace

Result<std::string> FindServerPrograms() {
  if (const char* wanted = std::getenv("WEIR_PG_BIN"); wanted != nullptr && *wanted != '\0') {
    if (HasPrograms(wanted)) return std::string(wanted);
    return Fail(Code::kNotFound, "WEIR_PG_BIN is '{}', but no postgres and initdb are there",
                wanted);
  }
  if (std::string folder = BinFromPgConfig(); HasPrograms(folder)) return folder;
  if (std::string folder = NewestDebianBin(); !folder.empty()) return folder;
  return Fail(Code::kNotFound,
              "no PostgreSQL server {} or later on this machine: install the package `postgresql`, "
              "or set WEIR_PG_BIN to the folder of postgres and initdb",
              kOldestVersion);
}

Status CheckServerFolder(const std::string& folder) {
  WEIR_TRY(const auto user, ServerUser());
  WEIR_DO(ServerFolder::CheckPath(folder, user));
  return Ok();
}

LocalServer::LocalServer(LocalServerOptions options, std::string bin,
                         std::optional<sys::User> user, std::unique_ptr<ServerFolder> folder)
    : options_(std::move(options)),
      bin_(std::move(bin)),
      user_(std::move(user)),
      folder_(std::move(folder)) {}

Result<std::unique_ptr<LocalServer>> LocalServer::Start(LocalServerOptions options) {
  WEIR_TRY(std::string bin, FindServerPrograms(), "private PostgreSQL");
  WEIR_TRY(auto user, ServerUser(), "private PostgreSQL");
  WEIR_TRY(auto folder, ServerFolder::Open(options.folder, options.keep, user),
           "private PostgreSQL");
  std::unique_ptr<LocalServer> server(new LocalServer(std::move(options), std::move(bin),
                                                      std::move(user), std::move(folder)));
  WEIR_DO(server->MakeData(), "private PostgreSQL");
  WEIR_DO(server->options_.meters ? server->LaunchWithMeters() : server->Launch(),
          "private PostgreSQL");
  if (server->options_.listen_tcp) WEIR_DO(server->SetPassword(), "private PostgreSQL");
  return server;
}

Result<std::unique_ptr<sys::Child>> LocalServer::Spawn(std::string_view program,
                                                       std::vector<std::string> arguments) {
  sys::ChildOptions child;
  child.argv = {sys::JoinPath(bin_, program)};
  child.argv.insert(child.argv.end(), arguments.begin(), arguments.end());
  child.environment = {fmt::format("PATH={}:/usr/bin:/bin", bin_), "LC_ALL=C.UTF-8", "TZ=UTC"};
  if (const char* libraries = std::getenv("LD_LIBRARY_PATH")) {
    child.environment.push_back(fmt::format("LD_LIBRARY_PATH={}", libraries));
  }
  child.folder = folder_->path();
  child.output_path = folder_->Path("log");
  child.user = user_;
  child.death_signal = SIGQUIT;
  return sys::Child::Start(std::move(child));
}

// Makes the data folder under another name first, so that one left half-made is never used.
Status LocalServer::MakeData() {
  sys::DiskFiles files;
  const std::string data = folder_->Path("data");
  if (files.Exists(data)) return Ok();
  const std::string fresh = folder_->Path("data.new");
  WEIR_DO(files.Remove(fresh));
  std::vector<std::string> arguments = {"-D",
                                        fresh,
                                        "--username=weir",
                                        "--encoding=UTF8",
                                        "--locale=C.UTF-8",
                                        "--auth-local=trust",
                                        "--auth-host=scram-sha-256"};
  if (!options_.durable) arguments.push_back("--no-sync");
  WEIR_TRY(auto initdb, Spawn("initdb", std::move(arguments)));
  const auto exit_code = initdb->WaitFor(kStartBound);
  if (!exit_code) return ServerFailed("initdb does not end", 0);
  if (*exit_code != 0) return ServerFailed(fmt::format("initdb ended with {}", *exit_code), 0);
  return files.Rename(fresh, data);
}

std::vector<std::string> LocalServer::Arguments() const {
  std::map<std::string, std::string> settings = {
      {"listen_addresses", options_.listen_tcp ? "127.0.0.1" : ""},
      {"unix_socket_directories", InDoubleQuotes(folder_->path())},
      {"port", std::to_string(port_)},
      {"password_encryption", "scram-sha-256"},
      {"timezone", "UTC"},
      {"log_timezone", "UTC"},
      {"logging_collector", "off"},
  };
  if (!options_.durable) {
    settings.insert({{"fsync", "off"}, {"synchronous_commit", "off"}, {"full_page_writes", "off"}});
  }
  for (const auto& [name, value] : options_.settings) settings[name] = value;
  std::vector<std::string> arguments = {"-D", folder_->Path("data")};
  for (const auto& [name, value] : settings) {
    arguments.push_back("-c");
    arguments.push_back(fmt::format("{}={}", name, value));
  }
  return arguments;
}

Status LocalServer::Launch() {
  sys::DiskFiles files;
  for (int attempt = 1;; ++attempt) {
    if (options_.listen_tcp) port_ = FreePort();
    if (port_ == 0) return Fail(Code::kExhausted, "127.0.0.1 has no free port");
    const auto log_bytes = files.SizeBytes(folder_->Path("log"));
    WEIR_TRY(server_, Spawn("postgres", Arguments()));
    Status ready = AwaitReady(log_bytes.ok() ? log_bytes.value() : 0);
    if (ready.ok() || attempt == kPortAttempts) return ready;
    if (ready.error().message.find("TCP/IP socket") == std::string::npos) return ready;
  }
}

// A server does not start with a library that is not there, and there is no asking before it runs.
Status LocalServer::LaunchWithMeters() {
  constexpr const char* kLibrary = "pg_stat_statements";
  const bool added = options_.settings.emplace("shared_preload_libraries", kLibrary).second;
  Status launched = Launch();
  if (!launched.ok() && added && launched.error().message.find(kLibrary) != std::string::npos) {
    options_.settings.erase("shared_preload_libraries");
    launched = Launch();
  }
  WEIR_DO(std::move(launched));
  return RunStatements(url(), std::string(sql::kCreateMeters));
}

// PostgreSQL writes "ready" to line 8 of postmaster.pid once it accepts connections.
Status LocalServer::AwaitReady(int64_t log_start) {
  sys::DiskFiles files;
  const std::string pid_path = folder_->Path("data/postmaster.pid");
  const std::string pid_text = std::to_string(server_->pid());
  const sys::Duration end = sys::SteadyNow() + kStartBound;
  while (sys::SteadyNow() < end) {
    if (const auto exit_code = server_->WaitFor(kReadyInterval)) {
      return ServerFailed(fmt::format("the server ended with {}", *exit_code), log_start);
    }
    const auto text = files.Read(pid_path, kLogLimitBytes);
    if (!text.ok() || Line(text.value(), 0) != pid_text) continue;
    if (Line(text.value(), 7) == "ready") return Ok();
  }
  return ServerFailed("the server is not ready in time", log_start);
}

Error LocalServer::ServerFailed(std::string_view what, int64_t log_start) {
  sys::DiskFiles files;
  const auto log = files.Read(folder_->Path("log"), kLogLimitBytes);
  std::string_view text = log.ok() ? std::string_view(log.value()) : std::string_view();
  text.remove_prefix(std::min(text.size(), static_cast<size_t>(log_start)));
  const bool full = text.find("No space left on device") != text.npos;
  return Fail(full ? Code::kExhausted : Code::kInvalid, "{}; its log says: {}", what,
              LogTail(text));
}

// A new password at each start, kept out of the server's log.
Status LocalServer::SetPassword() {
  sys::DiskFiles files;
  const std::string password = RandomPassword();
  WEIR_DO(files.ReplaceWhole(folder_->Path("pgpass"),
                             fmt::format("127.0.0.1:{}:*:weir:{}\n", port_, password)));
  return RunStatements(
      url(), fmt::format("SET log_statement = none; SET log_min_error_statement = panic; "
                         "SET log_min_duration_statement = -1; ALTER ROLE weir PASSWORD '{}'",
                         password));
}

LocalServer::~LocalServer() {
  if (!server_) return;
  server_->Signal(SIGINT);
  if (server_->WaitFor(kFastShutdownBound)) return;
  server_->Signal(SIGQUIT);
  server_->WaitFor(kImmediateShutdownBound);
}

void LocalServer::Crash() {
  server_->Signal(SIGQUIT);
  server_->WaitFor(kImmediateShutdownBound);
}

const std::string& LocalServer::folder() const { return folder_->path(); }

std::string LocalServer::url(std::string_view database) const {
  return fmt::format("postgresql://weir@/{}?host={}&port={}", PercentEncoded(database),
                     PercentEncoded(folder_->path()), port_);
}

std::string LocalServer::tcp_url(std::string_view database) const {
  WEIR_ASSERT(options_.listen_tcp);
  return fmt::format("postgresql://weir@127.0.0.1:{}/{}?passfile={}", port_,
                     PercentEncoded(database), PercentEncoded(folder_->Path("pgpass")));
}

Status LocalServer::CreateDatabase(const std::string& name) {
  WEIR_DO(RunStatements(url(), fmt::format("CREATE DATABASE {}", InDoubleQuotes(name))),
          "database '{}'", name);
  return Ok();
}

}  // namespace weir::pg
