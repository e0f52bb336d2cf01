#include "weir/pg/local_server.h"

#include <libpq-fe.h>
#include <poll.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "weir/pg/server_folder_internal.h"

namespace weir::pg {
namespace {

LocalServerOptions Quick() {
  LocalServerOptions options;
  options.durable = false;
  options.settings = {{"shared_buffers", "16MB"}};
  return options;
}

// The first cell of a query's answer, or the failure's text after "failed: ".
std::string Ask(const std::string& url, const char* query) {
  PGconn* connection = PQconnectdb(url.c_str());
  std::string answer = std::string("failed: ") + PQerrorMessage(connection);
  if (PQstatus(connection) == CONNECTION_OK) {
    PGresult* result = PQexec(connection, query);
    answer = PQntuples(result) > 0 ? PQgetvalue(result, 0, 0)
                                   : std::string("failed: ") + PQerrorMessage(connection);
    PQclear(result);
  }
  PQfinish(connection);
  return answer;
}

class LocalServerTest : public testing::Test {
 protected:
  LocalServerTest() {
    char pattern[] = "/tmp/weir-test-XXXXXX";
    folder_ = mkdtemp(pattern);
    std::filesystem::permissions(folder_, std::filesystem::perms(0755));
  }
  ~LocalServerTest() override { std::filesystem::remove_all(folder_); }
  std::string folder_;
};

TEST_F(LocalServerTest, ServesOverAPrivateSocketAndCleansUp) {
  auto started = LocalServer::Start(Quick());
  ASSERT_TRUE(started.ok()) << started.error().message;
  LocalServer& server = *started.value();
  EXPECT_EQ(Ask(server.url(), "SELECT current_user"), "weir");
  EXPECT_EQ(Ask(server.url(), "SHOW server_encoding"), "UTF8");
  EXPECT_EQ(Ask(server.url(), "SELECT datcollate FROM pg_database LIMIT 1"), "C.UTF-8");
  EXPECT_EQ(Ask(server.url(), "SHOW shared_buffers"), "16MB");
  EXPECT_EQ(Ask(server.url(), "SHOW fsync"), "off");
  EXPECT_EQ(Ask(server.url(), "SHOW listen_addresses"), "");

  struct stat info {};
  ASSERT_EQ(stat(server.folder().c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 0777U, 0700U);

  const std::string odd_name = "odd \"name\" / ü";
  ASSERT_TRUE(server.CreateDatabase(odd_name).ok());
  EXPECT_EQ(Ask(server.url(odd_name), "SELECT current_database()"), odd_name);
  const auto twice = server.CreateDatabase(odd_name);
  ASSERT_FALSE(twice.ok());
  EXPECT_NE(twice.error().message.find("already exists"), std::string::npos);

  const std::string folder = server.folder();
  started.value().reset();
  EXPECT_FALSE(std::filesystem::exists(folder));
}

constexpr const char* kAskExtensions =
    "SELECT string_agg(extname, ' ' ORDER BY extname) FROM pg_extension "
    "WHERE extname <> 'plpgsql'";

TEST_F(LocalServerTest, HasTheMetersThatItIsAskedFor) {
  LocalServerOptions options = Quick();
  options.meters = true;
  options.folder = folder_ + "/server";
  options.keep = true;
  for (int start = 1; start <= 2; ++start) {  // The second finds them there.
    const auto started = LocalServer::Start(options);
    ASSERT_TRUE(started.ok()) << started.error().message;
    const std::string url = started.value()->url();
    EXPECT_EQ(Ask(url, kAskExtensions), "pg_buffercache pg_stat_statements");
    EXPECT_EQ(Ask(url, "SELECT count(*) > 0 FROM pg_buffercache"), "t");
    EXPECT_EQ(Ask(url, "SELECT count(*) > 0 FROM pg_stat_statements"), "t");
    EXPECT_EQ(Ask(started.value()->url("template1"), kAskExtensions), "");
  }
}

// Where PostgreSQL comes without the library, the server runs without it.
TEST_F(LocalServerTest, StartsWithoutAMeterThatIsNotThere) {
  LocalServerOptions options = Quick();
  options.meters = true;
  options.settings["dynamic_library_path"] = "/nowhere";
  const auto started = LocalServer::Start(options);
  ASSERT_TRUE(started.ok()) << started.error().message;
  EXPECT_EQ(Ask(started.value()->url(), "SHOW shared_preload_libraries"), "");
  EXPECT_EQ(Ask(started.value()->url(), "SELECT count(*) > 0 FROM pg_buffercache"), "t");
}

TEST_F(LocalServerTest, TcpAsksForThePasswordInItsFile) {
  LocalServerOptions options = Quick();
  options.listen_tcp = true;
  auto started = LocalServer::Start(options);
  ASSERT_TRUE(started.ok()) << started.error().message;
  const std::string url = started.value()->tcp_url();
  EXPECT_EQ(Ask(url, "SELECT current_user"), "weir");
  const std::string bare = url.substr(0, url.find('?'));
  const std::string without = Ask(bare + "?passfile=/none", "SELECT 1");
  EXPECT_NE(without.find("no password supplied"), std::string::npos) << without;
  const std::string guessed = Ask(bare + "?password=guess", "SELECT 1");
  EXPECT_NE(guessed.find("password authentication failed"), std::string::npos) << guessed;
}

TEST_F(LocalServerTest, AKeptFolderIsTakenUpAgain) {
  LocalServerOptions options = Quick();
  options.folder = folder_ + "/kept";
  options.keep = true;
  {
    auto started = LocalServer::Start(options);
    ASSERT_TRUE(started.ok()) << started.error().message;
    ASSERT_TRUE(started.value()->CreateDatabase("remembered").ok());

    auto second = LocalServer::Start(options);
    ASSERT_FALSE(second.ok());
    EXPECT_NE(second.error().message.find("in use by another process"), std::string::npos);
    started.value()->Crash();
  }
  auto again = LocalServer::Start(options);
  ASSERT_TRUE(again.ok()) << again.error().message;
  EXPECT_EQ(Ask(again.value()->url("remembered"), "SELECT 7"), "7");
}

TEST_F(LocalServerTest, RefusesWhatCannotWorkInOneSentence) {
  LocalServerOptions options = Quick();
  options.folder = folder_ + "/" + std::string(100, 'x');
  auto result = LocalServer::Start(options);
  ASSERT_FALSE(result.ok());
  EXPECT_NE(result.error().message.find("too long for a Unix socket"), std::string::npos);
  const auto checked = CheckServerFolder(options.folder);
  ASSERT_FALSE(checked.ok());
  EXPECT_EQ(result.error().message, "private PostgreSQL: " + checked.error().message);
  EXPECT_TRUE(CheckServerFolder(folder_ + "/not_there_yet").ok());

  options.folder = folder_ + "/full";
  std::filesystem::create_directory(options.folder);
  std::ofstream(options.folder + "/letter") << "dear";
  result = LocalServer::Start(options);
  ASSERT_FALSE(result.ok());
  EXPECT_NE(result.error().message.find("holds other things"), std::string::npos);
  EXPECT_TRUE(std::filesystem::exists(options.folder + "/letter"));

  options = Quick();
  options.settings["shared_buffers"] = "many";
  options.folder = folder_ + "/wrong";
  result = LocalServer::Start(options);
  ASSERT_FALSE(result.ok());
  EXPECT_EQ(result.error().code, Code::kInvalid);
  EXPECT_NE(result.error().message.find("invalid value for parameter \"shared_buffers\""),
            std::string::npos)
      << result.error().message;
  EXPECT_FALSE(std::filesystem::exists(options.folder));
}

TEST_F(LocalServerTest, RootIsToldWhenTheServersUserCannotReachTheFolder) {
  if (geteuid() != 0) GTEST_SKIP() << "needs root";
  std::filesystem::create_directory(folder_ + "/private");
  std::filesystem::permissions(folder_ + "/private", std::filesystem::perms(0700));
  LocalServerOptions options = Quick();
  options.folder = folder_ + "/private/server";
  const auto result = LocalServer::Start(options);
  ASSERT_FALSE(result.ok());
  EXPECT_NE(result.error().message.find("cannot reach folder"), std::string::npos);
}

TEST_F(LocalServerTest, ProgramsCanBeNamedAndMustBeThere) {
  setenv("WEIR_PG_BIN", "/no/such/folder", 1);
  const auto missing = FindServerPrograms();
  unsetenv("WEIR_PG_BIN");
  ASSERT_FALSE(missing.ok());
  EXPECT_EQ(missing.error().code, Code::kNotFound);
  ASSERT_TRUE(FindServerPrograms().ok());
}

// Ends a process that started a server by kill -9, then sees the server end and the folder swept.
TEST_F(LocalServerTest, DiesWithAKilledProcessAndTheNextStartSweeps) {
  setenv("TMPDIR", folder_.c_str(), 1);
  std::filesystem::permissions(folder_, std::filesystem::perms(01777));
  int channel[2];
  ASSERT_EQ(pipe(channel), 0);
  const pid_t parent = fork();
  if (parent == 0) {
    auto server = LocalServer::Start(Quick());
    const pid_t pid = server.ok() ? server.value()->pid() : -1;
    if (write(channel[1], &pid, sizeof pid) != sizeof pid) _exit(1);
    pause();
    _exit(0);
  }
  pid_t postmaster = -1;
  ASSERT_EQ(read(channel[0], &postmaster, sizeof postmaster), ssize_t{sizeof postmaster});
  ASSERT_GT(postmaster, 0);
  pollfd ended{static_cast<int>(syscall(SYS_pidfd_open, postmaster, 0)), POLLIN, 0};
  kill(parent, SIGKILL);
  waitpid(parent, nullptr, 0);
  EXPECT_EQ(poll(&ended, 1, 60'000), 1) << "the server lives on";
  for (const int fd : {ended.fd, channel[0], channel[1]}) close(fd);

  const auto folders = [&] {
    return std::distance(std::filesystem::directory_iterator(folder_),
                         std::filesystem::directory_iterator());
  };
  EXPECT_EQ(folders(), 1);
  auto next = LocalServer::Start(Quick());
  unsetenv("TMPDIR");
  ASSERT_TRUE(next.ok()) << next.error().message;
  EXPECT_EQ(folders(), 1) << "only the new one";
  EXPECT_EQ(std::filesystem::path(next.value()->folder()).parent_path(), folder_);
}

}  // namespace
}  // namespace weir::pg
