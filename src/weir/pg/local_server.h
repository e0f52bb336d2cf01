#pragma once
// LocalServer: a private PostgreSQL for demo, bench, --embedded and tests; nothing else starts one.
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "weir/base/result.h"
#include "weir/sys/child.h"

namespace weir::pg {

class ServerFolder;

struct LocalServerOptions {
  /// Where data, socket and log live: made if missing, taken up again if a LocalServer left it.
  /// Empty: a new folder under $TMPDIR, or /tmp where that is too long or out of reach.
  std::string folder;
  /// Leaves the folder on disk. Without it, a folder that Start() made is removed at the end.
  bool keep = false;
  /// fsync on. Off, a power cut loses the data; a killed process does not.
  bool durable = true;
  /// Also listens on a free port of 127.0.0.1, with a password; see tcp_url().
  bool listen_tcp = false;
  /// Has the extensions that HarmMeter reads (pg_stat_statements, pg_buffercache) in the database
  /// postgres, those of them that this machine's PostgreSQL comes with.
  bool meters = false;
  /// postgresql.conf settings; they win over ours.
  std::map<std::string, std::string> settings;
};

/// A running PostgreSQL whose only superuser is `weir`, in UTF-8, C.UTF-8 and UTC.
///
/// Access:  the Unix socket trusts whoever can enter the folder (mode 0700); TCP has a password.
/// User:    root starts it as `postgres`, or `nobody` where there is none; others as themselves.
/// Life:    ends with this object, and with this process even if that dies by kill -9. A folder of
///          /tmp that such a death left behind is removed by the next Start().
/// Threads: any.
class LocalServer {
 public:
  /// Returns when the server accepts connections. Cost: about 1.5 s, of which initdb 1 s.
  /// Errors: kNotFound   no PostgreSQL 12 or later on this machine.
  ///         kInvalid    the folder is too long for a socket, out of reach, in use or not ours; or
  ///                     the server refuses its settings (the message ends with its log).
  ///         kExhausted  the disk is full.
  static Result<std::unique_ptr<LocalServer>> Start(LocalServerOptions options = {});
  /// Fast shutdown (SIGINT), then immediate, then kill, each after a bound.
  ~LocalServer();
  LocalServer(const LocalServer&) = delete;
  LocalServer& operator=(const LocalServer&) = delete;

  /// libpq URI of a database over the Unix socket. Holds no secret.
  std::string url(std::string_view database = "postgres") const;
  /// libpq URI over TCP. Holds no secret either: it names a password file in the folder.
  /// Requires: listen_tcp.
  std::string tcp_url(std::string_view database = "postgres") const;
  /// Errors: kInvalid with PostgreSQL's words, as when the database is there already.
  Status CreateDatabase(const std::string& name);

  /// Ends the server as a crash would (SIGQUIT) and returns when it is gone.
  void Crash();

  const std::string& folder() const;
  pid_t pid() const { return server_->pid(); }

 private:
  LocalServer(LocalServerOptions options, std::string bin, std::optional<sys::User> user,
              std::unique_ptr<ServerFolder> folder);
  Status MakeData();
  Status Launch();
  Status LaunchWithMeters();
  Status AwaitReady(int64_t log_start);
  Status SetPassword();
  std::vector<std::string> Arguments() const;
  Result<std::unique_ptr<sys::Child>> Spawn(std::string_view program,
                                            std::vector<std::string> arguments);
  Error ServerFailed(std::string_view what, int64_t log_start);

  LocalServerOptions options_;
  std::string bin_;
  std::optional<sys::User> user_;
  std::unique_ptr<ServerFolder> folder_;  // Outlives the server: declared before it.
  int port_ = 5432;
  std::unique_ptr<sys::Child> server_;
};

/// Ok when a LocalServer could live in `folder`, which need not be there yet. Makes nothing.
/// Errors: kInvalid when it is too long for a socket or out of reach of the server's user.
Status CheckServerFolder(const std::string& folder);

/// The folder with this machine's PostgreSQL programs: $WEIR_PG_BIN, else what pg_config says, else
/// the newest /usr/lib/postgresql/*/bin, from version 12 on.
/// Errors: kNotFound, with the remedy.
Result<std::string> FindServerPrograms();

}  // namespace weir::pg
