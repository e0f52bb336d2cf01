#pragma once
// MemoryCgroup: a control group that bounds the memory of one child, and what that child took.
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <thread>

#include "weir/base/result.h"
#include "weir/sys/clock.h"
#include "weir/sys/stop.h"

namespace weir::experiment {

/// The two interfaces that kernels have for control groups.
enum class CgroupVersion : uint8_t { kV1, kV2 };

/// What the processes of a group hold, all in bytes.
struct MemoryUse {
  int64_t usage = 0;        ///< Charged to the group and in memory, page cache included.
  int64_t working_set = 0;  ///< Of it, all but the page cache that nobody looked at lately.
  int64_t swap = 0;         ///< Swapped out.
  int64_t anonymous = 0;    ///< In memory and not backed by a file.
};

/// Reads the files of the group at `folder`; what is not there is 0. Cost: about 0.1 ms.
MemoryUse ReadMemoryUse(const std::string& folder, CgroupVersion version);

/// Where control groups with a memory controller are made.
struct CgroupMount {
  CgroupVersion version;
  std::string folder;
};

/// Errors: kNotFound when this machine has no memory controller mounted.
Result<CgroupMount> FindCgroupMount();

/// A group of its own below the root of the hierarchy, removed at the end.
///
/// It stands at the root because v2 allows no group below one that has processes; a limit that this
/// process is under itself would not hold there, so callers refuse to start under one.
/// Memory:  the page cache that others have brought in counts with them, not here.
/// Threads: one thread of its own looks every 20 ms; calls from any.
class MemoryCgroup {
 public:
  /// A group of at most `limit_bytes`; 0: without a limit.
  /// Errors: kUsage      this process is not root's.
  ///         kNotFound   there is no memory controller.
  ///         kInvalid    the group cannot be made, or is in use: another bench runs.
  static Result<std::unique_ptr<MemoryCgroup>> Make(int64_t limit_bytes, sys::Clock& clock);
  ~MemoryCgroup();  ///< Requires: its processes have ended.
  MemoryCgroup(const MemoryCgroup&) = delete;
  MemoryCgroup& operator=(const MemoryCgroup&) = delete;

  /// For sys::ChildOptions::group_path.
  std::string procs_path() const;
  /// The most of each kind that was seen so far; usage is the kernel's own peak.
  MemoryUse peaks();

 private:
  MemoryCgroup(CgroupMount mount, sys::Clock& clock);
  void Watch();

  const CgroupVersion version_;
  const std::string folder_;
  sys::Clock& clock_;
  sys::Stop done_;
  std::mutex mutex_;
  MemoryUse peaks_;
  std::thread watcher_;
};

}  // namespace weir::experiment
