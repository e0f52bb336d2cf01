#pragma once
// A real PostgreSQL for tests: one server per test binary, one fresh database per test.
#include <memory>
#include <string>

#include "weir/pg/connection.h"
#include "weir/pg/local_server.h"

namespace weir::test {

/// The binary's own server, started at the first call and stopped after the last test.
pg::LocalServer& Server();

/// A new, empty database, dropped at the end: `test::Database db;` is all a test needs. It is on
/// Server(), or on the server that WEIR_TEST_PG (a superuser's libpq URI) names.
///
/// Cost:    about 50 ms, and 1.5 s for the binary's first.
/// Threads: one at a time.
class Database {
 public:
  Database();
  ~Database();
  Database(const Database&) = delete;
  Database& operator=(const Database&) = delete;

  const std::string& url() const { return url_; }
  const std::string& name() const { return name_; }

  /// Runs one or more statements in one implicit transaction. A failure aborts, with its words.
  void Exec(const std::string& sql);
  /// The first cell of the answer, "" for NULL. No row, or a failure, aborts.
  std::string Text(const std::string& sql);

 private:
  std::string name_;
  std::string url_;
  std::unique_ptr<pg::Connection> connection_;
};

}  // namespace weir::test
