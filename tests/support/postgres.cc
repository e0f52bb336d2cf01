#include "tests/support/postgres.h"

#include <gtest/gtest.h>
#include <libpq-fe.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <memory>

namespace weir::test {
namespace {

using ResultPtr = std::unique_ptr<PGresult, void (*)(PGresult*)>;

[[noreturn]] void Die(std::string_view what, std::string_view why) {
  std::fprintf(stderr, "test database: %.*s: %.*s\n", static_cast<int>(what.size()), what.data(),
               static_cast<int>(why.size()), why.data());
  std::abort();
}

PGconn* Connect(const std::string& url) {
  PGconn* connection = PQconnectdb(url.c_str());
  if (PQstatus(connection) != CONNECTION_OK) Die("cannot connect", PQerrorMessage(connection));
  PQsetNoticeProcessor(connection, [](void*, const char*) {}, nullptr);
  return connection;
}

ResultPtr Run(PGconn* connection, const std::string& sql) {
  ResultPtr result(PQexec(connection, sql.c_str()), PQclear);
  const ExecStatusType status = PQresultStatus(result.get());
  if (status != PGRES_COMMAND_OK && status != PGRES_TUPLES_OK && status != PGRES_EMPTY_QUERY) {
    Die(sql, PQerrorMessage(connection));
  }
  return result;
}

std::unique_ptr<pg::LocalServer>& ServerSlot() {
  static std::unique_ptr<pg::LocalServer> server;
  return server;
}

// GoogleTest owns it and stops the server after the last test, while other globals still live.
class StopServer final : public testing::Environment {
 public:
  void TearDown() override { ServerSlot().reset(); }
};

[[maybe_unused]] const auto* const registered = testing::AddGlobalTestEnvironment(new StopServer);

std::string AdminUrl() {
  const char* shared = std::getenv("WEIR_TEST_PG");
  return shared != nullptr && *shared != '\0' ? shared : Server().url();
}

// The same place as `url`, another database.
std::string WithDatabase(const std::string& url, const std::string& name) {
  const size_t query = url.find('?');
  const size_t scheme = url.find("://");
  if (scheme == url.npos) return url + " dbname=" + name;  // Keywords: the last one wins.
  const size_t path = url.find('/', scheme + 3);
  const std::string front = path < query ? url.substr(0, path) : url.substr(0, query);
  return front + "/" + name + (query == url.npos ? "" : url.substr(query));
}

}  // namespace

pg::LocalServer& Server() {
  auto& server = ServerSlot();
  if (!server) {
    pg::LocalServerOptions options;
    options.durable = false;
    auto started = pg::LocalServer::Start(options);
    if (!started.ok()) Die("cannot start", started.error().message);
    server = std::move(started).value();
  }
  return *server;
}

Database::Database() {
  static int count = 0;
  name_ = "test_" + std::to_string(getpid()) + "_" + std::to_string(++count);
  const std::string admin_url = AdminUrl();
  PGconn* admin = Connect(admin_url);
  // The file copy needs no WAL but two checkpoints, which cost more than the WAL does.
  Run(admin, "CREATE DATABASE " + name_);
  PQfinish(admin);
  url_ = WithDatabase(admin_url, name_);
  connection_ = Connect(url_);
}

Database::~Database() {
  PQfinish(connection_);
  PGconn* admin = Connect(AdminUrl());
  Run(admin, "DROP DATABASE " + name_ + " WITH (FORCE)");
  PQfinish(admin);
}

void Database::Exec(const std::string& sql) { Run(connection_, sql); }

std::string Database::Text(const std::string& sql) {
  const ResultPtr result = Run(connection_, sql);
  if (PQntuples(result.get()) == 0) Die(sql, "no row");
  return PQgetvalue(result.get(), 0, 0);
}

}  // namespace weir::test
