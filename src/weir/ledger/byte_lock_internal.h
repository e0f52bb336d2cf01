#pragma once
// ByteLock: a claim on one byte of a lock file that the kernel drops when its holder dies.
#include <cstdint>
#include <optional>
#include <string>
#include <utility>

#include "weir/base/result.h"

namespace weir::ledger {

/// An open-file-description lock (fcntl F_OFD_SETLK) on byte `offset` of the file at `path`, which
/// is made 0600 when missing and never removed: removing it would let two holders lock different
/// files.
///
/// Threads: any. Two claims of one byte exclude each other inside one process too.
/// Errors:  kInvalid when the file may not be written or its file system has no locks.
class ByteLock {
 public:
  /// The lock, or nothing when someone holds it.
  static Result<std::optional<ByteLock>> TryTake(const std::string& path, int64_t offset);
  /// True when someone holds it, or when the lock file may not be read. Takes and makes nothing.
  static Result<bool> IsHeld(const std::string& path, int64_t offset);

  ~ByteLock();
  ByteLock(ByteLock&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  ByteLock& operator=(ByteLock&&) = delete;

 private:
  explicit ByteLock(int fd) : fd_(fd) {}

  int fd_;
};

}  // namespace weir::ledger
