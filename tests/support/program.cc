#include "tests/support/program.h"

#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <csignal>

#include "weir/base/assert.h"
#include "weir/sys/clock.h"

extern char** environ;

namespace weir::test {
namespace {

// How often a condition is looked at while the program runs.
constexpr int kLookMillis = 5;
constexpr std::chrono::seconds kConditionBound{60};
constexpr int kEndBoundMillis = 120'000;

std::vector<char*> Pointers(const std::vector<std::string>& texts) {
  std::vector<char*> pointers;
  for (const std::string& text : texts) pointers.push_back(const_cast<char*>(text.c_str()));
  pointers.push_back(nullptr);
  return pointers;
}

}  // namespace

Program::Program(const std::vector<std::string>& argv,
                 const std::vector<std::string>& environment) {
  std::vector<std::string> full = environment;
  for (char** entry = environ; *entry != nullptr; ++entry) full.emplace_back(*entry);
  const std::string out = folder_.Write("out", "");
  const std::string err = folder_.Write("err", "");
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, out.c_str(), O_WRONLY, 0);
  posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, err.c_str(), O_WRONLY, 0);
  const int failed = posix_spawn(&pid_, argv[0].c_str(), &actions, nullptr, Pointers(argv).data(),
                                 Pointers(full).data());
  posix_spawn_file_actions_destroy(&actions);
  WEIR_ASSERT(failed == 0);
  pid_fd_ = static_cast<int>(syscall(SYS_pidfd_open, pid_, 0));
  WEIR_ASSERT(pid_fd_ >= 0);
}

Program::~Program() {
  if (pid_ > 0) {
    kill(pid_, SIGKILL);
    waitpid(pid_, nullptr, 0);
  }
  close(pid_fd_);
}

void Program::Signal(int signal) { kill(pid_, signal); }

// A pidfd becomes readable when the process has ended.
bool Program::EndsWithin(int milliseconds) {
  pollfd watched{pid_fd_, POLLIN, 0};
  return poll(&watched, 1, milliseconds) > 0;
}

bool Program::Until(const std::function<bool()>& condition) {
  const sys::Duration deadline = sys::SteadyNow() + kConditionBound;
  while (sys::SteadyNow() < deadline) {
    if (condition()) return true;
    if (EndsWithin(kLookMillis)) return false;
  }
  return false;
}

Ended Program::Wait() {
  if (!EndsWithin(kEndBoundMillis)) kill(pid_, SIGKILL);
  int status = 0;
  WEIR_ASSERT(waitpid(pid_, &status, 0) == pid_);
  pid_ = -1;
  Ended ended;
  ended.code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  ended.out = folder_.Read("out");
  ended.err = folder_.Read("err");
  return ended;
}

Ended RunProgram(const std::vector<std::string>& argv,
                 const std::vector<std::string>& environment) {
  return Program(argv, environment).Wait();
}

}  // namespace weir::test
