#include "weir/pg/connection.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <pwd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <csignal>
#include <functional>
#include <thread>

#include "tests/support/copy_stream.h"
#include "tests/support/folder.h"
#include "tests/support/postgres.h"
#include "tests/support/program.h"
#include "tests/support/wire.h"
#include "weir/pg/local_server.h"

namespace weir::pg {
namespace {

using std::chrono::milliseconds;

// Rows as they are made; in FROM the server would store all of them first.
constexpr const char* kEndless = "COPY (SELECT generate_series(1, 1000000000)) TO STDOUT";

TEST(FromSqlState, StatesBecomeReactions) {
  const std::vector<std::pair<const char*, Code>> states = {
      {"28P01", Code::kInvalid},     {"28000", Code::kInvalid},     {"3D000", Code::kNotFound},
      {"3F000", Code::kNotFound},    {"42P01", Code::kNotFound},    {"42703", Code::kNotFound},
      {"42501", Code::kInvalid},     {"42601", Code::kInvalid},     {"22012", Code::kInvalid},
      {"53300", Code::kUnavailable}, {"53100", Code::kExhausted},   {"53200", Code::kExhausted},
      {"55P03", Code::kUnavailable}, {"57014", Code::kInvalid},     {"57P01", Code::kUnavailable},
      {"57P02", Code::kUnavailable}, {"57P03", Code::kUnavailable}, {"57P05", Code::kUnavailable},
      {"40001", Code::kUnavailable}, {"40P01", Code::kUnavailable}, {"08006", Code::kUnavailable},
      {"58030", Code::kUnavailable}, {"XX001", Code::kCorrupt},     {"XX000", Code::kCorrupt},
      {"25006", Code::kInvalid},     {"0A000", Code::kInvalid},     {"", Code::kInvalid},
  };
  for (const auto& [state, code] : states) {
    EXPECT_EQ(FromSqlState(state, "ERROR:  words").code, code) << state;
  }
}

TEST(FromSqlState, MessagesAreOneLineWithTheRemedy) {
  const Error error =
      FromSqlState("42P01", "ERROR:  relation \"t\" does not exist\nLINE 1: SELECT\n");
  EXPECT_EQ(error.message,
            "relation \"t\" does not exist; check the table's name and schema");
  EXPECT_EQ(FromSqlState("22012", "ERROR:  division by zero\n").message, "division by zero");
}

// Asks as often as it must, within reason, until the answer is `wanted`.
bool Becomes(const std::string& wanted, const std::function<std::string()>& ask) {
  const sys::Duration deadline = sys::SteadyNow() + std::chrono::seconds(30);
  while (sys::SteadyNow() < deadline) {
    if (ask() == wanted) return true;
  }
  return false;
}

std::string StateSql(int pid) {
  return fmt::format(
      "SELECT coalesce((SELECT state FROM pg_stat_activity WHERE pid = {}), 'gone')", pid);
}

class ConnectionTest : public testing::Test {
 protected:
  Target ToDatabase() { return Target::Parse(db_.url()).value(); }
  std::unique_ptr<Connection> Connect() {
    return Connection::Open(ToDatabase(), "weir/test", never_).value();
  }
  // Waits until the backend is in `state`.
  bool ReachesState(int pid, const std::string& state) {
    return Becomes(state, [&] { return db_.Text(StateSql(pid)); });
  }

