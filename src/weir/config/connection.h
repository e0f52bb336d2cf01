#pragma once
// From the `source` block to what libpq takes, and the refusal to cross a network without TLS.
#include <optional>
#include <string>

#include "weir/base/result.h"
#include "weir/base/secret.h"
#include "weir/config/config.h"
#include "weir/sys/files.h"

namespace weir::config {

/// Hand `conninfo` to libpq as dbname with expansion on, then sslmode and sslrootcert from `tls`
/// after it: the block has the last word over the URL's own sslmode.
struct Connection {
  Secret conninfo;  ///< A URL or a keyword string, both as libpq reads them.
  std::optional<TlsConfig> tls;
};

/// Finds the connection that `source` describes: reads url_env, url_file and password_env.
///
/// Refused where there is no tls block: what CheckTls refuses.
/// Errors: kUsage, naming the key or variable, never its value.
Result<Connection> ResolveConnection(const SourceConfig& source, sys::Files& files,
                                     const GetEnv& get_env);

/// Refuses a connection string that leads over a network in the clear unasked: to a host that is
/// neither loopback nor a Unix socket, when neither it nor PGSSLMODE asks for require, verify-ca or
/// verify-full, and it does not say sslmode=disable itself. PGHOST, PGHOSTADDR and PGSERVICE count
/// where it names no host; a service file's host is taken for remote.
/// Errors: kUsage; the remedy is in the words of a URL.
Status CheckTls(const std::string& conninfo, const GetEnv& get_env);

}  // namespace weir::config
