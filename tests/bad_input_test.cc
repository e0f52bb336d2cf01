// What people and machines do wrong, done to the real program: it says one sentence that names the
// thing, the reason and the remedy, gives its exit code, and leaves nothing half done.
#include <gtest/gtest.h>
#include <sched.h>
#include <sys/mount.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <filesystem>

#include "tests/support/folder.h"
#include "tests/support/postgres.h"
#include "tests/support/program.h"
#include "weir/file/manifest.h"
#include "weir/file/parquet_reader.h"
#include "weir/ledger/sqlite_ledger.h"

namespace weir {
namespace {

using test::Ended;
using test::RunProgram;

// A file-system of its own that is full after some megabytes; gone with the test's thread.
class SmallDisk {
 public:
  explicit SmallDisk(const std::string& path) : path_(path) {
    std::filesystem::create_directories(path);
    mounted_ = unshare(CLONE_NEWNS) == 0 &&
               mount("none", "/", nullptr, MS_REC | MS_PRIVATE, nullptr) == 0 &&
               mount("tmpfs", path.c_str(), "tmpfs", 0, "size=3m") == 0;
  }
  ~SmallDisk() {
    if (mounted_) umount2(path_.c_str(), MNT_DETACH);
  }
  bool mounted() const { return mounted_; }
  void ForbidWrites() {
    EXPECT_EQ(mount(nullptr, path_.c_str(), nullptr, MS_REMOUNT | MS_RDONLY, nullptr), 0);
  }

 private:
  const std::string path_;
  bool mounted_ = false;
};

class BadInput : public testing::Test {
 protected:
  std::string Out() const { return folder_.Path("out"); }
  std::vector<std::string> Export(const std::string& url, const std::string& table,
                                  const std::vector<std::string>& more = {}) const {
    std::vector<std::string> argv = {WEIR_PROGRAM, "export", url,   table,
                                     "-o",         Out(),    "--quiet"};
    argv.insert(argv.end(), more.begin(), more.end());
    return argv;
  }
  // The sentence without "weir: "; checks that it is one line, and all there is.
  static std::string Sentence(const Ended& ended) {
    EXPECT_EQ(ended.out, "");
    EXPECT_TRUE(ended.err.starts_with("weir: ")) << ended.err;
    EXPECT_EQ(std::count(ended.err.begin(), ended.err.end(), '\n'), 1) << ended.err;
    EXPECT_TRUE(ended.err.ends_with("\n"));
    return ended.err.substr(6, ended.err.size() - 7);
  }
  std::vector<std::string> Names(const std::string& folder) {
    std::vector<std::string> names;
    if (!files_.Exists(folder)) return names;
    const auto listed = files_.List(folder);
    for (const std::string& name : listed.value()) {
      if (!name.starts_with(ledger::kStateFileName)) names.push_back(name);
    }
    return names;
  }
  // True once rows are in a file.
  bool HasWritten() {
    for (const std::string& name : Names(Out())) {
      const auto size = files_.SizeBytes(test::FirstPart(Out() + "/" + name));
      if (size.ok() && size.value() > 0) return true;
    }
    return false;
  }
  // The one part of an output.
  std::string TextOf(const std::string& table) {
    return files_.Read(test::FirstPart(Out() + "/" + table), 100 << 20).value();
  }
  std::vector<ledger::RunRow> Runs(const std::string& folder) {
    const std::string state = sys::JoinPath(folder, ledger::kStateFileName);
    const auto opened = ledger::OpenSqliteLedger(state, clock_);
    EXPECT_TRUE(opened.ok());
    return opened.value().ledger->Runs({}).value();
  }
  std::string LastStatus() {
    const auto runs = Runs(Out());
    return runs.empty() ? "none" : std::string(ledger::RunStatusName(runs[0].end.status));
  }
  // Rows of the output, which must be whole; -1 when there is none.
  int64_t WholeRows(const std::string& table) {
    const std::string path = Out() + "/" + table;
    if (!files_.Exists(path)) return -1;
    const auto manifest = file::ReadManifest(files_, path);
    EXPECT_TRUE(manifest.ok()) << manifest.error().message;
    EXPECT_TRUE(files_.Exists(path + "/_SUCCESS"));
    int64_t rows = 0;
    for (const auto& part : manifest.value().parts) {
      EXPECT_EQ(files_.SizeBytes(path + "/" + part.path).value(), part.bytes);
      rows += file::OpenParquet(path + "/" + part.path, 100, blocks_).value()->row_count();
    }
    EXPECT_EQ(rows, manifest.value().total_rows());
    return rows;
  }

  test::TempFolder folder_;
  sys::DiskFiles files_;
  sys::RealClock clock_;
  mem::Budget budget_{"test", mem::kUnlimited};
  mem::BlockAllocator blocks_{budget_, 0};
};

class BadInputOnAServer : public BadInput {
 protected:
  // A read that does not end by itself.
  void MakeEndless() {
    db_.Exec("CREATE VIEW endless AS SELECT generate_series(1, 1000000000) AS a, "
             "repeat('x', 100) AS b");
  }
  bool IsCopying() {
    return db_.Text("SELECT count(*) FROM pg_stat_activity WHERE state = 'active' AND "
                    "application_name LIKE 'weir/2%' AND query LIKE 'COPY%'") == "1";
  }
  bool NobodyIsConnected() {
    return db_.Text("SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND "
                    "application_name LIKE 'weir/%' AND pid <> pg_backend_pid() AND "
                    "application_name <> 'weir/test'") == "0";
  }

