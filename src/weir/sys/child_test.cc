#include "weir/sys/child.h"

#include <poll.h>
#include <signal.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>

namespace weir::sys {
namespace {

class ChildTest : public testing::Test {
 protected:
  ChildTest() {
    char pattern[] = "/tmp/weir-child-XXXXXX";
    folder_ = mkdtemp(pattern);
    std::filesystem::permissions(folder_, std::filesystem::perms(0777));
  }
  ~ChildTest() override { std::filesystem::remove_all(folder_); }

  ChildOptions Shell(const std::string& script) {
    return {.argv = {"/bin/sh", "-c", script},
            .environment = {"PATH=/usr/bin:/bin", "COLOUR=green"},
            .folder = folder_,
            .output_path = folder_ + "/output",
            .error_path = "",
            .user = std::nullopt,
            .group_path = ""};
  }
  std::string Output() {
    std::stringstream text;
    text << std::ifstream(folder_ + "/output").rdbuf();
    return text.str();
  }

  std::string folder_;
};

// True if the process ends within a minute.
bool Ends(pid_t pid) {
  const int fd = static_cast<int>(syscall(SYS_pidfd_open, pid, 0));
  if (fd < 0) return true;
  pollfd watched{fd, POLLIN, 0};
  const int ready = poll(&watched, 1, 60'000);
  close(fd);
  return ready == 1;
}

TEST_F(ChildTest, StderrGoesApartWhereAskedTo) {
  ChildOptions options = Shell("echo out; echo oops >&2");
  options.error_path = folder_ + "/errors";
  auto child = Child::Start(options);
  ASSERT_TRUE(child.ok()) << child.error().message;
  EXPECT_EQ(child.value()->Wait(), 0);
  EXPECT_EQ(Output(), "out\n");
  std::stringstream errors;
  errors << std::ifstream(options.error_path).rdbuf();
  EXPECT_EQ(errors.str(), "oops\n");

  options.error_path = folder_ + "/none/errors";
  const auto refused = Child::Start(options);
  ASSERT_FALSE(refused.ok());
  EXPECT_NE(refused.error().message.find("none/errors"), std::string::npos);
}

TEST_F(ChildTest, TellsWhatTheChildUsed) {
  auto child = Child::Start(Shell("exec head -c 64000000 /dev/zero | tail -c 64000000 >/dev/null"));
  ASSERT_TRUE(child.ok()) << child.error().message;
  EXPECT_EQ(child.value()->Wait(), 0);
  const ChildUsage usage = child.value()->usage();
  EXPECT_GT(usage.peak_rss_bytes, 64'000'000);  // tail keeps all of it.
  EXPECT_LT(usage.peak_rss_bytes, 640'000'000);
  EXPECT_GT(usage.user_micros + usage.system_micros, 0);
}

TEST_F(ChildTest, RunsInItsFolderWithItsEnvironmentOnly) {
  setenv("SECRET", "1", 1);
  auto child = Child::Start(Shell("pwd; echo $COLOUR $SECRET; echo oops >&2; exit 3"));
  unsetenv("SECRET");
  ASSERT_TRUE(child.ok()) << child.error().message;
  EXPECT_EQ(child.value()->Wait(), 3);
  EXPECT_EQ(child.value()->WaitFor(std::chrono::milliseconds(0)), 3);
  EXPECT_EQ(Output(), folder_ + "\ngreen\noops\n");
  EXPECT_FALSE(child.value()->Signal(SIGTERM));
}

TEST_F(ChildTest, TellsWhatCouldNotBeDone) {
  ChildOptions options = Shell("true");
  options.argv[0] = "/no/such/program";
  auto missing = Child::Start(options);
  ASSERT_FALSE(missing.ok());
  EXPECT_EQ(missing.error().code, Code::kNotFound);
  EXPECT_EQ(missing.error().message,
            "this user cannot run '/no/such/program': No such file or directory");

  options = Shell("true");
  options.folder = "/no/such/folder";
  auto nowhere = Child::Start(options);
  ASSERT_FALSE(nowhere.ok());
  EXPECT_EQ(nowhere.error().code, Code::kInvalid);
  EXPECT_NE(nowhere.error().message.find("'/no/such/folder'"), std::string::npos);
}

TEST_F(ChildTest, SignalsAndDestructionEndIt) {
  auto child = Child::Start(Shell("exec tail -f /dev/null"));
  ASSERT_TRUE(child.ok());
  EXPECT_EQ(child.value()->WaitFor(std::chrono::milliseconds(0)), std::nullopt);
  EXPECT_TRUE(child.value()->Signal(SIGTERM));
  EXPECT_EQ(child.value()->Wait(), 128 + SIGTERM);

  auto other = Child::Start(Shell("exec tail -f /dev/null"));
  ASSERT_TRUE(other.ok());
  const pid_t pid = other.value()->pid();
  other.value().reset();
  EXPECT_EQ(kill(pid, 0), -1);
}

TEST_F(ChildTest, RunsAsAnotherUserAndInNoGroupOfOurs) {
  if (getuid() != 0) GTEST_SKIP() << "needs root";
  auto nobody = FindUser("nobody");
  ASSERT_TRUE(nobody.ok());
  EXPECT_FALSE(FindUser("no such user").ok());
  ChildOptions options = Shell("id -u; id -G");
  options.user = nobody.value();
  auto child = Child::Start(options);
  ASSERT_TRUE(child.ok()) << child.error().message;
  EXPECT_EQ(child.value()->Wait(), 0);
  EXPECT_EQ(Output(), fmt::format("{}\n{}\n", nobody.value().uid, nobody.value().gid));
}

TEST_F(ChildTest, JoinsAControlGroupBeforeTheProgramRuns) {
  // What the kernel reads from a group's file; a plain one shows what is written to it.
  std::ofstream(folder_ + "/cgroup.procs") << "";
  ChildOptions options = Shell("cat cgroup.procs");
  options.group_path = folder_ + "/cgroup.procs";
  auto child = Child::Start(options);
  ASSERT_TRUE(child.ok()) << child.error().message;
  EXPECT_EQ(child.value()->Wait(), 0);
  EXPECT_EQ(Output(), "0");

  options.group_path = folder_ + "/no/such/cgroup.procs";
  auto nowhere = Child::Start(options);
  ASSERT_FALSE(nowhere.ok());
  EXPECT_EQ(nowhere.error().code, Code::kInvalid);
  EXPECT_EQ(nowhere.error().message,
            fmt::format("cannot join the control group of '{}': No such file or directory; root is "
                        "needed for it",
                        options.group_path));
}

TEST_F(ChildTest, DiesWithItsParentWhateverItsUser) {
  std::vector<std::optional<User>> users = {std::nullopt};
  if (getuid() == 0) users.emplace_back(FindUser("nobody").value());
  for (const auto& user : users) {
    int channel[2];
    ASSERT_EQ(pipe(channel), 0);
    const pid_t parent = fork();
    if (parent == 0) {
      ChildOptions options = Shell("exec tail -f /dev/null");
      options.user = user;
      auto child = Child::Start(options);
      const pid_t pid = child.ok() ? child.value()->pid() : -1;
      if (write(channel[1], &pid, sizeof pid) != sizeof pid) _exit(1);
      pause();
      _exit(0);
    }
    pid_t grandchild = -1;
    ASSERT_EQ(read(channel[0], &grandchild, sizeof grandchild), ssize_t{sizeof grandchild});
    ASSERT_GT(grandchild, 0);
    kill(parent, SIGKILL);
    waitpid(parent, nullptr, 0);
    EXPECT_TRUE(Ends(grandchild));
    close(channel[0]);
    close(channel[1]);
    std::filesystem::remove(folder_ + "/output");
  }
}

}  // namespace
}  // namespace weir::sys