  test::Database db_;
  sys::Stop never_;
};

TEST_F(ConnectionTest, QueryGivesTextAndNulls) {
  const auto connection = Connect();
  const auto rows =
      connection->Query("SELECT $1::int + 1, $2::text, '' UNION ALL SELECT 9, 'b', 'c'",
                        {"41", std::nullopt});
  ASSERT_TRUE(rows.ok()) << rows.error().message;
  EXPECT_EQ(rows.value(), (Rows{{"42", std::nullopt, ""}, {"9", "b", "c"}}));
  EXPECT_EQ(connection->QueryRow("SELECT 1 WHERE false").error().code, Code::kNotFound);
}

TEST_F(ConnectionTest, IsUsableAfterAFailure) {
  const auto connection = Connect();
  const auto failed = connection->Query("SELECT 1/0");
  ASSERT_FALSE(failed.ok());
  EXPECT_EQ(failed.error().message, "division by zero");
  EXPECT_EQ(connection->Exec("SELECT 1; SELECT nothing").error().code, Code::kNotFound);
  EXPECT_EQ(connection->StartCopyOut("COPY nothing TO STDOUT").error().code, Code::kNotFound);
  EXPECT_EQ(connection->DescribeStatement("SELECT nothing").error().code, Code::kNotFound);
  EXPECT_EQ(connection->QueryRow("SELECT 5").value()[0], "5");
  EXPECT_TRUE(connection->is_alive());
  EXPECT_GE(connection->server_version(), 120000);
}

TEST_F(ConnectionTest, StatementsThatAreNoCopyAreRefusedAsCopy) {
  const auto connection = Connect();
  EXPECT_FALSE(connection->StartCopyOut("SELECT 1").ok());
  EXPECT_EQ(connection->QueryRow("SELECT 5").value()[0], "5");
}

// What a user wrote may close the parenthesis it stands in, but not begin another statement.
TEST_F(ConnectionTest, ATextOfSeveralStatementsIsRefused) {
  db_.Exec("CREATE TABLE victim (a int)");
  const auto connection = Connect();
  ASSERT_TRUE(connection->Exec("BEGIN READ ONLY").ok());
  for (const char* text :
       {"COPY (SELECT 1) TO STDOUT (FORMAT binary); COMMIT; DROP TABLE victim; COPY (SELECT 1) TO "
        "STDOUT (FORMAT binary)",
        "COPY (SELECT 1) TO STDOUT; COPY (SELECT 1) TO STDOUT"}) {
    const auto copied = connection->StartCopyOut(text);
    ASSERT_FALSE(copied.ok()) << text;
    EXPECT_EQ(copied.error().code, Code::kInvalid);
    EXPECT_EQ(connection->Query(text).error().code, Code::kInvalid);
    EXPECT_EQ(connection->DescribeStatement(text).error().code, Code::kInvalid);
  }
  EXPECT_TRUE(connection->is_alive());
  EXPECT_EQ(db_.Text("SELECT count(*) FROM victim"), "0");
}

TEST_F(ConnectionTest, DescribesAStatementWithoutRunningIt) {
  const auto connection = Connect();
  const auto fields = connection->DescribeStatement("SELECT 1/0 AS a, 1.5::numeric(4,2) AS \"B\"");
  ASSERT_TRUE(fields.ok()) << fields.error().message;
  ASSERT_EQ(fields.value().size(), 2U);
  EXPECT_EQ(fields.value()[0].name, "a");
  EXPECT_EQ(fields.value()[0].type_oid, 23U);
  EXPECT_EQ(fields.value()[1].name, "B");
  EXPECT_EQ(fields.value()[1].typmod, (4 << 16) + 2 + 4);
}

TEST_F(ConnectionTest, QuotesAnyNameAndText) {
  const auto connection = Connect();
  for (const std::string text : {"plain", "it's", "a\"b", "a\\b", "ü ;--", ""}) {
    EXPECT_EQ(connection->QueryRow("SELECT " + connection->QuoteLiteral(text)).value()[0], text);
    if (text.empty()) continue;
    const auto fields = connection->DescribeStatement("SELECT 1 AS " + connection->QuoteName(text));
    EXPECT_EQ(fields.value()[0].name, text);
  }
}

TEST_F(ConnectionTest, TheClientsEncodingIsUtf8WhateverTheEnvironmentSays) {
  setenv("PGCLIENTENCODING", "LATIN1", 1);
  const auto connection = Connect();
  unsetenv("PGCLIENTENCODING");
  EXPECT_EQ(connection->QueryRow("SELECT length($1), 'ü'", {"ü"}).value(), (Row{"1", "ü"}));
}

TEST_F(ConnectionTest, CopyGivesAllPiecesThenNone) {
  const auto connection = Connect();
  ASSERT_TRUE(
      connection->StartCopyOut("COPY (SELECT i FROM generate_series(1, 1000) i) TO STDOUT").ok());
  const auto rows = test::CopyReader(*connection).Rest();
  ASSERT_TRUE(rows.ok()) << rows.error().message;
  const std::string& text = rows.value();
  EXPECT_TRUE(text.starts_with("1\n2\n"));
  EXPECT_TRUE(text.ends_with("\n1000\n"));
  EXPECT_EQ(connection->QueryRow("SELECT 5").value()[0], "5");
}

TEST_F(ConnectionTest, AnErrorInMidCopyIsTheServersOwn) {
  const auto connection = Connect();
  ASSERT_TRUE(
      connection->StartCopyOut("COPY (SELECT 1/(i-500) FROM generate_series(1, 1000) i) TO STDOUT")
          .ok());
  const auto piece = test::CopyReader(*connection).Rest();
  ASSERT_FALSE(piece.ok());
  EXPECT_EQ(piece.error().message, "division by zero");
  EXPECT_EQ(piece.error().code, Code::kInvalid);
  EXPECT_EQ(connection->QueryRow("SELECT 5").value()[0], "5");
}

TEST_F(ConnectionTest, StopEndsAQueryHereAndOnTheServer) {
  sys::Stop stop;
  const auto connection = Connection::Open(ToDatabase(), "weir/test", stop).value();
  const int pid = connection->backend_pid();
  Result<Rows> rows = Fail(Code::kInvalid, "not run");
  std::thread waiter([&] { rows = connection->Query("SELECT pg_sleep(600)"); });
  EXPECT_TRUE(ReachesState(pid, "active"));
  stop.Ask();
  waiter.join();
  ASSERT_FALSE(rows.ok());
  EXPECT_EQ(rows.error().code, Code::kCancelled);
  EXPECT_TRUE(ReachesState(pid, "idle"));
}

TEST_F(ConnectionTest, StopEndsACopyHereAndOnTheServer) {
  sys::Stop stop;
  auto connection = Connection::Open(ToDatabase(), "weir/test", stop).value();
  const int pid = connection->backend_pid();
  ASSERT_TRUE(connection->StartCopyOut(kEndless).ok());
  ASSERT_TRUE(test::CopyReader(*connection).Next().ok());
  stop.Ask();
  const auto piece = test::CopyReader(*connection).Next();
  ASSERT_FALSE(piece.ok());
  EXPECT_EQ(piece.error().code, Code::kCancelled);
  connection.reset();  // A backend in the middle of a send sees the cancel when the link is gone.
  EXPECT_TRUE(ReachesState(pid, "gone"));
}

TEST_F(ConnectionTest, ASilentServerIsLeftAfterTheByteTimeout) {
  const auto connection = Connect();
  sys::Duration waited{0};
  const auto started =
      connection->StartCopyOut("COPY (SELECT pg_sleep(600)) TO STDOUT", milliseconds(50), &waited);
  ASSERT_FALSE(started.ok());
  EXPECT_EQ(started.error().code, Code::kUnavailable);
  EXPECT_EQ(started.error().message, "the server sent nothing for 50 ms; see what holds it up, or "
                                     "raise statement_timeout_s in weir.yaml");
  EXPECT_GE(waited, milliseconds(50));
  EXPECT_TRUE(ReachesState(connection->backend_pid(), "idle"));
}

TEST_F(ConnectionTest, AServerThatFallsSilentIsLeftToo) {
  const auto connection = Connect();
  // The first rows fill the server's buffer and are sent; the next ones never come.
  ASSERT_TRUE(connection
                  ->StartCopyOut("COPY (SELECT repeat('x', 1000), CASE WHEN i > 100 THEN "
                                 "pg_sleep(600) END FROM generate_series(1, 200) i) TO STDOUT")
                  .ok());
  test::CopyReader reader(*connection, milliseconds(50));
  auto piece = reader.Next();
  ASSERT_TRUE(piece.ok()) << piece.error().message;
  while (piece.ok()) piece = reader.Next();
  EXPECT_EQ(piece.error().code, Code::kUnavailable);
  EXPECT_GE(reader.waited(), milliseconds(50));
  EXPECT_TRUE(ReachesState(connection->backend_pid(), "idle"));
}

TEST_F(ConnectionTest, AnEndedSessionIsUnavailableInOneSentence) {
  const auto connection = Connect();
  const int pid = connection->backend_pid();
  ASSERT_TRUE(connection->StartCopyOut(kEndless).ok());
  EXPECT_EQ(db_.Text(fmt::format("SELECT pg_terminate_backend({}, 30000)", pid)), "t");
  const auto piece = test::CopyReader(*connection).Rest();
  ASSERT_FALSE(piece.ok());
  EXPECT_EQ(piece.error().code, Code::kUnavailable);
  // A backend that waits in a send may go without a word, so the reason is not always told.
  const std::string& message = piece.error().message;
  EXPECT_NE(message.find("run again"), message.npos) << message;
  EXPECT_EQ(message.find('\n'), message.npos) << message;
  EXPECT_FALSE(connection->is_alive());
  EXPECT_EQ(connection->Query("SELECT 1").error().code, Code::kUnavailable);
  EXPECT_EQ(connection->Exec("SELECT 1").error().code, Code::kUnavailable);
}

TEST_F(ConnectionTest, AWrongDatabaseIsNotFound) {
  Target target = ToDatabase();
  target.Set("dbname", "no_such_database");
  const auto opened = Connection::Open(target, "weir/test", never_);
  ASSERT_FALSE(opened.ok());
  EXPECT_EQ(opened.error().code, Code::kNotFound);
  EXPECT_TRUE(opened.error().message.ends_with(
      "/no_such_database: database \"no_such_database\" does not exist; check the database name"))
      << opened.error().message;
}

TEST_F(ConnectionTest, UnreachableServersAreUnavailableInOneLine) {
  for (const char* url : {"postgresql://ann:s3cret@127.0.0.1:1/d", "postgresql:///d?host=/nowhere",
                          "postgresql://ann:s3cret@no-such-host.invalid/d"}) {
    const auto opened = Connection::Open(Target::Parse(url).value(), "weir/test", never_);
    ASSERT_FALSE(opened.ok());
    const std::string& message = opened.error().message;
    EXPECT_EQ(opened.error().code, Code::kUnavailable) << message;
    EXPECT_TRUE(message.starts_with("cannot connect to ")) << message;
    EXPECT_TRUE(message.ends_with("; check host, port and network, then run again")) << message;
    EXPECT_EQ(message.find_first_of("\n\t"), std::string::npos) << message;
    EXPECT_EQ(message.find("s3cret"), std::string::npos) << message;
  }
}

TEST_F(ConnectionTest, AnUnknownOptionOfTheAddressIsNoNetworkTrouble) {
  Target target = ToDatabase();
  target.Set("sslmode", "sometimes");
  const auto opened = Connection::Open(target, "weir/test", never_);
  ASSERT_FALSE(opened.ok());
  EXPECT_NE(opened.error().code, Code::kUnavailable) << opened.error().message;
}

// A server over TCP, which asks for a password and has no TLS.
class TcpServerTest : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    LocalServerOptions options;
    options.durable = false;
    options.listen_tcp = true;
    server_ = LocalServer::Start(options).value().release();
  }
  static void TearDownTestSuite() { delete std::exchange(server_, nullptr); }

