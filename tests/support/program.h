#pragma once
// Program: the binary under test as its users run it, with its output and its end.
#include <sys/types.h>

#include <functional>
#include <string>
#include <vector>

#include "tests/support/folder.h"

namespace weir::test {

/// How a program ended.
struct Ended {
  int code = 0;     ///< Exit code, or 128 + the signal.
  std::string out;
  std::string err;
};

/// A running program. Its environment is this process's with `environment` ("NAME=value") added.
///
/// Threads: one. Destruction kills it if it still runs.
class Program {
 public:
  explicit Program(const std::vector<std::string>& argv,
                   const std::vector<std::string>& environment = {});
  ~Program();
  Program(const Program&) = delete;
  Program& operator=(const Program&) = delete;

  void Signal(int signal);
  pid_t pid() const { return pid_; }
  /// True as soon as `condition` holds; false when the program ends first, or after a minute.
  bool Until(const std::function<bool()>& condition);
  /// Waits for the end, at most two minutes; then it is killed.
  Ended Wait();

 private:
  bool EndsWithin(int milliseconds);

  TempFolder folder_;
  pid_t pid_ = -1;
  int pid_fd_ = -1;
};

/// Runs it from start to end.
Ended RunProgram(const std::vector<std::string>& argv,
                 const std::vector<std::string>& environment = {});

}  // namespace weir::test
