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
/// Refused: a host that is neither loopback nor a Unix socket, when there is no tls block and
/// neither the URL nor PGSSLMODE asks for require, verify-ca or verify-full. PGHOST, PGHOSTADDR and
/// PGSERVICE count where the source names no host; a service file's host is taken for remote.
/// Errors: kUsage, naming the key or variable, never its value.
Result<Connection> ResolveConnection(const SourceConfig& source, sys::Files& files,
                                     const GetEnv& get_env);

}  // namespace weir::config