  static std::string FailureOf(const Target& target, Code code) {
    const sys::Stop never;
    const auto opened = Connection::Open(target, "weir/test", never);
    EXPECT_FALSE(opened.ok());
    if (opened.ok()) return "connected";
    EXPECT_EQ(opened.error().code, code) << opened.error().message;
    EXPECT_EQ(opened.error().message.find_first_of("\n\t"), std::string::npos);
    const std::string& message = opened.error().message;
    return message.substr(message.find(": ") + 2);
  }
  static Target Tcp() { return Target::Parse(server_->tcp_url()).value(); }

  static LocalServer* server_;
};
LocalServer* TcpServerTest::server_ = nullptr;

TEST_F(TcpServerTest, AWrongPasswordIsNamedAndNotPrinted) {
  for (const char* password : {"wrong", "it's \"w\\rong\" @:/?#%ü", " "}) {
    Target target = Tcp();
    target.Set("password", password);
    const std::string failure = FailureOf(target, Code::kInvalid);
    EXPECT_TRUE(failure.ends_with("; check the user and PGPASSWORD, ~/.pgpass or the password in "
                                  "the URL"))
        << failure;
    if (std::string_view(password).size() == 1) continue;  // Every blank is hidden.
    EXPECT_TRUE(failure.starts_with("password authentication failed for user \"weir\"")) << failure;
    EXPECT_EQ(failure.find(password), std::string::npos);
  }
}

