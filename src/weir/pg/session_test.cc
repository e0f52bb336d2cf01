#include "weir/pg/session.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <thread>

#include "tests/support/postgres.h"
#include "weir/pg/select_sql.h"
#include "weir/pg/wire_internal.h"

namespace weir::pg {
namespace {

constexpr const char* kRunId = "20261130T111535-3f9ac2-1";

TEST(ApplicationName, FitsAndKeepsTheRunId) {
  EXPECT_EQ(ApplicationName(kRunId, "users"), "weir/20261130T111535-3f9ac2-1/users");
  const std::string longest = ApplicationName(kRunId, std::string(63, 'x'));
  EXPECT_EQ(longest.size(), 63U);
  EXPECT_TRUE(longest.starts_with("weir/20261130T111535-3f9ac2-1/xxx")) << longest;
}

TEST(ApplicationName, IsCutBetweenCharacters) {
  const size_t room = 63 - std::string("weir/r/").size();
  for (size_t ascii = 0; ascii < 5; ++ascii) {
    std::string table(ascii, 'a');
    while (table.size() < 70) table += "🦆";  // Four bytes each.
    const std::string name = ApplicationName("r", table);
    EXPECT_EQ(name, "weir/r/" + table.substr(0, ascii + (room - ascii) / 4 * 4));
    EXPECT_LE(name.size(), 63U);
  }
}

class SessionTest : public testing::Test {
 protected:
  std::unique_ptr<Connection> Connect() {
    return Connection::Open(Target::Parse(db_.url()).value(), "weir/test", never_).value();
  }
  static std::string Show(Connection& connection, const std::string& setting) {
    return connection.QueryRow("SELECT pg_catalog.current_setting($1)", {setting})
        .value()[0]
        .value();
  }

