#include "tests/support/postgres.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <memory>

namespace weir::test {
namespace {

[[noreturn]] void Die(std::string_view what, std::string_view why) {
  std::fprintf(stderr, "test database: %.*s: %.*s\n", static_cast<int>(what.size()), what.data(),
               static_cast<int>(why.size()), why.data());
  std::abort();
}

// Nobody stops a test's own session.
const sys::Stop& Never() {
  static const sys::Stop never;
  return never;
}

std::unique_ptr<pg::Connection> Connect(const std::string& url) {
  auto target = pg::Target::Parse(url);
  if (!target.ok()) Die("URL", target.error().message);
  auto connection = pg::Connection::Open(std::move(target).value(), "weir/test", Never(),
                                         pg::kNoBound);
  if (!connection.ok()) Die("cannot connect", connection.error().message);
  return std::move(connection).value();
}

void Run(pg::Connection& connection, const std::string& sql) {
  const Status done = connection.Exec(sql);
  if (!done.ok()) Die(sql, done.error().message);
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
    options.settings = {{"autovacuum", "off"}};  // It would add to the counters that tests read.
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
  Run(*Connect(admin_url), "CREATE DATABASE " + name_);
  url_ = WithDatabase(admin_url, name_);
  connection_ = Connect(url_);
}

Database::~Database() {
  connection_.reset();
  Run(*Connect(AdminUrl()), "DROP DATABASE " + name_ + " WITH (FORCE)");
}

void Database::Exec(const std::string& sql) { Run(*connection_, sql); }

std::string Database::Text(const std::string& sql) {
  const auto rows = connection_->Query(sql);
  if (!rows.ok()) Die(sql, rows.error().message);
  if (rows.value().empty()) Die(sql, "no row");
  return rows.value().front().front().value_or("");
}

}  // namespace weir::test
