#pragma once
// Files: the only door to the disk. DiskFiles is real, MemoryFiles for tests, FailingFiles breaks
// on demand.
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "weir/base/bytes.h"
#include "weir/base/result.h"

namespace weir::sys {

/// A new file being written from its start to its end.
///
/// Threads: one at a time. Dropping it without Close() leaves a file of unknown length.
class OutputFile {
 public:
  virtual ~OutputFile() = default;

  /// Errors: kExhausted when the disk or the quota is full; kUnavailable for device failures.
  virtual Status Append(Bytes bytes) = 0;
  /// Returns when the bytes so far would survive a power cut.
  virtual Status Sync() = 0;
  virtual Status Close() = 0;
  virtual int64_t size_bytes() const = 0;
};

/// A lock on a folder, given back when destroyed, or by the kernel when the process dies.
class FolderLock {
 public:
  virtual ~FolderLock() = default;
};

/// What stands at a path. A link is one, wherever it leads.
enum class PathKind { kNone, kFile, kFolder, kLink, kOther };

/// Paths, and what can be done to them. Files are made 0600 and folders 0700.
///
/// Errors, everywhere: kNotFound for what is not there, kInvalid for what is refused (rights, wrong
/// kind), kExhausted for a full disk, kUnavailable for device failures; the message names the path.
/// Threads: any.
class Files {
 public:
  virtual ~Files() = default;

  /// A new, empty file; an existing one is refused with kInvalid.
  virtual Result<std::unique_ptr<OutputFile>> Create(const std::string& path) = 0;
  /// The whole file. Errors: kInvalid also when it is longer than `limit_bytes`, and for what is no
  /// regular file (a pipe would be waited for without end).
  virtual Result<std::string> Read(const std::string& path, int64_t limit_bytes) = 0;
  virtual PathKind KindOf(const std::string& path) = 0;
  /// Names in a folder, sorted, without "." and "..".
  virtual Result<std::vector<std::string>> List(const std::string& folder) = 0;
  virtual Result<int64_t> SizeBytes(const std::string& path) = 0;
  /// Makes one folder in a folder that is there. False: it was there already.
  virtual Result<bool> MakeOneFolder(const std::string& path) = 0;
  /// Atomically gives `from` the name `to`, replacing a file of that name.
  virtual Status Rename(const std::string& from, const std::string& to) = 0;
  /// Atomically swaps two existing paths of the same file system.
  virtual Status Exchange(const std::string& a, const std::string& b) = 0;
  /// Removes a file or a folder with all in it; a missing path is fine.
  virtual Status Remove(const std::string& path) = 0;
  /// Returns when names made, changed or removed in `folder` would survive a power cut.
  virtual Status SyncFolder(const std::string& folder) = 0;
  /// Bytes an unprivileged writer can still put on the file system of `folder`.
  virtual Result<int64_t> FreeBytes(const std::string& folder) = 0;
  /// Locks a folder, wherever it is renamed to; null when someone else holds it. Where the file
  /// system has no locks for folders (NFS), everyone gets one, and it keeps nobody out.
  virtual Result<std::unique_ptr<FolderLock>> TryLock(const std::string& folder) = 0;

  bool Exists(const std::string& path) { return KindOf(path) != PathKind::kNone; }
  /// Makes the folder and those above it that are missing; an existing one is fine. Returns when
  /// the names it made would survive a power cut.
  Status MakeFolder(const std::string& path);
  /// Writes `contents` to a new file and syncs it.
  Status WriteWhole(const std::string& path, std::string_view contents);
  /// Replaces `path` by `contents` so that a reader sees the old or the new, never a part.
  Status ReplaceWhole(const std::string& path, std::string_view contents);
};

class DiskFiles final : public Files {
 public:
  Result<std::unique_ptr<OutputFile>> Create(const std::string& path) override;
  Result<std::string> Read(const std::string& path, int64_t limit_bytes) override;
  PathKind KindOf(const std::string& path) override;
  Result<std::vector<std::string>> List(const std::string& folder) override;
  Result<int64_t> SizeBytes(const std::string& path) override;
  Result<bool> MakeOneFolder(const std::string& path) override;
  Status Rename(const std::string& from, const std::string& to) override;
  Status Exchange(const std::string& a, const std::string& b) override;
  Status Remove(const std::string& path) override;
  Status SyncFolder(const std::string& folder) override;
  Result<int64_t> FreeBytes(const std::string& folder) override;
  Result<std::unique_ptr<FolderLock>> TryLock(const std::string& folder) override;
};

/// Files in a map: a path is its text, a folder is there once made.
class MemoryFiles : public Files {
 public:
  Result<std::unique_ptr<OutputFile>> Create(const std::string& path) override;
  Result<std::string> Read(const std::string& path, int64_t limit_bytes) override;
  PathKind KindOf(const std::string& path) override;
  Result<std::vector<std::string>> List(const std::string& folder) override;
  Result<int64_t> SizeBytes(const std::string& path) override;
  Result<bool> MakeOneFolder(const std::string& path) override;
  Status Rename(const std::string& from, const std::string& to) override;
  Status Exchange(const std::string& a, const std::string& b) override;
  Status Remove(const std::string& path) override;
  Status SyncFolder(const std::string& folder) override;
  Result<int64_t> FreeBytes(const std::string& folder) override;
  Result<std::unique_ptr<FolderLock>> TryLock(const std::string& folder) override;

 private:
  friend class MemoryOutputFile;
  struct Node {
    bool folder = false;
    std::string contents;
    std::weak_ptr<FolderLock> lock = {};
  };
  /// kNotFound or kInvalid unless the folder that is to hold `path` is there.
  Status CheckParent(std::string_view doing, const std::string& path) const;
  /// What Rename refuses: a file in place of a folder or the reverse; a folder that is not empty.
  Status CheckReplace(const std::string& from, const std::string& to) const;
  void Move(const std::string& from, const std::string& to);

  std::mutex mutex_;
  std::map<std::string, Node> nodes_;
};

/// Passes every call on to `below` until the n-th durable step (Create, Append, Sync, Rename,
/// Exchange, MakeOneFolder, SyncFolder), which fails with `error`, as do all later ones.
class FailingFiles final : public Files {
 public:
  FailingFiles(Files& below, int64_t steps_before_failure, Error error);

  Result<std::unique_ptr<OutputFile>> Create(const std::string& path) override;
  Result<std::string> Read(const std::string& path, int64_t limit_bytes) override;
  PathKind KindOf(const std::string& path) override;
  Result<std::vector<std::string>> List(const std::string& folder) override;
  Result<int64_t> SizeBytes(const std::string& path) override;
  Result<bool> MakeOneFolder(const std::string& path) override;
  Status Rename(const std::string& from, const std::string& to) override;
  Status Exchange(const std::string& a, const std::string& b) override;
  Status Remove(const std::string& path) override;
  Status SyncFolder(const std::string& folder) override;
  Result<int64_t> FreeBytes(const std::string& folder) override;
  Result<std::unique_ptr<FolderLock>> TryLock(const std::string& folder) override;

  /// Counts one durable step; the error when it is the one to fail, or a later one.
  Status Step();
  int64_t steps() const { return steps_; }

 private:
  Files& below_;
  std::mutex mutex_;
  int64_t steps_before_failure_;
  int64_t steps_ = 0;
  Error error_;
};

/// "a/b" from "a" and "b"; an empty folder gives the name alone.
std::string JoinPath(std::string_view folder, std::string_view name);
/// "a" from "a/b", "." from "b", "/" from "/b".
std::string ParentPath(std::string_view path);

}  // namespace weir::sys
