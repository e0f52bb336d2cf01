#include "weir/app/libraries.h"

#include <arrow/util/config.h>
#include <fmt/format.h>
#include <libpq-fe.h>
#include <sqlite3.h>

#include "weir/base/version.h"

namespace weir::app {

std::string VersionText() {
  const int libpq = PQlibVersion();
  return fmt::format("weir {} ({})\nArrow and Parquet C++ {}\nlibpq {}.{}\nSQLite {}", Version(),
                     Commit(), ARROW_VERSION_STRING, libpq / 10000, libpq % 10000,
                     sqlite3_libversion());
}

}  // namespace weir::app