  test::Database db_;
  sys::Stop never_;
};

SessionSettings Settings() {
  return {.application_name = "weir/run/table",
          .lock_timeout_s = 3,
          .idle_timeout_s = 5,
          .statement_timeout_s = 7};
}

// Each setting, what it is within a transaction of ours, and what a hostile role sets it to.
struct Pinned {
  const char* name;
  const char* inside;
  const char* hostile;
};
constexpr Pinned kPinned[] = {
    {"application_name", "weir/run/table", "mine"},
    {"lock_timeout", "3s", "9s"},
    {"idle_in_transaction_session_timeout", "5s", "9s"},
    {"statement_timeout", "7s", "9s"},
    {"DateStyle", "ISO, DMY", "SQL, DMY"},
    {"IntervalStyle", "postgres", "iso_8601"},
    {"extra_float_digits", "3", "-3"},
    {"bytea_output", "hex", "escape"},
    {"TimeZone", "UTC", "Asia/Tokyo"},
    {"client_encoding", "UTF8", "LATIN1"},
    {"xmloption", "content", "document"},
    {"row_security", "off", "on"},
    {"max_parallel_workers_per_gather", "0", "2"},
    {"jit", "off", "on"},
    {"transaction_isolation", "repeatable read", "serializable"},
    {"transaction_read_only", "on", "off"},
};

TEST_F(SessionTest, SettingsHoldInTheTransactionAndNotAfter) {
  for (const char* end : {"COMMIT", "ROLLBACK"}) {
    const auto connection = Connect();
    for (const Pinned& pinned : kPinned) {
      if (std::string_view(pinned.name).starts_with("transaction_")) continue;
      const auto set = connection->Query("SELECT pg_catalog.set_config($1, $2, false)",
                                         {pinned.name, pinned.hostile});
      ASSERT_TRUE(set.ok()) << pinned.name;
    }
    ASSERT_TRUE(BeginReadOnly(*connection, Isolation::kRepeatableRead, Settings()).ok());
    for (const Pinned& pinned : kPinned) {
      EXPECT_EQ(Show(*connection, pinned.name), pinned.inside) << pinned.name;
    }
    ASSERT_TRUE(connection->Exec(end).ok());
    for (const Pinned& pinned : kPinned) {
      if (std::string_view(pinned.name).starts_with("transaction_")) continue;
      EXPECT_EQ(Show(*connection, pinned.name), pinned.hostile) << pinned.name << " after " << end;
    }
  }
}

TEST_F(SessionTest, NothingCanBeWritten) {
  db_.Exec("CREATE TABLE t (a int)");
  const auto connection = Connect();
  ASSERT_TRUE(BeginReadOnly(*connection, Isolation::kReadCommitted, Settings()).ok());
  const auto written = connection->Exec("INSERT INTO t VALUES (1)");
  ASSERT_FALSE(written.ok());
  EXPECT_NE(written.error().message.find("read-only transaction"), std::string::npos);
}

TEST_F(SessionTest, QuotesInTheApplicationNameAreHarmless) {
  const auto connection = Connect();
  SessionSettings settings = Settings();
  settings.application_name = R"(weir/r/it's "a\b)";
  ASSERT_TRUE(BeginReadOnly(*connection, Isolation::kReadCommitted, settings).ok());
  EXPECT_EQ(Show(*connection, "application_name"), settings.application_name);
}

// Not a refusal: going on to SELECT would wait for the same lock again.
TEST_F(SessionTest, AnEndedWaitForALockIsAnError) {
  db_.Exec("CREATE TABLE t (a int)");
  const auto holder = Connect();
  ASSERT_TRUE(holder->Exec("BEGIN; LOCK TABLE t IN ACCESS EXCLUSIVE MODE").ok());
  const auto connection = Connect();
  ASSERT_TRUE(BeginReadOnly(*connection, Isolation::kRepeatableRead, {}).ok());
  Result<LockMode> locked = LockMode::kHolder;
  std::thread waiter([&] { locked = LockTable(*connection, {"public", "t"}); });
  const std::string cancel = fmt::format(
      "SELECT pg_cancel_backend(pid) FROM pg_stat_activity "
      "WHERE pid = {} AND wait_event_type = 'Lock'",
      connection->backend_pid());
  while (holder->Query(cancel).value().empty()) {
  }
  waiter.join();
  ASSERT_FALSE(locked.ok());
  EXPECT_NE(locked.error().message.find("someone cancelled the statement"), std::string::npos)
      << locked.error().message;
}

TEST_F(SessionTest, AHeldLockIsWaitedForNoLongerThanAsked) {
  db_.Exec("CREATE TABLE t (a int)");
  db_.Exec("BEGIN; LOCK TABLE t IN ACCESS EXCLUSIVE MODE");
  const auto connection = Connect();
  ASSERT_TRUE(BeginReadOnly(*connection, Isolation::kReadCommitted, Settings()).ok());
  ASSERT_TRUE(connection->Exec("SET LOCAL lock_timeout = 10").ok());
  const auto locked = LockTable(*connection, {"public", "t"});
  ASSERT_FALSE(locked.ok());
  EXPECT_EQ(locked.error().code, Code::kUnavailable);
  EXPECT_EQ(locked.error().message,
            "table public.t: canceling statement due to lock timeout; another session holds a "
            "stronger lock; wait for it or raise lock_timeout_s in weir.yaml");
  db_.Exec("ROLLBACK");
}

TEST_F(SessionTest, LockModeFollowsKindAndRights) {
  db_.Exec("CREATE TABLE t (a int, b int); CREATE MATERIALIZED VIEW m AS SELECT 1 AS a; "
           "CREATE VIEW v AS SELECT 1 AS a; DROP ROLE IF EXISTS reader; CREATE ROLE reader; "
           "GRANT SELECT (a) ON t TO reader");
  const auto mode = [&](const char* name, bool as_reader) {
    const auto connection = Connect();
    EXPECT_TRUE(BeginReadOnly(*connection, Isolation::kReadCommitted, Settings()).ok());
    EXPECT_TRUE(connection->Exec(as_reader ? "SET LOCAL ROLE reader" : "").ok());
    return LockTable(*connection, {"public", name}).value();
  };
  EXPECT_EQ(mode("t", false), LockMode::kTable);
  EXPECT_EQ(mode("v", false), LockMode::kTable);
  EXPECT_EQ(mode("m", false), LockMode::kHolder);
  EXPECT_EQ(mode("t", true), LockMode::kHolder);
  const auto connection = Connect();
  ASSERT_TRUE(BeginReadOnly(*connection, Isolation::kReadCommitted, Settings()).ok());
  ASSERT_TRUE(connection->Exec("SET LOCAL ROLE reader").ok());
  const SelectParts parts{
      .table = {"public", "t"}, .query = {}, .columns = {}, .where = {}, .limit = {}};
  ASSERT_TRUE(LockThroughSelect(*connection, SelectSql(*connection, parts)).ok());
  EXPECT_EQ(db_.Text("SELECT mode FROM pg_locks WHERE relation = 't'::regclass"),
            "AccessShareLock");
  ASSERT_TRUE(connection->Exec("ROLLBACK").ok());
  db_.Exec("DROP OWNED BY reader; DROP ROLE reader");
}

// Stands in for a pooler: looks at one client's startup message, refuses parameters that poolers
// do not track, and passes the rest on to the server's socket.
class StrictPooler {
 public:
  explicit StrictPooler(const std::string& server_socket) : server_socket_(server_socket) {
    listener_ = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof address;
    EXPECT_EQ(bind(listener_, reinterpret_cast<sockaddr*>(&address), size), 0);
    EXPECT_EQ(listen(listener_, 1), 0);
    EXPECT_EQ(getsockname(listener_, reinterpret_cast<sockaddr*>(&address), &size), 0);
    port_ = ntohs(address.sin_port);
    thread_ = std::thread([this] { Serve(); });
  }
  ~StrictPooler() {
    thread_.join();
    close(listener_);
  }
  int port() const { return port_; }
  /// Names of the startup parameters. Requires: the client has gone.
  const std::vector<std::string>& parameters() const { return parameters_; }