TEST_F(TcpServerTest, NoPasswordIsSaidSo) {
  Target target = Tcp();
  target.Set("passfile", "/nowhere/pgpass");
  const std::string failure = FailureOf(target, Code::kInvalid);
  EXPECT_NE(failure.find("no password supplied"), std::string::npos) << failure;
}

TEST_F(TcpServerTest, TlsThatTheServerLacksIsNamed) {
  Target target = Tcp();
  target.Set("sslmode", "require");
  const std::string failure = FailureOf(target, Code::kInvalid);
  EXPECT_TRUE(failure.ends_with("server does not support SSL, but SSL was required; check sslmode, "
                                "sslrootcert and the server's TLS settings"))
      << failure;
}

// A server with a certificate of its own making.
std::unique_ptr<LocalServer> StartTlsServer(const test::TempFolder& folder) {
  const std::string key = folder.Path("server.key");
  const std::string certificate = folder.Path("server.crt");
  const auto made = test::RunProgram({"/usr/bin/openssl", "req", "-x509", "-newkey", "rsa:2048",
                                      "-nodes", "-days", "2", "-subj", "/CN=localhost", "-keyout",
                                      key, "-out", certificate});
  EXPECT_EQ(made.code, 0) << made.err;
  if (geteuid() == 0) {  // PostgreSQL runs as another user then, and takes root's key of its group.
    const passwd* const user = getpwnam("postgres");
    EXPECT_EQ(chown(key.c_str(), 0, user->pw_gid), 0);
    EXPECT_EQ(chmod(key.c_str(), 0640), 0);
    EXPECT_EQ(chmod(folder.path().c_str(), 0755), 0);
  }
  LocalServerOptions options;
  options.durable = false;
  options.listen_tcp = true;
  options.settings = {{"ssl", "on"}, {"ssl_key_file", key}, {"ssl_cert_file", certificate}};
  auto server = LocalServer::Start(options);
  EXPECT_TRUE(server.ok()) << server.error().message;
  return std::move(server).value();
}