  test::Database db_;
};

// ---- Before anything is read --------------------------------------------------------------------

TEST_F(BadInput, AnUnreachableHost) {
  const Ended ended = RunProgram(Export("postgresql://ann:s3cret@127.0.0.1:1/shop", "t"));
  EXPECT_EQ(ended.code, 2);
  EXPECT_EQ(Sentence(ended),
            "cannot connect to ann@127.0.0.1:1/shop: connection to server at \"127.0.0.1\", port 1 "
            "failed: Connection refused Is the server running on that host and accepting TCP/IP "
            "connections?; check host, port and network, then run again");
  EXPECT_FALSE(files_.Exists(Out()));
}

TEST_F(BadInput, AddressesThatAreNone) {
  for (const char* url : {"postgresql://ann:p@s3cret@h/d", "postgresql://ann:pa/s3cret@h/d",
                          "postgresql://h:s3cret", "s3cret"}) {
    const Ended ended = RunProgram(Export(url, "t"));
    EXPECT_EQ(ended.code, 64);
    EXPECT_EQ(Sentence(ended).find("s3cret"), std::string::npos);
    EXPECT_NE(ended.err.find("percent-encode special characters in the password"),
              std::string::npos);
  }
}

// A network is crossed in the clear only by who says so; an empty address says nothing at all.
TEST_F(BadInput, RemoteHostsWithoutTlsAndEmptyText) {
  for (const char* url : {"postgresql://ann:s3cret@db.invalid/shop",
                          "postgresql://db.invalid/shop?sslmode=prefer", "host=db.invalid"}) {
    const Ended ended = RunProgram(Export(url, "t"));
    EXPECT_EQ(ended.code, 64);
    EXPECT_EQ(Sentence(ended),
              "the host is remote and nothing asks for TLS, so the password and the rows would "
              "cross the network in the clear; end the URL with ?sslmode=require, or with "
              "?sslmode=disable to accept that");
  }
  for (const char* mode : {"disable", "require"}) {
    const Ended asked = RunProgram(
        Export(std::string("postgresql://db.invalid/shop?sslmode=") + mode, "t"));
    EXPECT_EQ(asked.code, 2);
    EXPECT_TRUE(Sentence(asked).starts_with("cannot connect to db.invalid/shop")) << asked.err;
  }
  const Ended no_url = RunProgram(Export("", "t"), {"PGHOST=127.0.0.1", "PGPORT=1"});
  EXPECT_EQ(no_url.code, 64);
  EXPECT_EQ(Sentence(no_url),
            "the source address is empty; write postgresql://user@host:port/database, or "
            "postgresql:// for what PGHOST, PGDATABASE and PGUSER say");
  EXPECT_EQ(RunProgram(Export("postgresql://", "t"), {"PGHOST=127.0.0.1", "PGPORT=1"}).code, 2);
  const Ended no_where = RunProgram(Export("postgresql://127.0.0.1:1/d", "t", {"--where", ""}));
  EXPECT_EQ(no_where.code, 64);
  EXPECT_EQ(Sentence(no_where), "--where: it is empty; write something there or leave it out; see "
                                "weir export --help");
}

TEST_F(BadInput, NumbersAndCommandsAreNamedInWords) {
  const std::string url = "postgresql://127.0.0.1:1/d";
  const Ended limit = RunProgram(Export(url, "t", {"--limit", "-1"}));
  EXPECT_EQ(limit.code, 64);
  EXPECT_EQ(Sentence(limit),
            "--limit: '-1' is not a whole number of 0 or more; see weir export --help");
  const Ended trials = RunProgram({WEIR_PROGRAM, "bench", "extract", "--trials", "0"});
  EXPECT_EQ(trials.code, 64);
  EXPECT_EQ(Sentence(trials),
            "--trials: '0' is not a whole number of 1 or more; see weir bench extract --help");
  const Ended state = RunProgram({WEIR_PROGRAM, "state", "runs", "--no-such"});
  EXPECT_TRUE(Sentence(state).ends_with("; see weir state runs --help")) << state.err;
}

// Wherever an address stands on a wrong command line, its password is not repeated.
TEST_F(BadInput, AddressesInTheWrongPlace) {
  const std::string url = "postgresql://ann:s3cret@h/d";
  const std::vector<std::vector<std::string>> lines = {
      {url, "t", "-o", Out()},
      {"export", url},
      {"export", url, url, "-o", Out()},
      {"export", "t", url, "-o", Out()},
      {"export", url, "t", "-o", Out(), "--format", url},
      {"export", url, "t", "-o", Out(), "--limit", url},
      {"export", url, "t", "-o", Out(), "--no-such-flag=" + url},
      {"expor", url},
      {"run", url},
      {"run", "-c", url},
  };
  for (const auto& line : lines) {
    std::vector<std::string> argv = {WEIR_PROGRAM};
    argv.insert(argv.end(), line.begin(), line.end());
    const Ended ended = RunProgram(argv);
    EXPECT_NE(ended.code, 0) << line[0];
    Sentence(ended);
    EXPECT_EQ((ended.out + ended.err).find("s3cret"), std::string::npos) << ended.out << ended.err;
  }
}

TEST_F(BadInputOnAServer, AWrongDatabase) {
  const Ended ended = RunProgram(Export(test::Server().url("nowhere"), "t"));
  EXPECT_EQ(ended.code, 1);
  EXPECT_TRUE(Sentence(ended).ends_with(
      "/nowhere: database \"nowhere\" does not exist; check the database name"))
      << ended.err;
}

TEST_F(BadInputOnAServer, AMissingTable) {
  const Ended ended = RunProgram(Export(db_.url(), "public.nothing"));
  EXPECT_EQ(ended.code, 1);
  EXPECT_EQ(Sentence(ended), "no table public.nothing in database " + db_.name() +
                                 "; check its name and schema");
}

// A shell takes the quotes away that a name with capitals needs.
TEST_F(BadInputOnAServer, ATableOfAnotherCase) {
  db_.Exec("CREATE TABLE \"Mixed\" (a int)");
  for (const char* written : {"Mixed", "public.mixed"}) {
    const Ended ended = RunProgram(Export(db_.url(), written));
    EXPECT_EQ(ended.code, 1);
    const std::string found = std::string_view(written) == "Mixed" ? "\"Mixed\""
                                                                   : "public.\"Mixed\"";
    EXPECT_TRUE(Sentence(ended).ends_with("; there is " + found + ": write '" + found +
                                          "' for it, with the quotes"))
        << ended.err;
  }
}

TEST_F(BadInputOnAServer, AMissingRole) {
  std::string url = db_.url();
  url.replace(url.find("weir@"), 5, "nobody_of_that_name@");
  const Ended ended = RunProgram(Export(url, "t"));
  EXPECT_EQ(ended.code, 1);
  EXPECT_TRUE(Sentence(ended).ends_with("role \"nobody_of_that_name\" does not exist; check the "
                                        "user's name and that it may log in"))
      << ended.err;
}

TEST_F(BadInputOnAServer, ColumnsTakeOneValuePerUse) {
  db_.Exec("CREATE TABLE t AS SELECT 1 AS id, 2 AS \"a,b\", 3 AS \"Id\", 4 AS c");
  const auto columns = [&](const std::vector<std::string>& flags) {
    std::vector<std::string> argv = {WEIR_PROGRAM, "export"};
    argv.insert(argv.end(), flags.begin(), flags.end());
    argv.insert(argv.end(), {db_.url(), "t", "-o", Out(), "--format", "csv", "--quiet"});
    const Ended ended = RunProgram(argv);
    return ended.code == 0 ? TextOf("public.t") : ended.err;
  };
  EXPECT_EQ(columns({"--columns", "ID"}), "id\r\n1\r\n");
  EXPECT_EQ(columns({"--columns", "\"a,b\",c"}), "\"a,b\",c\r\n2,4\r\n");
  EXPECT_EQ(columns({"--columns", "c", "--columns", "\"Id\""}), "c,Id\r\n4,3\r\n");
  EXPECT_EQ(columns({"--exclude", "\"a,b\"", "--exclude", "\"Id\",id"}), "c\r\n4\r\n");
  EXPECT_EQ(columns({"--columns", "a b"}),
            "weir: --columns: 'a b' is not a list of columns: write names with commas between "
            "them, and double quotes around odd characters\n");
}

// A condition may close the parenthesis that it stands in; it cannot begin another statement.
TEST_F(BadInputOnAServer, AConditionThatIsSeveralStatements) {
  db_.Exec("CREATE TABLE s AS SELECT i AS id, 'x' AS a FROM generate_series(1, 10) i; "
           "CREATE TABLE victim AS SELECT 1 AS a");
  for (const char* where :
       {"id<5)) TO STDOUT (FORMAT binary); COMMIT; DROP TABLE victim; COPY (SELECT * FROM s WHERE "
        "(true",
        "id<5)) TO STDOUT; COPY (SELECT * FROM s WHERE (true",
        "id<5); DROP TABLE victim; SELECT (true"}) {
    const Ended ended = RunProgram(Export(db_.url(), "s", {"--where", where}));
    EXPECT_EQ(ended.code, 1) << where;
    Sentence(ended);
    EXPECT_EQ(db_.Text("SELECT count(*) FROM victim"), "1");
    EXPECT_TRUE(Names(Out()).empty());
  }
}

TEST_F(BadInputOnAServer, MissingRightsOnColumns) {
  db_.Exec("DROP ROLE IF EXISTS teller; CREATE ROLE teller LOGIN; "
           "CREATE TABLE t (a int, b int, c int); GRANT SELECT (a) ON t TO teller");
  std::string url = db_.url();
  url.replace(url.find("weir@"), 5, "teller@");
  const Ended ended = RunProgram(Export(url, "t"));
  EXPECT_EQ(ended.code, 1);
  EXPECT_EQ(Sentence(ended),
            "export public.t: this user may not SELECT b, c; grant it, or leave these out with "
            "--exclude");
  EXPECT_EQ(RunProgram(Export(url, "t", {"--exclude", "b,c"})).code, 0);
  db_.Exec("DROP OWNED BY teller; DROP ROLE teller");
}

TEST_F(BadInputOnAServer, TypesThatAreNotSupported) {
  db_.Exec("CREATE TABLE t (a int, b interval)");
  const Ended ended = RunProgram(Export(db_.url(), "t"));
  EXPECT_EQ(ended.code, 1);
  EXPECT_EQ(Sentence(ended),
            "export public.t: column b (type interval is not supported yet); leave the column out "
            "with --exclude");
  EXPECT_EQ(LastStatus(), "failed");
  EXPECT_TRUE(Names(Out()).empty());
}

class BadInputOverTcp : public BadInput {
 protected:
  static void SetUpTestSuite() {
    pg::LocalServerOptions options;
    options.durable = false;
    options.listen_tcp = true;
    server_ = pg::LocalServer::Start(options).value().release();
  }
  static void TearDownTestSuite() { delete std::exchange(server_, nullptr); }

