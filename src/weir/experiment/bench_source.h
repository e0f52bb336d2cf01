#pragma once
// BenchSource: the PostgreSQL that a ladder reads, and how other programs reach it.
#include <memory>
#include <string>
#include <vector>

#include "weir/experiment/cell_store.h"
#include "weir/pg/local_server.h"
#include "weir/pg/target.h"
#include "weir/sys/stop.h"

namespace weir::experiment {

/// A database as child programs are told of it: nothing secret may stand on a command line.
struct ChildAddress {
  std::string conninfo;                  ///< libpq keywords without a password.
  std::vector<std::string> environment;  ///< PGPASSWORD=..., where the target has one.
};

/// Errors: kUsage for a target with sslpassword, which libpq takes from no variable.
Result<ChildAddress> AddressOf(const pg::Target& target);

/// How both sides of a comparison reach a private server. Over TCP the kernel buffers megabytes; a
/// Unix socket holds 208 KiB, so that a client which does not read makes the server wait at once
/// (docs/decisions/copy-stream.md).
enum class Socket : uint8_t { kTcp, kUnix };

/// The server under measurement: a private one, or the one that --db names.
class BenchSource {
 public:
  /// With an empty `url`, starts a private server in `folder`/server, to be reached over `socket`.
  /// It is kept so that another run finds the tables; where a server cannot live there, it lives in
  /// a folder that goes with it, with a warning. `stop` must outlive it.
  /// Errors: of LocalServer::Start and Connection::Open.
  static Result<std::unique_ptr<BenchSource>> Open(const std::string& url,
                                                   const std::string& folder, Socket socket,
                                                   const sys::Stop& stop);

  bool is_private() const { return server_ != nullptr; }

  /// URL of database `name` of the private server, made if missing; else the URL that was given.
  Result<std::string> Database(const std::string& name);

  /// What determines measurements: version, kind of socket, and settings that cost or save time.
  Result<Settings> ServerSettings();

 private:
  BenchSource(Socket socket, const sys::Stop& stop) : socket_(socket), stop_(stop) {}
  std::string PrivateUrl(const std::string& database) const;

  const Socket socket_;
  const sys::Stop& stop_;
  std::string url_;
  std::unique_ptr<pg::LocalServer> server_;
};

/// Full path of a PostgreSQL client program, beside the server's or on PATH.
/// Errors: kNotFound with the remedy.
Result<std::string> FindClientProgram(const std::string& name);

/// The only value of one statement's only row; empty for NULL.
Result<std::string> AskOne(const std::string& url, const std::string& sql, const sys::Stop& stop);

}  // namespace weir::experiment
