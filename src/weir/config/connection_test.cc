#include "weir/config/connection.h"

#include <map>

namespace weir::config {
namespace {

using Variables = std::map<std::string, std::string>;

GetEnv EnvOf(Variables variables) {
  return [variables = std::move(variables)](const std::string& name) {
    const auto found = variables.find(name);
    return found == variables.end() ? std::nullopt : std::optional(found->second);
  };
}

SourceConfig WithUrl(const std::string& url) {
  SourceConfig source;
  source.url = Secret(url);
  return source;
}

Result<Connection> Resolve(const SourceConfig& source, Variables variables = {}) {
  sys::MemoryFiles files;
  return ResolveConnection(source, files, EnvOf(std::move(variables)));
}

enum class Verdict { kLeads, kNeedsTls, kMalformed };

Verdict VerdictOn(const std::string& url, Variables variables = {}) {
  const auto resolved = Resolve(WithUrl(url), std::move(variables));
  if (resolved.ok()) return Verdict::kLeads;
  EXPECT_EQ(resolved.error().code, Code::kUsage);
  const bool tls = resolved.error().message.find("nothing asks for TLS") != std::string::npos;
  return tls ? Verdict::kNeedsTls : Verdict::kMalformed;
}

struct Row {
  const char* url;
  Verdict verdict;
};

TEST(Connection, OnlyHostsOnThisMachineGoWithoutTls) {
  using enum Verdict;
  const Row table[] = {
      {"postgresql:///shop", kLeads},
      {"postgresql://app@/shop?host=/tmp", kLeads},
      {"postgresql://app:pw@localhost:5433/shop", kLeads},
      {"postgres://127.0.0.1", kLeads},
      {"postgres://127.8.9.1/x", kLeads},
      {"postgres://[::1]:5432/x", kLeads},
      {"postgres://%2Ftmp/x", kLeads},
      {"postgres://localhost,127.0.0.1/x", kLeads},
      {"host=/tmp dbname=shop", kLeads},
      {"host = 'localhost' password = 'it\\'s'", kLeads},
      {"postgres://db.example/x", kNeedsTls},
      {"postgres://127.evil.example/x", kNeedsTls},
      {"postgres://localhost.example/x", kNeedsTls},
      {"postgres://localhost,db/x", kNeedsTls},
      {"postgres://[fe80::1]/x", kNeedsTls},
      {"postgres://app:p@ss@localhost/x", kNeedsTls},  // libpq reads the host `ss@localhost`.
      {"postgres://localhost/x?host=db", kNeedsTls},
      {"postgres://localhost/x?h%6Fst=db", kNeedsTls},
      {"postgres://localhost/x?hostaddr=10.0.0.1", kNeedsTls},
      {"postgres://db/x?hostaddr=127.0.0.1", kLeads},
      {"postgres://db/x?sslmode=prefer", kNeedsTls},
      {"postgres://db/x?sslmode=disable", kLeads},  // Written out, so it is meant.
      {"postgres://db/x?sslmode=verify-full", kLeads},
      {"postgres://db/x?ssl=true", kLeads},
      {"host=db sslmode=require", kLeads},
      {"host=db", kNeedsTls},
      {"service=shop", kNeedsTls},
      {"postgres://localhost/x?sslmode", kMalformed},
      {"postgres://[::1/x", kMalformed},
      {"postgres://a%zz/x", kMalformed},
      {"mysql://localhost/x", kMalformed},
      {"host='db", kMalformed},
      {"hunter2", kMalformed},
  };
  for (const Row& row : table) {
    EXPECT_EQ(VerdictOn(row.url), row.verdict) << row.url;
    EXPECT_EQ(CheckTls(row.url, EnvOf({})).ok(), row.verdict == kLeads) << row.url;
  }
}

TEST(Connection, TheEnvironmentCountsWhereTheUrlIsSilent) {
  using enum Verdict;
  EXPECT_EQ(VerdictOn("postgresql:///x", {{"PGHOST", "db"}}), kNeedsTls);
  EXPECT_EQ(VerdictOn("postgresql:///x", {{"PGHOST", "db"}, {"PGSSLMODE", "verify-ca"}}), kLeads);
  EXPECT_EQ(VerdictOn("postgresql:///x", {{"PGHOST", "db"}, {"PGSSLMODE", "disable"}}), kNeedsTls);
  EXPECT_EQ(VerdictOn("postgresql://localhost/x", {{"PGHOST", "db"}}), kLeads);
  EXPECT_EQ(VerdictOn("postgresql://localhost/x", {{"PGHOSTADDR", "10.0.0.1"}}), kNeedsTls);
  EXPECT_EQ(VerdictOn("postgresql://localhost/x", {{"PGSERVICE", "shop"}}), kNeedsTls);
}

TEST(Connection, ATlsBlockAllowsAnyHostAndGoesAlong) {
  SourceConfig source = WithUrl("postgres://db/x?sslmode=disable");
  source.tls = TlsConfig{TlsMode::kVerifyFull, "ca.pem"};
  const auto resolved = Resolve(source);
  ASSERT_TRUE(resolved.ok());
  EXPECT_EQ(resolved.value().tls, source.tls);
  source.tls->mode = TlsMode::kDisable;  // Written out, so it is meant.
  EXPECT_TRUE(Resolve(source).ok());
}

TEST(Connection, StructuredFieldsAreQuotedForLibpq) {
  SourceConfig source;
  source.host = "/tmp";
  source.port = 6432;
  source.user = "o'brien";
  source.database = "my db";
  source.password = Secret("a\\b 'c'");
  EXPECT_EQ(Resolve(source).value().conninfo.Reveal(),
            R"(host='/tmp' port=6432 user='o\'brien' dbname='my db' password='a\\b \'c\'')");
  source.password = {};
  source.password_env = "PW";
  EXPECT_EQ(Resolve(source, {{"PW", "x"}}).value().conninfo.Reveal(),
            R"(host='/tmp' port=6432 user='o\'brien' dbname='my db' password='x')");
  EXPECT_EQ(Resolve(source).error().message,
            "source.password_env: environment variable 'PW' is not set; set it to the password");
  source.host = "db.example";
  EXPECT_EQ(Resolve(source, {{"PW", "x"}}).error().message,
            "source: the host is remote and nothing asks for TLS, so the password and the rows "
            "would cross the network in the clear; add tls: {mode: verify-full} to the source, or "
            "{mode: disable} to accept that");
}

TEST(Connection, UrlsComeFromVariablesAndFiles) {
  SourceConfig source;
  source.url_env = "U";
  EXPECT_EQ(Resolve(source, {{"U", "postgresql:///a"}}).value().conninfo.Reveal(),
            "postgresql:///a");
  EXPECT_EQ(Resolve(source).error().message,
            "source.url_env: environment variable 'U' is not set; set it to the source's URL");

  sys::MemoryFiles files;
  ASSERT_TRUE(files.WriteWhole("u.txt", "postgresql:///b\r\nmore\n").ok());
  ASSERT_TRUE(files.WriteWhole("empty.txt", "\n").ok());
  source = {};
  source.url_file = "u.txt";
  EXPECT_EQ(ResolveConnection(source, files, EnvOf({})).value().conninfo.Reveal(),
            "postgresql:///b");
  source.url_file = "empty.txt";
  EXPECT_EQ(ResolveConnection(source, files, EnvOf({})).error().message,
            "source.url_file: the first line of 'empty.txt' is empty; write the source's URL "
            "there");
  source.url_file = "none.txt";
  EXPECT_EQ(ResolveConnection(source, files, EnvOf({})).error().code, Code::kUsage);
}

TEST(Connection, MalformedStringsAreNotShown) {
  EXPECT_EQ(Resolve(WithUrl("hunter2")).error().message,
            "source: the connection string is malformed (it is not shown, as it may hold a "
            "password); write postgresql://USER:PASSWORD@HOST:PORT/DATABASE with odd characters "
            "as %XX");
}

}  // namespace
}  // namespace weir::config