  // The URL with a password written into it.
  static std::string UrlWith(const std::string& encoded_password) {
    std::string url = server_->tcp_url();
    url.replace(url.find("weir@"), 5, "weir:" + encoded_password + "@");
    return url.substr(0, url.find('?'));
  }

  static pg::LocalServer* server_;
};
pg::LocalServer* BadInputOverTcp::server_ = nullptr;

TEST_F(BadInputOverTcp, AWrongPassword) {
  const Ended ended = RunProgram(Export(UrlWith("s3cret%20%40%2F%3A%25%22"), "t"));
  EXPECT_EQ(ended.code, 1);
  EXPECT_TRUE(Sentence(ended).ends_with(
      "/postgres: password authentication failed for user \"weir\"; check the user and PGPASSWORD, "
      "~/.pgpass or the password in the URL"))
      << ended.err;
  EXPECT_EQ(ended.err.find("s3cret"), std::string::npos);
}

TEST_F(BadInputOverTcp, TlsThatTheServerRefuses) {
  const Ended ended = RunProgram(Export(server_->tcp_url() + "&sslmode=require", "t"));
  EXPECT_EQ(ended.code, 1);
  EXPECT_TRUE(Sentence(ended).ends_with(
      "server does not support SSL, but SSL was required; check sslmode, sslrootcert and the "
      "server's TLS settings"))
      << ended.err;
}

// Goal: no file and no output of a run, failed or not, holds the password of its URL.
TEST_F(BadInputOverTcp, ThePasswordIsNowhere) {
  const std::string password = "it's a \"s3cret\" %@:/?#";
  const std::string encoded = "it%27s%20a%20%22s3cret%22%20%25%40%3A%2F%3F%23";
  const auto run = [&](const std::string& sql) {
    return RunProgram({"/usr/bin/env", "psql", "-qX", server_->url(), "-c", sql}).code;
  };
  ASSERT_EQ(run("CREATE ROLE ann LOGIN PASSWORD 'it''s a \"s3cret\" %@:/?#'; "
                "CREATE TABLE good AS SELECT 1 AS a; GRANT SELECT ON good TO ann; "
                "CREATE VIEW bad AS SELECT 1 / (i - 5) AS a FROM generate_series(1, 9) i; "
                "GRANT SELECT ON bad TO ann"),
            0);
  std::string url = UrlWith(encoded);
  url.replace(url.find("weir:"), 5, "ann:");
  std::string all;
  for (const char* table : {"good", "bad", "missing"}) {
    auto argv = Export(url, table, {"--json"});
    argv.insert(argv.begin() + 1, "-v");
    const Ended ended = RunProgram(argv);
    EXPECT_EQ(ended.code, std::string_view(table) == "good" ? 0 : 1) << ended.err;
    all += ended.out + ended.err;
  }
  int files = 0;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(Out())) {
    if (!entry.is_regular_file()) continue;
    all += files_.Read(entry.path(), 100 << 20).value();
    EXPECT_EQ(entry.status().permissions() & std::filesystem::perms(0077),
              std::filesystem::perms::none)
        << entry.path();
    ++files;
  }
  EXPECT_GE(files, 4);
  for (const std::string& secret : {password, encoded, std::string("s3cret")}) {
    EXPECT_EQ(all.find(secret), std::string::npos);
  }
}

// ---- In the middle of a run ---------------------------------------------------------------------

TEST_F(BadInputOnAServer, AViewThatFailsMidway) {
  db_.Exec("CREATE VIEW v AS SELECT 1 / (i - 500) AS a FROM generate_series(1, 1000) i");
  const Ended ended = RunProgram(Export(db_.url(), "v"));
  EXPECT_EQ(ended.code, 1);
  const std::string sentence = Sentence(ended);
  EXPECT_TRUE(sentence.starts_with("export public.v: after ")) << sentence;
  EXPECT_TRUE(sentence.ends_with(" rows: division by zero")) << sentence;
  EXPECT_TRUE(Names(Out()).empty());
  EXPECT_EQ(LastStatus(), "failed");
}

// What a failed run read was read: its counters say so. One that read nothing says nothing.
TEST_F(BadInputOnAServer, AFailedRunTellsWhatItCounted) {
  db_.Exec("CREATE VIEW v AS SELECT i, repeat('x', 100) AS b FROM generate_series(1, 300000) i "
           "WHERE 1 / (i - 299999) < 2; CREATE TABLE refused (a interval)");
  const Ended midway = RunProgram(Export(db_.url(), "v", {"--json"}));
  EXPECT_EQ(midway.code, 1) << midway.err;
  for (const char* false_zero :
       {"\"total_rows\":0", "\"bytes_read\":0", "\"batches\":0", "\"rows_per_batch\":0",
        "\"source_wait_ms\":0", "\"decode_ms\":0", "\"longest_statement_ms\":0",
        "\"snapshot_hold_ms\":0", ":null"}) {
    EXPECT_EQ(midway.out.find(false_zero), std::string::npos) << midway.out;
  }
  const auto recorded = Runs(Out())[0].end;
  EXPECT_GT(recorded.bytes_read.value(), 10'000'000);
  EXPECT_GT(recorded.batches.value(), 1);
  EXPECT_GT(recorded.total_rows.value(), 100'000);
  EXPECT_FALSE(recorded.files_produced.has_value());

  const Ended refused = RunProgram(Export(db_.url(), "refused", {"--json"}));
  EXPECT_EQ(refused.code, 1) << refused.err;
  for (const char* unknown : {"\"total_rows\":null", "\"bytes_read\":null", "\"batches\":null",
                              "\"snapshot_hold_ms\":null", "no COPY was begun"}) {
    EXPECT_NE(refused.out.find(unknown), std::string::npos) << refused.out;
  }
  EXPECT_FALSE(Runs(Out())[0].end.bytes_read.has_value());
}

// A server that dies in the middle of a run, and may be started again where it was.
class BadInputOnALostServer : public BadInput {
 protected:
  BadInputOnALostServer() {
    std::filesystem::permissions(folder_.path(), std::filesystem::perms(0755));
    options_.folder = folder_.Path("server");
    options_.keep = true;
    options_.durable = false;
    options_.settings = {{"synchronous_commit", "on"}};  // What was made outlives the crash.
    Start();
  }
  void Start() { server_ = pg::LocalServer::Start(options_).value(); }
  std::unique_ptr<pg::Connection> Connect() {
    return pg::Connection::Open(pg::Target::Parse(server_->url()).value(), "weir/test", never_)
        .value();
  }
  void MakeEndless() {
    EXPECT_TRUE(
        Connect()->Exec("CREATE VIEW endless AS SELECT generate_series(1, 1000000000) AS a").ok());
  }
  // The arguments of a balanced run of `view` whose first retry comes after `backoff_ms`.
  std::vector<std::string> Run(const std::string& view, int retries, int backoff_ms) {
    const std::string config = folder_.Write(
        "weir.yaml",
        fmt::format("source:\n  type: postgres\n  url: {}\n"
                    "  tuning: {{profile: balanced, max_retries: {}, retry_backoff_ms: {}}}\n"
                    "exports:\n  - name: {}\n    table: {}\n    format: csv\n"
                    "    destination: {{type: local, path: '{}'}}\n",
                    server_->url(), retries, backoff_ms, view, view, Out()));
    return {WEIR_PROGRAM, "run", "-c", config, "--quiet"};
  }

  const sys::Stop never_;
  pg::LocalServerOptions options_;
  std::unique_ptr<pg::LocalServer> server_;
};

TEST_F(BadInputOnALostServer, KilledMidRunItIsUnavailable) {
  MakeEndless();
  test::Program program(
      Export(server_->url(), "endless", {"--format", "csv", "--profile", "fast"}));
  ASSERT_TRUE(program.Until([&] { return HasWritten(); }));
  server_->Crash();
  const Ended ended = program.Wait();
  EXPECT_EQ(ended.code, 2) << ended.err;
  EXPECT_NE(ended.err.find("run again"), std::string::npos) << ended.err;
  EXPECT_TRUE(Names(Out()).empty());
  EXPECT_EQ(LastStatus(), "failed");
}

TEST_F(BadInputOnALostServer, GoneForGoodItIsTriedAsOftenAsTheProfileSays) {
  MakeEndless();
  test::Program program(Run("endless", 3, 10));
  ASSERT_TRUE(program.Until([&] { return HasWritten(); }));
  server_->Crash();
  const Ended ended = program.Wait();
  EXPECT_EQ(ended.code, 2) << ended.err;
  for (const char* retry : {"(retry 1 of 3)", "(retry 2 of 3)", "(retry 3 of 3)"}) {
    EXPECT_NE(ended.err.find(retry), std::string::npos) << ended.err;
  }
  EXPECT_NE(ended.err.find("weir: export endless: "), std::string::npos) << ended.err;
  EXPECT_TRUE(ended.err.ends_with("run again\n")) << ended.err;
  EXPECT_TRUE(Names(Out()).empty());
  const auto runs = Runs(folder_.path());
  ASSERT_EQ(runs.size(), 1U);
  EXPECT_EQ(runs[0].end.status, ledger::RunStatus::kFailed);
  EXPECT_EQ(runs[0].end.retries, 3);
}

// The run is held in the middle of its rows by a lock, which goes with the server.
TEST_F(BadInputOnALostServer, BackAgainItGivesAllRowsOnce) {
  constexpr int kRows = 100'000;
  ASSERT_TRUE(Connect()
                  ->Exec(fmt::format(
                      "CREATE VIEW held AS SELECT i AS a, repeat('x', 100) AS b "
                      "FROM generate_series(1, {}) AS i "
                      "WHERE i < 90000 OR pg_advisory_xact_lock_shared(42)::text IS NOT NULL",
                      kRows))
                  .ok());
  auto holder = Connect();
  ASSERT_TRUE(holder->Exec("SELECT pg_advisory_lock(42)").ok());
  // Patience for a server that needs a minute to start.
  test::Program program(Run("held", 8, 250));
  ASSERT_TRUE(program.Until([&] { return HasWritten(); }));
  server_->Crash();
  server_.reset();
  Start();
  const Ended ended = program.Wait();
  EXPECT_EQ(ended.code, 0) << ended.err;
  EXPECT_NE(ended.err.find("(retry 1 of 8)"), std::string::npos) << ended.err;
  EXPECT_EQ(Names(Out()), (std::vector<std::string>{"held"}));
  std::string rows = "a,b\r\n";
  const std::string b(100, 'x');
  for (int i = 1; i <= kRows; ++i) rows += fmt::format("{},{}\r\n", i, b);
  EXPECT_TRUE(TextOf("held") == rows);  // Too long to be shown.
  EXPECT_EQ(Runs(folder_.path())[0].end.status, ledger::RunStatus::kSuccess);
}

TEST_F(BadInputOnAServer, SignalsEndTheRunHereAndOnTheServer) {
  MakeEndless();
  std::signal(SIGHUP, SIG_DFL);  // Whatever started this test.
  for (const int signal : {SIGINT, SIGTERM, SIGHUP}) {
    test::Program program(Export(db_.url(), "endless", {"--format", "csv"}));
    ASSERT_TRUE(program.Until([&] { return HasWritten() && IsCopying(); }));
    program.Signal(signal);
    const Ended ended = program.Wait();
    EXPECT_EQ(ended.code, 128 + signal) << ended.err;
    EXPECT_TRUE(Sentence(ended).ends_with("stopped on request")) << ended.err;
    EXPECT_TRUE(NobodyIsConnected());
    EXPECT_TRUE(Names(Out()).empty());
    EXPECT_EQ(LastStatus(), "interrupted");
  }
}

// Each table that was asked for has its object, begun or not.
TEST_F(BadInputOnAServer, TablesThatWereNotBegunHaveTheirObject) {
  MakeEndless();
  db_.Exec("CREATE TABLE t (a int); CREATE TABLE u (a int)");
  test::Program program({WEIR_PROGRAM, "export", db_.url(), "endless", "t", "u", "-o", Out(),
                         "--format", "csv", "--json"});
  ASSERT_TRUE(program.Until([&] { return HasWritten() && IsCopying(); }));
  program.Signal(SIGINT);
  const Ended ended = program.Wait();
  EXPECT_EQ(ended.code, 130) << ended.err;
  EXPECT_EQ(std::count(ended.out.begin(), ended.out.end(), '\n'), 3) << ended.out;
  for (const char* name : {"t", "u"}) {
    EXPECT_NE(ended.out.find(fmt::format(
                  R"({{"run_id":null,"export_name":"public.{0}","status":"interrupted",)"
                  R"("folder":"{1}/public.{0}","error_class":"cancelled",)"
                  R"("error_message":"not begun: stopped on request"}})",
                  name, Out())),
              std::string::npos)
        << ended.out;
  }
}

TEST_F(BadInputOnAServer, WhatIsNotMeasuredIsSaidOnce) {
  db_.Exec("CREATE TABLE t (a int); CREATE TABLE u (a int)");
  const Ended ended = RunProgram({WEIR_PROGRAM, "export", db_.url(), "t", "u", "-o", Out()});
  EXPECT_EQ(ended.code, 0) << ended.err;
  const size_t first = ended.out.find("not measured: replication_lag_max_bytes");
  ASSERT_NE(first, std::string::npos) << ended.out;
  EXPECT_EQ(ended.out.find("not measured: replication_lag_max_bytes", first + 1),
            std::string::npos);
  EXPECT_GT(first, ended.out.find("public.u: 0 rows"));
}

TEST_F(BadInputOnAServer, ADigestOfCsvIsRefused) {
  db_.Exec("CREATE TABLE t AS SELECT 1 AS a");
  ASSERT_EQ(RunProgram(Export(db_.url(), "t", {"--format", "csv"})).code, 0);
  const Ended ended = RunProgram({WEIR_PROGRAM, "bench", "digest", Out() + "/public.t"});
  EXPECT_EQ(ended.code, 1);
  EXPECT_EQ(Sentence(ended), "'" + Out() + "/public.t' holds csv files, and a digest reads Parquet "
                             "only; export with --format parquet");
}

// A terminal that cannot redraw gets no escape codes; another gets its bar.
TEST_F(BadInputOnAServer, ADumbTerminalGetsNoEscapeCodes) {
  db_.Exec("CREATE VIEW slow AS SELECT pg_sleep(1)::text AS a");
  const auto shown = [&](const std::string& term) {
    const std::string line = "TERM=" + term + " " + WEIR_PROGRAM + " export '" + db_.url() +
                             "' slow -o " + Out();
    const Ended ended = RunProgram({"/usr/bin/script", "-qec", line, "/dev/null"});
    EXPECT_EQ(ended.code, 0) << ended.out << ended.err;
    return ended.out;
  };
  EXPECT_EQ(shown("dumb").find('\033'), std::string::npos);
  EXPECT_NE(shown("xterm").find("\033[K"), std::string::npos);
}

// A stdout that takes nothing: the work is done and recorded, and the exit code is not 0.
TEST_F(BadInputOnAServer, AStdoutThatIsLost) {
  db_.Exec("CREATE TABLE t AS SELECT 1 AS a; CREATE TABLE u AS SELECT 1 AS a");
  const std::string weir = WEIR_PROGRAM;
  const std::string state = sys::JoinPath(Out(), ledger::kStateFileName);
  const std::string export_both = weir + " export '" + db_.url() + "' t u -o " + Out() + " --json";
  const auto shell = [&](const std::string& line) { return RunProgram({"/bin/sh", "-c", line}); };
  for (const std::string& line :
       {export_both + " >/dev/full", export_both + " >&-",
        weir + " state runs --json --state " + state + " >/dev/full",
        weir + " state files --state " + state + " >&-", weir + " --help >/dev/full"}) {
    const Ended ended = shell(line);
    EXPECT_EQ(ended.code, 1) << line;
    EXPECT_TRUE(Sentence(ended).starts_with("stdout cannot be written (closed, full, or its "))
        << ended.err;
    EXPECT_EQ(WholeRows("public.u"), 1);
  }
  EXPECT_EQ(Runs(Out()).size(), 4U);
  // The reader has left before the first word: the gate opens after it closed its end.
  const std::string gate = folder_.Path("gate");
  const Ended left = shell("mkfifo " + gate + "; { cat " + gate + "; " + export_both +
                           "; echo $? >" + folder_.Path("code") + "; } | { exec <&-; : >" + gate +
                           "; }");
  EXPECT_EQ(folder_.Read("code"), "1\n") << left.err;
  EXPECT_EQ(Runs(Out()).size(), 6U);
  EXPECT_EQ(Runs(Out())[0].end.status, ledger::RunStatus::kSuccess);
  EXPECT_EQ(shell(export_both + " --quiet | head -c 0; exit 0").code, 0);
}

// A signal while the first connection waits for its lock counts too.
TEST_F(BadInputOnAServer, SignalsEndTheWaitForALock) {
  db_.Exec("CREATE TABLE t (a int)");
  db_.Exec("BEGIN; LOCK TABLE t IN ACCESS EXCLUSIVE MODE");
  test::Program program(Export(db_.url(), "t"));
  ASSERT_TRUE(program.Until([&] {
    return db_.Text("SELECT count(*) FROM pg_locks WHERE NOT granted") == "1";
  }));
  program.Signal(SIGTERM);
  const Ended ended = program.Wait();
  EXPECT_EQ(ended.code, 143) << ended.err;
  EXPECT_EQ(LastStatus(), "interrupted");
  db_.Exec("ROLLBACK");
}

// A signal before the first table is looked up.
TEST_F(BadInputOnAServer, SignalsEndTheLookUp) {
  db_.Exec("CREATE TABLE t (a int)");
  db_.Exec("BEGIN; LOCK TABLE pg_catalog.pg_class IN ACCESS EXCLUSIVE MODE");
  test::Program program(Export(db_.url(), "t"));
  ASSERT_TRUE(program.Until([&] {
    return db_.Text("SELECT count(*) FROM pg_locks WHERE NOT granted") == "1";
  }));
  program.Signal(SIGTERM);
  EXPECT_EQ(program.Wait().code, 143);
  db_.Exec("ROLLBACK");
}

TEST_F(BadInputOnAServer, AFullDisk) {
  MakeEndless();
  const SmallDisk disk(Out());
  if (!disk.mounted()) GTEST_SKIP() << "mounting a small file system needs root";
  for (const char* format : {"csv", "parquet"}) {
    const Ended ended = RunProgram(Export(
        db_.url(), "endless", {"--format", format, "--compression", "none", "--profile", "fast"}));
    EXPECT_EQ(ended.code, 2);
    const std::string sentence = Sentence(ended);
    EXPECT_TRUE(sentence.starts_with("export public.endless: cannot write '")) << sentence;
    EXPECT_TRUE(sentence.ends_with("': No space left on device; free space and run again"));
    EXPECT_TRUE(Names(Out()).empty());
    EXPECT_EQ(LastStatus(), "failed");
    EXPECT_TRUE(NobodyIsConnected());
  }
}

TEST_F(BadInputOnAServer, ATableThatWillNotFitIsRefusedBeforeItIsRead) {
  db_.Exec("CREATE TABLE t AS SELECT i, md5(i::text) FROM generate_series(1, 250000) i");
  const SmallDisk disk(Out());
  if (!disk.mounted()) GTEST_SKIP() << "mounting a small file system needs root";
  const Ended ended = RunProgram(Export(db_.url(), "t"));
  EXPECT_EQ(ended.code, 2);
  const std::string sentence = Sentence(ended);
  EXPECT_TRUE(sentence.starts_with(fmt::format("export public.t: '{}' has ", Out()))) << sentence;
  EXPECT_TRUE(sentence.ends_with("needs about as much; free space or choose another folder"));
  EXPECT_TRUE(Names(Out()).empty());
  const Ended part = RunProgram(Export(db_.url(), "t", {"--limit", "10"}));
  EXPECT_EQ(part.code, 0) << part.err;
  EXPECT_EQ(WholeRows("public.t"), 10);
}

TEST_F(BadInputOnAServer, FoldersThatCannotBeWritten) {
  db_.Exec("CREATE TABLE t (a int)");
  folder_.Write("out", "a file");
  const Ended in_file = RunProgram(Export(db_.url(), "t"));
  EXPECT_EQ(in_file.code, 1);
  EXPECT_NE(Sentence(in_file).find(Out()), std::string::npos) << in_file.err;
  EXPECT_EQ(folder_.Read("out"), "a file");
  std::filesystem::remove(Out());

  SmallDisk disk(Out());
  if (!disk.mounted()) GTEST_SKIP() << "mounting a read-only file system needs root";
  disk.ForbidWrites();
  const Ended read_only = RunProgram(Export(db_.url(), "t"));
  EXPECT_EQ(read_only.code, 1);
  EXPECT_NE(Sentence(read_only).find(Out()), std::string::npos) << read_only.err;
}

// What is taken away or cut while it is being written is in no manifest, and the old result stays.
TEST_F(BadInputOnAServer, PartsThatSomeoneTakesAway) {
  MakeEndless();
  const std::vector<std::string> view = {"--format", "csv", "--limit", "2000000"};
  ASSERT_EQ(RunProgram(Export(db_.url(), "endless", {"--format", "csv", "--limit", "3"})).code, 0);
  const std::string old = TextOf("public.endless");
  const auto building = [&] {
    const auto names = Names(Out());
    return names.empty() || !names[0].ends_with(".building") ? "" : Out() + "/" + names[0];
  };
  const std::vector<std::pair<std::function<void()>, std::string>> deeds = {
      {[&] { std::filesystem::remove_all(building()); }, "' was written and is gone; "},
      {[&] { std::filesystem::remove(test::FirstPart(building())); },
       "' was written and is gone; "},
      {[&] { std::filesystem::resize_file(test::FirstPart(building()), 0); },
       "; find out who changes files there, then run again"}};
  for (const auto& [deed, words] : deeds) {
    test::Program program(Export(db_.url(), "endless", view));
    ASSERT_TRUE(program.Until([&] {
      const auto size = files_.SizeBytes(test::FirstPart(building()));
      return size.ok() && size.value() > 0;
    }));
    deed();
    const Ended ended = program.Wait();
    EXPECT_EQ(ended.code, 3) << ended.err;
    EXPECT_NE(Sentence(ended).find(words), std::string::npos) << ended.err;
    EXPECT_EQ(LastStatus(), "failed");
    EXPECT_EQ(Names(Out()), std::vector<std::string>{"public.endless"});
    EXPECT_EQ(TextOf("public.endless"), old);
  }
}

TEST_F(BadInputOnAServer, AFolderOfSomeoneElse) {
  db_.Exec("CREATE TABLE t (a int)");
  std::filesystem::create_directories(Out() + "/public.t");
  folder_.Write("out/public.t/manifest.json", "{\"name\": \"a web page\"}");
  const Ended ended = RunProgram(Export(db_.url(), "t"));
  EXPECT_EQ(ended.code, 1);
  EXPECT_EQ(Sentence(ended), fmt::format("export public.t: '{}/public.t' holds 'manifest.json', "
                                         "which weir did not write; move it away or choose another "
                                         "output folder",
                                         Out()));
  EXPECT_EQ(folder_.Read("out/public.t/manifest.json"), "{\"name\": \"a web page\"}");
}

// A link would be replaced by a folder, and what it leads to forgotten; -o itself may be one.
TEST_F(BadInputOnAServer, LinksInAFoldersPlace) {
  db_.Exec("CREATE TABLE t AS SELECT 1 AS a");
  const std::string real = folder_.Path("real");
  std::filesystem::create_directory(real);
  std::filesystem::create_directory_symlink(real, Out());
  ASSERT_EQ(RunProgram(Export(db_.url(), "t")).code, 0);
  EXPECT_TRUE(files_.Exists(real + "/public.t/_SUCCESS"));

  std::filesystem::rename(real + "/public.t", folder_.Path("elsewhere"));
  std::filesystem::create_directory_symlink(folder_.Path("elsewhere"), real + "/public.t");
  const Ended ended = RunProgram(Export(db_.url(), "t"));
  EXPECT_EQ(ended.code, 1);
  EXPECT_EQ(Sentence(ended), fmt::format("export public.t: '{}/public.t' is a symbolic link, which "
                                         "would be replaced by a folder; give the folder it leads "
                                         "to as the output, or remove the link",
                                         Out()));
  EXPECT_EQ(files_.KindOf(real + "/public.t"), sys::PathKind::kLink);
}

// Names are bytes in PostgreSQL, and %XX in a folder's name takes three.
TEST_F(BadInputOnAServer, NamesTooLongForAFolder) {
  const std::string schema(63, '/');
  const auto fits = fmt::format("\"{}\".\"{}\"", schema, std::string(20, '/'));   // 250 bytes.
  const auto wide = fmt::format("\"{}\".\"{}\"", schema, std::string(63, '/'));
  db_.Exec(fmt::format("CREATE SCHEMA \"{}\"; CREATE TABLE {} AS SELECT 1 AS a; CREATE TABLE {} AS "
                       "SELECT 1 AS a",
                       schema, fits, wide));
  for (int run = 0; run < 2; ++run) {
    const Ended ended = RunProgram(Export(db_.url(), fits));
    EXPECT_EQ(ended.code, 0) << ended.err;
    EXPECT_EQ(Names(Out()).size(), 1U);
  }
  const Ended refused = RunProgram(Export(db_.url(), wide));
  EXPECT_EQ(refused.code, 1);
  EXPECT_NE(Sentence(refused).find("has 379 bytes, and file systems take 255; export the table by "
                                   "weir run, under a shorter name"),
            std::string::npos)
      << refused.err;
}

TEST_F(BadInputOnAServer, NamesThatMoveACursorAreSpelledOut) {
  db_.Exec("CREATE TABLE \"a\x01\x1b[31mb\" AS SELECT 1 AS x; "
           "CREATE TABLE t (\"c\x1b]0;title\x07\" xml)");
  const Ended done = RunProgram({WEIR_PROGRAM, "export", db_.url(), "\"a\x01\x1b[31mb\"", "-o",
                                 Out()});
  EXPECT_EQ(done.code, 0) << done.err;
  EXPECT_TRUE(done.out.starts_with("public.\"a\\x01\\x1b[31mb\": 1 rows in ")) << done.out;
  const Ended failed = RunProgram(Export(db_.url(), "t"));
  EXPECT_EQ(failed.code, 1);
  EXPECT_NE(Sentence(failed).find("c\\x1b]0;title\\x07"), std::string::npos) << failed.err;
  const Ended state = RunProgram(
      {WEIR_PROGRAM, "state", "runs", "--state", sys::JoinPath(Out(), ledger::kStateFileName)});
  EXPECT_EQ(state.code, 0) << state.err;
  for (const std::string& text : {done.out, done.err, failed.err, state.out}) {
    EXPECT_EQ(text.find_first_of("\x01\x07\x1b"), std::string::npos) << text;
  }
}

TEST_F(BadInputOnAServer, FilesThatMayNotGrow) {
  MakeEndless();
  const auto limited = [&](int blocks) {  // Of 512 bytes.
    auto argv = Export(db_.url(), "endless", {"--format", "csv"});
    std::vector<std::string> shell = {"/bin/sh", "-c",
                                      fmt::format("ulimit -f {}; exec \"$@\"", blocks), "sh"};
    shell.insert(shell.end(), argv.begin(), argv.end());
    return RunProgram(shell);
  };
  const Ended ended = limited(1000);
  EXPECT_EQ(ended.code, 2);
  EXPECT_TRUE(Sentence(ended).ends_with("': File too large; raise the limit on file sizes (ulimit "
                                        "-f) or have smaller files made"))
      << ended.err;
  EXPECT_TRUE(Names(Out()).empty());
  EXPECT_EQ(LastStatus(), "failed");
  std::filesystem::remove_all(Out());
  EXPECT_EQ(limited(0).code, 2);
}

TEST_F(BadInputOnAServer, AnExportDoesWithoutThreads) {
  db_.Exec("CREATE TABLE t AS SELECT 1 AS a");
  EXPECT_EQ(RunProgram(Export(db_.url(), "t"), {"WEIR_FAULT=thread.start=fail"}).code, 0);
}

TEST_F(BadInputOnAServer, ABadConditionIsNamedAndTheTableOnce) {
  db_.Exec("CREATE TABLE s AS SELECT 1 AS id");
  const Ended ended = RunProgram(Export(db_.url(), "s", {"--where", "id ="}));
  EXPECT_EQ(ended.code, 1);
  EXPECT_EQ(Sentence(ended), "export public.s: --where: syntax error at or near \")\"");
}

TEST_F(BadInputOnAServer, ATableNamedTwice) {
  db_.Exec("CREATE TABLE s AS SELECT 1 AS id");
  const Ended ended = RunProgram(Export(db_.url(), "s", {"public.s"}));
  EXPECT_EQ(ended.code, 64);
  EXPECT_EQ(Sentence(ended), "table public.s is named twice; name each table once");
  EXPECT_FALSE(files_.Exists(Out()));
}

TEST_F(BadInputOnAServer, AStatementTimeoutOfTheEnvironmentIsNobodysCancel) {
  db_.Exec("CREATE TABLE s AS SELECT 1 AS id; BEGIN; LOCK TABLE pg_catalog.pg_namespace IN ACCESS "
           "EXCLUSIVE MODE");
  const Ended ended =
      RunProgram(Export(db_.url(), "s"), {"PGOPTIONS=-c statement_timeout=100"});
  db_.Exec("ROLLBACK");
  EXPECT_EQ(ended.code, 1);
  EXPECT_TRUE(Sentence(ended).ends_with("or a statement_timeout did that the role, the database or "
                                        "PGOPTIONS sets; find out which before running it again"))
      << ended.err;
}

// ---- Killed -------------------------------------------------------------------------------------

// Goal:   killed at any durable step, the output is the old one or the new one, whole; the next run
//         succeeds, removes what was left, and the ledger says what became of the first.
TEST_F(BadInputOnAServer, KilledAtAnyStepTheNextRunIsWhole) {
  db_.Exec("CREATE TABLE t AS SELECT i FROM generate_series(1, 100) i");
  ASSERT_EQ(RunProgram(Export(db_.url(), "t")).code, 0);
  int64_t old_rows = 100;
  for (const char* fault :
       {"ledger.begun", "output_folder.parts_done", "output_folder.manifest_done",
        "output_folder.success_done", "output_folder.swapped", "ledger.files_recorded",
        "ledger.harm_recorded", "ledger.finished"}) {
    SCOPED_TRACE(fault);
    db_.Exec("INSERT INTO t VALUES (1)");
    const Ended killed =
        RunProgram(Export(db_.url(), "t"), {std::string("WEIR_FAULT=") + fault});
    EXPECT_EQ(killed.code, 128 + SIGKILL) << killed.err;
    const int64_t rows = WholeRows("public.t");
    EXPECT_TRUE(rows == old_rows || rows == old_rows + 1) << rows;
    const Ended again = RunProgram(Export(db_.url(), "t"));
    EXPECT_EQ(again.code, 0) << again.err;
    EXPECT_EQ(WholeRows("public.t"), ++old_rows);
    EXPECT_EQ(Names(Out()), (std::vector<std::string>{"public.t"}));
    const auto runs = Runs(Out());
    EXPECT_EQ(runs[0].end.status, ledger::RunStatus::kSuccess);
    const bool finished = std::string_view(fault) == "ledger.finished";
    EXPECT_EQ(runs[1].end.status, finished ? ledger::RunStatus::kSuccess
                                           : ledger::RunStatus::kInterrupted);
  }
}

// ---- Configuration ------------------------------------------------------------------------------

class BadConfig : public BadInputOnAServer {
 protected:
  // Runs a configuration of one table with `from` replaced by `to`.
  Ended RunConfig(const std::string& from, const std::string& to) {
    std::string text = "source:\n  type: postgres\n  url_env: WEIR_URL\n"
                       "exports:\n  - name: t\n    table: t\n    format: parquet\n"
                       "    destination: {type: local, path: out}\n";
    if (!from.empty()) text.replace(text.find(from), from.size(), to);
    const std::string config = folder_.Write("weir.yaml", text);
    std::filesystem::current_path(folder_.path());
    return RunProgram({WEIR_PROGRAM, "run", "-c", config, "--quiet"}, {"WEIR_URL=" + db_.url()});
  }
};

TEST_F(BadConfig, MalformedYamlHasItsLineAndColumn) {
  const Ended ended = RunConfig("  - name: t", "  - name: [t");
  EXPECT_EQ(ended.code, 64);
  const std::string sentence = Sentence(ended);
  EXPECT_NE(sentence.find("weir.yaml: "), std::string::npos) << sentence;
  EXPECT_NE(sentence.find("not valid YAML at line 6, column 10: "), std::string::npos) << sentence;
}

TEST_F(BadConfig, UnknownKeysNameTheNearest) {
  const Ended ended = RunConfig("format: parquet", "fromat: parquet");
  EXPECT_EQ(ended.code, 64);
  const std::string sentence = Sentence(ended);
  EXPECT_TRUE(sentence.ends_with("weir.yaml: unknown key 'fromat' in 'exports[0]' (line 7, column "
                                 "5); did you mean 'format'?"))
      << sentence;
}

// A configuration has no --exclude.
TEST_F(BadConfig, ARefusedTypeSaysToWriteAQuery) {
  db_.Exec("CREATE TABLE t (a int, b interval)");
  const Ended ended = RunConfig("", "");
  EXPECT_EQ(ended.code, 1);
  EXPECT_EQ(Sentence(ended),
            "export t: public.t: column b (type interval is not supported yet); write a query that "
            "leaves the column out or casts it to text");
  db_.Exec("DROP TABLE t; CREATE TABLE t AS SELECT ARRAY[date '2020-01-01', 'infinity'] AS b");
  EXPECT_EQ(Sentence(RunConfig("", "")),
            "export t: public.t: column b, row 1: element 2, infinity, cannot be written as date; "
            "write a query that leaves the column out or casts it to text");
}

TEST_F(BadConfig, ASkippedExportSaysThatAnEarlierOneStands) {
  db_.Exec("CREATE TABLE t (a int)");
  const std::string config = folder_.Write(
      "weir.yaml", "source:\n  type: postgres\n  url_env: WEIR_URL\n"
                   "exports:\n  - name: t\n    table: t\n    format: csv\n    skip_empty: true\n"
                   "    destination: {type: local, path: out}\n");
  std::filesystem::current_path(folder_.path());
  const auto run = [&] {
    const Ended ended =
        RunProgram({WEIR_PROGRAM, "run", "-c", config}, {"WEIR_URL=" + db_.url()});
    EXPECT_EQ(ended.code, 0) << ended.err;
    return ended.out.substr(0, ended.out.find('\n'));
  };
  EXPECT_EQ(run(), "t: no rows, nothing written (skip_empty)");
  db_.Exec("INSERT INTO t VALUES (1)");
  run();
  db_.Exec("DELETE FROM t");
  EXPECT_EQ(run(), "t: no rows, nothing written (skip_empty); an earlier export stands in out/t");
}

TEST_F(BadConfig, AMissingFileAndAMissingVariable) {
  const Ended missing = RunProgram({WEIR_PROGRAM, "run", "-c", folder_.Path("none.yaml")});
  EXPECT_EQ(missing.code, 64);
  EXPECT_NE(Sentence(missing).find("none.yaml"), std::string::npos);
  const Ended unset = RunConfig("WEIR_URL", "WEIR_NO_SUCH_URL");
  EXPECT_EQ(unset.code, 64);
  EXPECT_NE(Sentence(unset).find("WEIR_NO_SUCH_URL"), std::string::npos);
}

// A folder's name may be any bytes; the summary says what of it is text.
TEST_F(BadInputOnAServer, JsonOfAFolderThatIsNotUtf8) {
  db_.Exec("CREATE TABLE t AS SELECT 1 AS a");
  const std::string folder = folder_.Path("out\xff");
  const Ended ended = RunProgram(
      {WEIR_PROGRAM, "export", db_.url(), "t", "-o", folder, "--json", "--quiet"});
  EXPECT_EQ(ended.code, 0) << ended.err;
  EXPECT_NE(ended.out.find("\"status\":\"success\""), std::string::npos) << ended.out;
  EXPECT_TRUE(files_.Exists(folder + "/public.t/_SUCCESS"));
}

// What the first try read is harm as well.
TEST_F(BadInputOnAServer, HarmIsThatOfAllTries) {
  constexpr int64_t kRows = 300'000;
  db_.Exec(fmt::format("CREATE TABLE t AS SELECT i, repeat('x', 100) AS b "
                       "FROM generate_series(1, {}) i", kRows));
  db_.Exec("CREATE VIEW held AS SELECT * FROM t "
           "WHERE i < 299000 OR pg_advisory_xact_lock_shared(43)::text IS NOT NULL");
  const sys::Stop never;
  const auto holder =
      pg::Connection::Open(pg::Target::Parse(db_.url()).value(), "weir/test", never).value();
  ASSERT_TRUE(holder->Exec("SELECT pg_advisory_lock(43)").ok());
  const std::string config = folder_.Write(
      "weir.yaml",
      fmt::format("source:\n  type: postgres\n  url_env: WEIR_URL\n"
                  "  tuning: {{profile: balanced, retry_backoff_ms: 10}}\n"
                  "exports:\n  - name: held\n    table: held\n    format: csv\n"
                  "    destination: {{type: local, path: '{}'}}\n", Out()));
  test::Program program({WEIR_PROGRAM, "run", "-c", config, "--quiet"},
                        {"WEIR_URL=" + db_.url()});
  ASSERT_TRUE(program.Until([&] {
    return db_.Text("SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity "
                    "WHERE datname = current_database() AND wait_event = 'advisory'") == "1";
  }));
  ASSERT_TRUE(holder->Exec("SELECT pg_advisory_unlock(43)").ok());
  const Ended ended = program.Wait();
  EXPECT_EQ(ended.code, 0) << ended.err;
  EXPECT_NE(ended.err.find("(retry 1 of 3)"), std::string::npos) << ended.err;
  const auto opened =
      ledger::OpenSqliteLedger(folder_.Path(ledger::kStateFileName), clock_).value();
  int64_t returned = 0;
  for (const auto& row : opened.ledger->HarmOf({}).value()) {
    if (row.metric == "pg_tup_returned") returned = row.delta;
  }
  EXPECT_GT(returned, 2 * kRows - 5'000);
}

// What libpq itself refuses is found out when the export connects: still no success.
TEST_F(BadConfig, AUrlThatLibpqRefusesIsBadUsage) {
  const std::string config = folder_.Write(
      "weir.yaml", "source:\n  type: postgres\n  url_env: WEIR_URL\n"
                   "exports:\n  - name: t\n    table: t\n    format: csv\n"
                   "    destination: {type: local, path: out}\n");
  const Ended ended = RunProgram({WEIR_PROGRAM, "run", "-c", config, "--quiet"},
                                 {"WEIR_URL=postgresql://localhost/db?sslmode=sometimes"});
  EXPECT_EQ(ended.code, 64) << ended.err;
  EXPECT_NE(ended.err.find("sslmode"), std::string::npos) << ended.err;
}

TEST_F(BadConfig, ParametersThatAreNoneAndOnesThatAreUsed) {
  db_.Exec("CREATE TABLE t AS SELECT i FROM generate_series(1, 10) i");
  const std::string config = folder_.Write(
      "weir.yaml", "source:\n  type: postgres\n  url_env: WEIR_URL\n"
                   "exports:\n  - name: few\n    query: SELECT i FROM t WHERE i <= ${MOST}\n"
                   "    format: csv\n    destination: {type: local, path: out}\n");
  std::filesystem::current_path(folder_.path());
  const auto run = [&](const std::vector<std::string>& params) {
    std::vector<std::string> argv = {WEIR_PROGRAM, "run", "-c", config, "--quiet"};
    for (const std::string& param : params) argv.insert(argv.end(), {"-p", param});
    return RunProgram(argv, {"WEIR_URL=" + db_.url(), "MOST=4"});
  };
  const Ended no_value = run({"MOST"});
  EXPECT_EQ(no_value.code, 64);
  EXPECT_EQ(Sentence(no_value), "-p takes NAME=VALUE, and what it was given has no '='");
  const Ended twice = run({"MOST=1", "MOST=2"});
  EXPECT_EQ(twice.code, 64);
  EXPECT_EQ(Sentence(twice), "-p gives 'MOST' twice; keep one");
  EXPECT_FALSE(files_.Exists(Out()));

  EXPECT_EQ(run({"OTHER=1"}).code, 0);  // The environment's.
  EXPECT_EQ(TextOf("few"), "i\r\n1\r\n2\r\n3\r\n4\r\n");
  EXPECT_EQ(run({"MOST=2", "OTHER=1"}).code, 0);
  EXPECT_EQ(TextOf("few"), "i\r\n1\r\n2\r\n");
}

TEST_F(BadConfig, StateShowsWhatIsThereAndMakesNothing) {
  const auto state = [&](const std::vector<std::string>& more) {
    std::vector<std::string> argv = {WEIR_PROGRAM, "state"};
    argv.insert(argv.end(), more.begin(), more.end());
    return RunProgram(argv);
  };
  const std::string config = folder_.Path("nosuch.yaml");
  const Ended no_config = state({"runs", "-c", config});
  EXPECT_EQ(no_config.code, 64);
  EXPECT_TRUE(Sentence(no_config).starts_with("configuration: cannot ")) << no_config.err;
  EXPECT_NE(no_config.err.find(config), std::string::npos) << no_config.err;
  const std::string picture = folder_.Write("picture.jpg", "a picture, of some bytes");
  const Ended no_state = state({"runs", "--state", picture});
  EXPECT_EQ(no_state.code, 1);
  EXPECT_EQ(Sentence(no_state), "'" + picture + "' is not a state file of weir; name one, such as "
                                "DIR/.weir_state.db of an export");
  EXPECT_EQ(files_.List(folder_.path()).value(), (std::vector<std::string>{"picture.jpg"}));

  db_.Exec("CREATE TABLE t AS SELECT 1 AS a");
  ASSERT_EQ(RunConfig("", "").code, 0);
  const std::string path = folder_.Path(ledger::kStateFileName);
  for (const char* view : {"runs", "files", "harm"}) {
    EXPECT_EQ(state({view, "--state", path, "-e", "t"}).code, 0);
    const Ended no_export = state({view, "--state", path, "-e", "nosuch"});
    EXPECT_EQ(no_export.code, 1);
    EXPECT_EQ(Sentence(no_export), "no run of an export 'nosuch' is recorded in '" + path +
                                       "'; leave -e out to see all");
  }
}

TEST_F(BadConfig, AStateFileFromTheFutureIsRefusedAndKept) {
  db_.Exec("CREATE TABLE t AS SELECT 1 AS a");
  ASSERT_EQ(RunConfig("", "").code, 0);
  const std::string state = std::string(ledger::kStateFileName);
  std::string bytes = folder_.Read(state);
  bytes[63] = 99;  // The lowest byte of SQLite's user_version.
  folder_.Write(state, bytes);
  const Ended ended = RunConfig("", "");
  EXPECT_EQ(ended.code, 1);
  EXPECT_EQ(Sentence(ended),
            fmt::format("state file '{}' was written by a newer weir: its schema is version 99, "
                        "and this weir knows versions up to 1; use the newer weir",
                        folder_.Path(state)));
  EXPECT_EQ(folder_.Read(state), bytes);
}

}  // namespace
}  // namespace weir