// Goal: what libpq has to decrypt comes out the same, and errors too.
TEST(ConnectionByTls, CopiesAsWithoutIt) {
  const test::TempFolder folder;
  const auto server = StartTlsServer(folder);
  const sys::Stop never;
  Target target = Target::Parse(server->tcp_url()).value();
  target.Set("sslmode", "require");
  const auto opened = Connection::Open(target, "weir/test", never);
  ASSERT_TRUE(opened.ok()) << opened.error().message;
  Connection& connection = *opened.value();
  EXPECT_EQ(connection.QueryRow("SELECT ssl FROM pg_stat_ssl WHERE pid = pg_backend_pid()")
                .value()[0],
            "t");
  const std::string select =
      "SELECT repeat('x', (i * 7919) % 40000) FROM generate_series(1, 2000) i";
  const auto plain = Connection::Open(Target::Parse(server->url()).value(), "weir/test", never);
  EXPECT_EQ(test::CaptureCopy(connection, select), test::CaptureCopy(*plain.value(), select));
  ASSERT_TRUE(
      connection.StartCopyOut("COPY (SELECT 1/(i-500) FROM generate_series(1, 1000) i) TO STDOUT")
          .ok());
  EXPECT_EQ(test::CopyReader(connection).Rest().error().message, "division by zero");
  EXPECT_EQ(connection.QueryRow("SELECT 5").value()[0], "5");
}

// The server's words may be in any language; its SQLSTATE is not.
TEST_F(TcpServerTest, FailuresAreKnownByStateNotByWords) {
  Target target = Tcp();
  target.Set("user", "no \"database\" does not exist");
  target.Set("password", "any");
  const std::string failure = FailureOf(target, Code::kInvalid);
  EXPECT_TRUE(failure.ends_with("or the password in the URL")) << failure;
}

