#pragma once
// SwapFile: swap that is on while a program under a memory limit runs, and off again after it.
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "weir/base/result.h"

namespace weir::experiment {

/// A preallocated file of mode 0600 that the kernel swaps to while this object lives.
///
/// A process that is killed leaves it on, since no one is there to turn it off; the next Make() or
/// RemoveStale() of the same path does. It is known by the label in its header.
/// Cost:    Make() some milliseconds per gigabyte; the destructor reads back what is still in it.
/// Threads: one.
class SwapFile {
 public:
  /// Errors: kUsage      this process is not root's.
  ///         kExhausted  the disk has not enough room.
  ///         kInvalid    the file system cannot hold swap (tmpfs, btrfs, overlay): choose another;
  ///                     this root may not turn swap on; as RemoveStale().
  static Result<std::unique_ptr<SwapFile>> Make(const std::string& path, int64_t bytes);
  ~SwapFile();  ///< Logs a warning when the kernel does not let it go.
  SwapFile(const SwapFile&) = delete;
  SwapFile& operator=(const SwapFile&) = delete;

  /// Turns off and removes what a process that was killed left at `path`; nothing there is fine.
  /// Errors: kInvalid when it is on and cannot be turned off, or is not ours: it stays.
  static Status RemoveStale(const std::string& path);

 private:
  explicit SwapFile(std::string path) : path_(std::move(path)) {}

  const std::string path_;
};

/// What stands in /proc/swaps: the paths of all swap that is on. A space in a path is "\040" there.
std::vector<std::string> SwapsIn(std::string_view proc_swaps);

/// All swap of this machine that is on.
std::vector<std::string> ActiveSwaps();

}  // namespace weir::experiment