 private:
  static std::string ReadBytes(int fd, size_t count) {
    std::string bytes(count, '\0');
    EXPECT_EQ(recv(fd, bytes.data(), count, MSG_WAITALL), static_cast<ssize_t>(count));
    return bytes;
  }
  static bool Pass(int from, int to) {
    char buffer[65536];
    const ssize_t got = read(from, buffer, sizeof buffer);
    return got > 0 && send(to, buffer, static_cast<size_t>(got), MSG_NOSIGNAL) == got;
  }

  void Serve() {
    const int client = accept(listener_, nullptr, nullptr);
    const std::string length = ReadBytes(client, 4);
    const std::string body =
        ReadBytes(client, ReadU32(reinterpret_cast<const uint8_t*>(length.data())) - 4);
    bool is_name = true;
    for (size_t at = 4; at + 1 < body.size(); is_name = !is_name) {
      const std::string text(body.c_str() + at);
      if (is_name) parameters_.push_back(text);
      at += text.size() + 1;
    }
    const int server = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    server_socket_.copy(address.sun_path, sizeof address.sun_path - 1);
    EXPECT_EQ(connect(server, reinterpret_cast<sockaddr*>(&address), sizeof address), 0);
    EXPECT_EQ(send(server, (length + body).data(), length.size() + body.size(), 0),
              static_cast<ssize_t>(length.size() + body.size()));
    while (true) {
      pollfd watched[2] = {{client, POLLIN, 0}, {server, POLLIN, 0}};
      if (poll(watched, 2, -1) < 0) break;
      if (watched[0].revents != 0 && !Pass(client, server)) break;
      if (watched[1].revents != 0 && !Pass(server, client)) break;
    }
    close(server);
    close(client);
  }

  const std::string server_socket_;
  int listener_;
  int port_ = 0;
  std::vector<std::string> parameters_;
  std::thread thread_;
};

// Poolers know user, database and application_name; most others they refuse.
TEST_F(SessionTest, AsksForNothingAtStartupThatPoolersRefuse) {
  const Target direct = Target::Parse(db_.url()).value();
  if (!direct.Get("host").starts_with('/')) GTEST_SKIP() << "the server has no socket here";
  StrictPooler pooler(fmt::format("{}/.s.PGSQL.{}", direct.Get("host"), direct.Get("port")));
  {
    const auto target = Target::Parse(
        fmt::format("postgresql://weir@127.0.0.1:{}/{}?sslmode=disable&gssencmode=disable",
                    pooler.port(), db_.name()));
    const auto connection = Connection::Open(target.value(), "weir/test", never_);
    ASSERT_TRUE(connection.ok()) << connection.error().message;
    ASSERT_TRUE(BeginReadOnly(*connection.value(), Isolation::kRepeatableRead, Settings()).ok());
    EXPECT_EQ(Show(*connection.value(), "application_name"), "weir/run/table");
    ASSERT_TRUE(connection.value()->Exec("COMMIT").ok());
  }
  for (const std::string& parameter : pooler.parameters()) {
    EXPECT_TRUE(parameter == "user" || parameter == "database" || parameter == "application_name" ||
                parameter == "client_encoding")
        << parameter;
  }
}

}  // namespace
}  // namespace weir::pg