std::unique_ptr<LocalServer> StartServer() {
  LocalServerOptions options;
  options.durable = false;
  return LocalServer::Start(options).value();
}

// Goal:   a server that does not take the request in does not hold its caller, and the request is
//         not lost.
// Method: a real server whose postmaster stands still: the kernel accepts the request's connection,
//         and nobody answers it.
TEST(ConnectionToAStandstill, CancelReturnsWithinItsBoundAndIsDoneLater) {
  const auto server = StartServer();
  const sys::Stop never;
  const auto target = Target::Parse(server->url()).value();
  const auto watcher = Connection::Open(target, "weir/test", never).value();
  const auto connection = Connection::Open(target, "weir/test", never).value();
  Result<Rows> rows = Rows();
  std::thread waiter([&] { rows = connection->Query("SELECT pg_sleep(600)"); });
  const std::string state = StateSql(connection->backend_pid());
  EXPECT_TRUE(Becomes("active", [&] { return watcher->QueryRow(state).value()[0].value_or(""); }));
  kill(server->pid(), SIGSTOP);
  const sys::Duration start = sys::SteadyNow();
  connection->Cancel(milliseconds(50));
  const sys::Duration took = sys::SteadyNow() - start;
  kill(server->pid(), SIGCONT);
  waiter.join();
  EXPECT_GE(took, milliseconds(50));
  EXPECT_LT(took, kCancelBound);  // Without a bound, for ever.
  ASSERT_FALSE(rows.ok());
  EXPECT_NE(rows.error().message.find("someone cancelled the statement"), std::string::npos);
}

TEST(ConnectionToACrash, AKilledServerIsUnavailableInOneSentence) {
  const auto server = StartServer();
  const sys::Stop never;
  const auto target = Target::Parse(server->url()).value();
  const auto copying = Connection::Open(target, "weir/test", never).value();
  const auto idle = Connection::Open(target, "weir/test", never).value();
  ASSERT_TRUE(copying->StartCopyOut(kEndless).ok());
  server->Crash();
  const auto piece = test::CopyReader(*copying).Rest();
  ASSERT_FALSE(piece.ok());
  for (const Error& error :
       {piece.error(), idle->Query("SELECT 1").error(), copying->Exec("SELECT 1").error(),
        Connection::Open(target, "weir/test", never).error()}) {
    EXPECT_EQ(error.code, Code::kUnavailable) << error.message;
    EXPECT_EQ(error.message.find_first_of("\n\t"), std::string::npos) << error.message;
    EXPECT_NE(error.message.find("run again"), std::string::npos) << error.message;
  }
}

// ---- Servers that keep to no protocol -----------------------------------------------------------

std::unique_ptr<Connection> ConnectTo(const test::FakeServer& server, const sys::Stop& stop,
                                      sys::Duration reply_bound = kReplyBound) {
  return Connection::Open(Target::Parse(server.Url("me", "db")).value(), "weir/test", stop,
                          reply_bound)
      .value();
}

const std::string kCopyOut = test::FakeServer::Message('H', std::string("\1\0\1\0\1", 5));
const std::string kCopyRows = test::FakeServer::Message('d', "rows") +
                              test::FakeServer::Message('c', "") +
                              test::FakeServer::Message('C', std::string("COPY 1\0", 7));

TEST(ConnectionToAFake, ACopyNobodyAskedForIsAnErrorAndTheEndOfTheSession) {
  using test::FakeServer;
  const sys::Stop never;
  const std::string in = FakeServer::Message('G', std::string("\1\0\1\0\1", 5));
  const std::string both = FakeServer::Message('W', std::string("\1\0\1\0\1", 5));
  const std::vector<std::function<Error(Connection&)>> calls = {
      [](Connection& to) { return to.Query("SELECT 1").error(); },
      [](Connection& to) { return to.Exec("SELECT 1").error(); },
      [](Connection& to) { return to.DescribeStatement("SELECT 1").error(); },
  };
  for (const std::string& answer : {kCopyOut + kCopyRows + FakeServer::Ready(), in, both}) {
    const FakeServer server(answer);
    for (const auto& call : calls) {
      const auto connection = ConnectTo(server, never);
      const Error error = call(*connection);
      EXPECT_EQ(error.code, Code::kCorrupt) << error.message;
      EXPECT_TRUE(error.message.ends_with("began a COPY that was not asked for; the connection was "
                                          "closed: see what answers there"))
          << error.message;
      EXPECT_FALSE(connection->is_alive());
      EXPECT_EQ(connection->Query("SELECT 1").error().code, Code::kUnavailable);
    }
  }
  const FakeServer server(in);  // Nor is this what was asked for.
  EXPECT_EQ(ConnectTo(server, never)->StartCopyOut("COPY t TO STDOUT").error().code,
            Code::kCorrupt);
}

