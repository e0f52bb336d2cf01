#pragma once
// Child: another program run by this one, as another user where asked, that never outlives it.
#include <sys/types.h>

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "weir/base/result.h"

namespace weir::sys {

/// A user of this machine, with all groups it is in.
struct User {
  std::string name;
  uid_t uid = 0;
  gid_t gid = 0;
  std::vector<gid_t> groups;
};

/// Errors: kNotFound when the machine has no such user.
Result<User> FindUser(const std::string& name);

struct ChildOptions {
  std::vector<std::string> argv;         ///< argv[0] is the program's full path.
  std::vector<std::string> environment;  ///< "NAME=value"; nothing else is passed on.
  std::string folder;                    ///< Where it runs; its user must be able to enter it.
  std::string output_path;               ///< Its stdout and stderr are appended here, mode 0600.
  std::string error_path;                ///< Where not empty: its stderr goes here instead.
  std::optional<User> user;              ///< Needs root. None: the user of this process.
  /// Where not empty: the cgroup.procs of a control group that it joins first of all, so that all
  /// it ever allocates counts there.
  std::string group_path;
  int death_signal = 9;                  ///< What it gets when this process dies, even by kill -9.
};

/// What a child that has ended used of the machine, as wait4 tells it.
struct ChildUsage {
  /// Of the program and of the forked copy of this process before it, so never below what this
  /// process had resident when it forked.
  int64_t peak_rss_bytes = 0;
  int64_t user_micros = 0;
  int64_t system_micros = 0;
  int64_t major_faults = 0;
};

/// A running or finished child process, in a session of its own: a terminal's Ctrl-C spares it.
///
/// The kernel ties the death signal to the thread that forked, so each Child keeps one thread that
/// forks and then waits for the child's end.
/// Threads: any. Destruction kills the child with SIGKILL if it still runs, and waits.
class Child {
 public:
  /// Returns when the program was executed.
  /// Errors: kNotFound    the program is not there.
  ///         kInvalid     its user may not enter the folder, write the output, or run the program;
  ///                      it cannot join the control group.
  ///         kExhausted   no more processes.
  static Result<std::unique_ptr<Child>> Start(ChildOptions options);
  ~Child();
  Child(const Child&) = delete;
  Child& operator=(const Child&) = delete;

  pid_t pid() const { return pid_; }
  /// Sends `signal`; false when the child has ended. Never hits another process.
  bool Signal(int signal);
  /// The exit code, or 128 + the signal that ended it; none when it still runs after `timeout`.
  std::optional<int> WaitFor(std::chrono::milliseconds timeout);
  /// The same, however long it takes.
  int Wait();
  /// Requires: it has ended.
  ChildUsage usage();

 private:
  Child() = default;
  void Run(const ChildOptions& options);

  std::mutex mutex_;
  std::condition_variable changed_;
  std::optional<Status> started_;
  std::optional<int> exit_code_;
  ChildUsage usage_;
  pid_t pid_ = -1;
  std::thread keeper_;
};

}  // namespace weir::sys
