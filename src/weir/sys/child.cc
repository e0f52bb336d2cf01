#include "weir/sys/child.h"

#include <fcntl.h>
#include <grp.h>
#include <pwd.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <utility>

#include "weir/sys/thread.h"

namespace weir::sys {
namespace {

// What the child was doing when it failed before the program ran.
enum class Stage : int { kGroup, kUser, kParent, kFolder, kOutput, kErrors, kProgram };

struct Failure {
  Stage stage;
  int number;
};

std::vector<char*> Pointers(const std::vector<std::string>& texts) {
  std::vector<char*> pointers;
  for (const std::string& text : texts) pointers.push_back(const_cast<char*>(text.c_str()));
  pointers.push_back(nullptr);
  return pointers;
}

// All that the forked process needs, laid out before the fork: others may hold malloc's locks.
struct Plan {
  const ChildOptions* options;
  std::vector<char*> argv;
  std::vector<char*> environment;
  pid_t parent;
  int report_fd;
};

[[noreturn]] void Give(const Plan& plan, Stage stage) {
  const Failure failure{stage, errno};
  [[maybe_unused]] const ssize_t written = write(plan.report_fd, &failure, sizeof failure);
  _exit(127);
}

// Opens a file that the child appends to; -1 when it cannot. For the forked process.
int OpenForAppend(const std::string& path) {
  return open(path.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_NOFOLLOW, 0600);
}

// Puts the forked process into a control group: "0" stands for whoever writes it.
bool JoinGroup(const std::string& path) {
  const int group = open(path.c_str(), O_WRONLY | O_CLOEXEC);
  return group >= 0 && write(group, "0", 1) == 1;
}

// Runs in the forked process: async-signal-safe calls only.
[[noreturn]] void BecomeProgram(const Plan& plan) {
  const ChildOptions& options = *plan.options;
  for (int signal = 1; signal < NSIG; ++signal) ::signal(signal, SIG_DFL);
  sigset_t none;
  sigemptyset(&none);
  sigprocmask(SIG_SETMASK, &none, nullptr);
  setsid();
  if (!options.group_path.empty() && !JoinGroup(options.group_path)) Give(plan, Stage::kGroup);
  if (options.user) {
    const User& user = *options.user;
    if (setgroups(user.groups.size(), user.groups.data()) != 0) Give(plan, Stage::kUser);
    if (setgid(user.gid) != 0 || setuid(user.uid) != 0) Give(plan, Stage::kUser);
  }
  // After setuid, which clears it. The parent may have died before: then nobody would tell.
  prctl(PR_SET_PDEATHSIG, options.death_signal);
  if (getppid() != plan.parent) Give(plan, Stage::kParent);
  if (chdir(options.folder.c_str()) != 0) Give(plan, Stage::kFolder);

  const int input = open("/dev/null", O_RDONLY);
  const int output = OpenForAppend(options.output_path);
  if (output < 0) Give(plan, Stage::kOutput);
  const int errors = options.error_path.empty() ? output : OpenForAppend(options.error_path);
  if (errors < 0) Give(plan, Stage::kErrors);
  dup2(input, 0);
  dup2(output, 1);
  dup2(errors, 2);
  close_range(3, ~0U, CLOSE_RANGE_CLOEXEC);
  execve(plan.argv[0], plan.argv.data(), plan.environment.data());
  Give(plan, Stage::kProgram);
}

Error Explain(const Failure& failure, const ChildOptions& options) {
  const std::string who = options.user ? fmt::format("user '{}'", options.user->name) : "this user";
  const char* why = std::strerror(failure.number);
  switch (failure.stage) {
    case Stage::kGroup:
      return Fail(Code::kInvalid,
                  "cannot join the control group of '{}': {}; root is needed for it",
                  options.group_path, why);
    case Stage::kUser:
      return Fail(Code::kInvalid, "cannot become {}: {}; root is needed for it", who, why);
    case Stage::kParent:
      return Fail(Code::kCancelled, "the starting process ended first");
    case Stage::kFolder:
      return Fail(Code::kInvalid, "{} cannot enter folder '{}': {}; choose one it can reach", who,
                  options.folder, why);
    case Stage::kOutput:
    case Stage::kErrors:
      return Fail(failure.number == ENOSPC ? Code::kExhausted : Code::kInvalid,
                  "{} cannot write '{}': {}", who,
                  failure.stage == Stage::kOutput ? options.output_path : options.error_path, why);
    case Stage::kProgram: break;
  }
  return Fail(failure.number == ENOENT ? Code::kNotFound : Code::kInvalid,
              "{} cannot run '{}': {}", who, options.argv[0], why);
}

// The failure the child reported, or none once the program has taken its place.
std::optional<Failure> ReadFailure(int fd) {
  Failure failure{};
  ssize_t got = 0;
  do {
    got = read(fd, &failure, sizeof failure);
  } while (got < 0 && errno == EINTR);
  if (got != static_cast<ssize_t>(sizeof failure)) return std::nullopt;
  return failure;
}

ChildUsage UsageOf(const rusage& used) {
  constexpr int64_t kMicros = 1'000'000;
  ChildUsage usage;
  usage.peak_rss_bytes = int64_t{used.ru_maxrss} * 1024;
  usage.user_micros = used.ru_utime.tv_sec * kMicros + used.ru_utime.tv_usec;
  usage.system_micros = used.ru_stime.tv_sec * kMicros + used.ru_stime.tv_usec;
  usage.major_faults = used.ru_majflt;
  return usage;
}

int ExitCodeOf(int wait_status) {
  return WIFEXITED(wait_status) ? WEXITSTATUS(wait_status) : 128 + WTERMSIG(wait_status);
}

}  // namespace

Result<User> FindUser(const std::string& name) {
  std::array<char, 16384> buffer{};  // sysconf(_SC_GETPW_R_SIZE_MAX) says 1024.
  passwd entry{};
  passwd* found = nullptr;
  getpwnam_r(name.c_str(), &entry, buffer.data(), buffer.size(), &found);
  if (found == nullptr) return Fail(Code::kNotFound, "this machine has no user '{}'", name);

  User user{name, entry.pw_uid, entry.pw_gid, {}};
  int count = 64;
  user.groups.resize(static_cast<size_t>(count));
  if (getgrouplist(name.c_str(), entry.pw_gid, user.groups.data(), &count) < 0) {
    user.groups.resize(static_cast<size_t>(count));  // It said how many there are.
    getgrouplist(name.c_str(), entry.pw_gid, user.groups.data(), &count);
  }
  user.groups.resize(static_cast<size_t>(count));
  return user;
}

Result<std::unique_ptr<Child>> Child::Start(ChildOptions options) {
  WEIR_ASSERT(!options.argv.empty());
  std::unique_ptr<Child> child(new Child());
  WEIR_TRY(child->keeper_, StartThread([self = child.get(), options = std::move(options)] {
             self->Run(options);
           }));
  {
    std::unique_lock lock(child->mutex_);
    child->changed_.wait(lock, [&] { return child->started_.has_value(); });
  }
  if (!child->started_->ok()) return Error(child->started_->error());
  return child;
}

void Child::Run(const ChildOptions& options) {
  int report[2] = {-1, -1};
  Status started = Ok();
  pid_t pid = -1;
  if (pipe2(report, O_CLOEXEC) != 0) {
    started = Fail(Code::kExhausted, "cannot make a pipe: {}", std::strerror(errno));
  } else {
    const Plan plan{&options, Pointers(options.argv), Pointers(options.environment), getpid(),
                    report[1]};
    pid = fork();
    if (pid == 0) BecomeProgram(plan);
    if (pid < 0) {
      started = Fail(Code::kExhausted, "cannot start '{}': {}", options.argv[0],
                     std::strerror(errno));
    }
    close(report[1]);
    if (pid > 0) {
      if (const auto failure = ReadFailure(report[0])) started = Explain(*failure, options);
    }
    close(report[0]);
  }
  {
    const std::lock_guard lock(mutex_);
    pid_ = pid;
    started_ = std::move(started);
    if (pid < 0) exit_code_ = 127;
  }
  changed_.notify_all();
  if (pid < 0) return;

  // The process is left unreaped until the lock is held, so Signal() can never hit a reused pid.
  siginfo_t info{};
  while (waitid(P_PID, static_cast<id_t>(pid), &info, WEXITED | WNOWAIT) != 0 && errno == EINTR) {
  }
  const std::lock_guard lock(mutex_);
  int wait_status = 0;
  rusage used{};
  exit_code_ = wait4(pid, &wait_status, 0, &used) == pid ? ExitCodeOf(wait_status) : 127;
  usage_ = UsageOf(used);
  changed_.notify_all();
}

Child::~Child() {
  Signal(SIGKILL);
  if (keeper_.joinable()) keeper_.join();
}

bool Child::Signal(int signal) {
  const std::lock_guard lock(mutex_);
  if (exit_code_ || pid_ <= 0) return false;
  return kill(pid_, signal) == 0;
}

std::optional<int> Child::WaitFor(std::chrono::milliseconds timeout) {
  std::unique_lock lock(mutex_);
  changed_.wait_for(lock, timeout, [&] { return exit_code_.has_value(); });
  return exit_code_;
}

ChildUsage Child::usage() {
  const std::lock_guard lock(mutex_);
  WEIR_ASSERT(exit_code_.has_value());
  return usage_;
}

int Child::Wait() {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [&] { return exit_code_.has_value(); });
  return *exit_code_;
}

}  // namespace weir::sys