TEST(ConnectionToAFake, WhatFollowsTheEndOfACopyIsAnError) {
  using test::FakeServer;
  const sys::Stop never;
  const std::string commit = FakeServer::Message('C', std::string("COMMIT\0", 7));
  for (const std::string& more : {commit, kCopyOut + kCopyRows, kCopyOut}) {
    const FakeServer server(kCopyOut + kCopyRows + more + FakeServer::Ready());
    const auto connection = ConnectTo(server, never);
    ASSERT_TRUE(connection->StartCopyOut("COPY t TO STDOUT").ok());
    const auto end = test::CopyReader(*connection).Rest();
    ASSERT_FALSE(end.ok());
    EXPECT_EQ(end.error().code, Code::kCorrupt) << end.error().message;
  }
}

// A notice or an error: fields of a letter and a text.
std::string Saying(char type, const std::string& severity, const std::string& state,
                   const std::string& words) {
  std::string fields;
  for (const std::string& field : {"S" + severity, "V" + severity, "C" + state, "M" + words}) {
    fields += field + '\0';
  }
  return test::FakeServer::Message(type, fields + '\0');
}

const std::string kNotice = Saying('N', "NOTICE", "00000", "words");

// Goal: what is no row reaches libpq wherever it stands, and the rows around it come out whole.
TEST(ConnectionToAFake, NoticesAndSettingsMayComeBetweenRows) {
  using test::FakeServer;
  const sys::Stop never;
  const std::string long_notice = Saying('N', "NOTICE", "00000", std::string(100'000, 'w'));
  const std::string setting = FakeServer::Message('S', std::string("TimeZone\0UTC\0", 13));
  const std::string rows = FakeServer::Message('d', "one ") + kNotice + setting + long_notice +
                           FakeServer::Message('d', "two ") + kNotice + kCopyRows;
  const FakeServer server(setting + kCopyOut + kNotice + rows + FakeServer::Ready());
  const auto connection = ConnectTo(server, never);
  for (int copy = 0; copy < 2; ++copy) {  // The connection is as good as new after the first.
    const auto started = connection->StartCopyOut("COPY t TO STDOUT");
    ASSERT_TRUE(started.ok()) << started.error().message;
    const auto all = test::CopyReader(*connection).Rest();
    ASSERT_TRUE(all.ok()) << all.error().message;
    EXPECT_EQ(all.value(), "one two rows");
    EXPECT_TRUE(connection->is_alive());
  }
}

TEST(ConnectionToAFake, AnErrorBetweenRowsIsTheServersOwn) {
  using test::FakeServer;
  const sys::Stop never;
  const std::string error = Saying('E', "ERROR", "22012", "too bad");
  const FakeServer server(kCopyOut + FakeServer::Message('d', "one") + error + FakeServer::Ready());
  const auto connection = ConnectTo(server, never);
  ASSERT_TRUE(connection->StartCopyOut("COPY t TO STDOUT").ok());
  test::CopyReader reader(*connection);
  const auto all = reader.Rest();
  ASSERT_FALSE(all.ok());
  EXPECT_EQ(all.error().message, "too bad");
  EXPECT_EQ(connection->last_sqlstate(), "22012");
  EXPECT_TRUE(connection->is_alive());
}

TEST(ConnectionToAFake, AStreamOfNonsenseIsAnErrorInOneSentence) {
  using test::FakeServer;
  const sys::Stop never;
  const std::string row = FakeServer::Message('d', "one");
  for (const std::string& nonsense :
       {"d" + test::Big32(2), "d" + test::Big32(0xfffffff0), "N" + test::Big32(0) + "xxxxxxxx",
        "?" + test::Big32(8) + "what", FakeServer::Message('d', "one").substr(0, 6) + kNotice,
        FakeServer::Message('Z', "I"), FakeServer::Message('T', std::string("\0\0", 2))}) {
    const FakeServer server(kCopyOut + row + nonsense + FakeServer::Ready());
    const auto connection = ConnectTo(server, never, milliseconds(200));
    ASSERT_TRUE(connection->StartCopyOut("COPY t TO STDOUT").ok());
    const auto all = test::CopyReader(*connection, milliseconds(200)).Rest();
    ASSERT_FALSE(all.ok()) << nonsense;
    EXPECT_EQ(all.error().message.find('\n'), std::string::npos) << all.error().message;
  }
}

// One that says nothing, and ones that talk without end and never answer.
TEST(ConnectionToAFake, AnAnswerThatDoesNotEndIsGivenUp) {
  using test::FakeServer;
  const sys::Stop never;
  const std::string notice = FakeServer::Message('N', std::string("SNOTICE\0Mwords\0\0", 16));
  const std::string setting = FakeServer::Message('S', std::string("a\0b\0", 4));
  for (const std::string& answer : {std::string(), notice, setting}) {
    const FakeServer server(answer, !answer.empty());
    const auto connection = ConnectTo(server, never, milliseconds(50));
    const auto rows = connection->Query("SELECT 1");
    ASSERT_FALSE(rows.ok());
    EXPECT_EQ(rows.error().code, Code::kUnavailable);
    EXPECT_TRUE(rows.error().message.ends_with(
        "gave no whole answer within 50 ms; see what holds up the server or the network, then run "
        "again"))
        << rows.error().message;
    EXPECT_TRUE(connection->fell_silent());
    EXPECT_EQ(connection->Exec("SELECT 1").error().code, Code::kUnavailable);
  }
}

TEST(ConnectionToAFake, AMessageOfTypeNulIsSaidSo) {
  const test::FakeServer server(std::string(20, '\0'));
  const sys::Stop never;
  const auto rows = ConnectTo(server, never)->Query("SELECT 1");
  ASSERT_FALSE(rows.ok());
  EXPECT_NE(rows.error().message.find("\\x00"), std::string::npos) << rows.error().message;
}

TEST(ConnectionToAFake, AStopEndsAnAnswerThatDoesNot) {
  using test::FakeServer;
  for (const std::string& answer : {FakeServer::Message('S', std::string("a\0b\0", 4)), kCopyOut,
                                    FakeServer::Message('C', std::string("SELECT 1\0", 9))}) {
    const FakeServer server(answer, true);
    sys::Stop stop;
    const auto connection = ConnectTo(server, stop, kNoBound);
    Result<Rows> rows = Rows();
    std::thread waiter([&] { rows = connection->Query("SELECT 1"); });
    stop.Ask();
    waiter.join();
    EXPECT_FALSE(rows.ok());
  }
}

// The kernel takes the connection, and nobody ever answers on it.
TEST(ConnectionToSilence, TheEnvironmentsTimeoutIsObeyed) {
  const int listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof address;
  ASSERT_EQ(bind(listener, reinterpret_cast<sockaddr*>(&address), size), 0);
  ASSERT_EQ(listen(listener, 1), 0);
  ASSERT_EQ(getsockname(listener, reinterpret_cast<sockaddr*>(&address), &size), 0);
  const std::string url =
      fmt::format("postgresql://me@127.0.0.1:{}/db?sslmode=disable", ntohs(address.sin_port));

  setenv("PGCONNECT_TIMEOUT", "1", 1);  // libpq's least is 2.
  const sys::Stop never;
  const auto refused = Connection::Open(Target::Parse(url).value(), "weir/test", never);
  unsetenv("PGCONNECT_TIMEOUT");
  close(listener);
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.error().code, Code::kUnavailable);
  EXPECT_NE(refused.error().message.find("no answer within 2 s"), std::string::npos)
      << refused.error().message;
}

}  // namespace
}  // namespace weir::pg
