#include "weir/sys/files.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>

#include "weir/sys/errno_internal.h"

namespace weir::sys {
namespace {

const char* RemedyFor(int number) {
  switch (number) {
    case EACCES:
    case EPERM:
    case EROFS: return "; give write rights or choose another folder";
    case ENAMETOOLONG: return "; choose a shorter path";
    case EFBIG:
      return "; raise the limit on file sizes (ulimit -f) or have smaller files made";
    case ENOSPC:
    case EDQUOT: return "; free space and run again";
    default: return "";
  }
}

Error FromErrno(int number, std::string_view doing, const std::string& path) {
  return Fail(CodeOfErrno(number), "cannot {} '{}': {}{}", doing, path, std::strerror(number),
              RemedyFor(number));
}

class DiskOutputFile final : public OutputFile {
 public:
  DiskOutputFile(int fd, std::string path) : fd_(fd), path_(std::move(path)) {}
  ~DiskOutputFile() override {
    if (fd_ >= 0) close(fd_);
  }

  Status Append(Bytes bytes) override {
    while (!bytes.empty()) {
      const ssize_t written = write(fd_, bytes.data(), bytes.size());
      if (written < 0) {
        if (errno == EINTR) continue;
        return FromErrno(errno, "write", path_);
      }
      size_bytes_ += written;
      bytes = bytes.subspan(static_cast<size_t>(written));
    }
    return Ok();
  }
  Status Sync() override {
    if (fdatasync(fd_) != 0) return FromErrno(errno, "sync", path_);
    return Ok();
  }
  Status Close() override {
    const int fd = std::exchange(fd_, -1);
    if (fd >= 0 && close(fd) != 0) return FromErrno(errno, "close", path_);
    return Ok();
  }
  int64_t size_bytes() const override { return size_bytes_; }

 private:
  int fd_;
  std::string path_;
  int64_t size_bytes_ = 0;
};

class DiskFolderLock final : public FolderLock {
 public:
  explicit DiskFolderLock(int fd) : fd_(fd) {}
  ~DiskFolderLock() override { close(fd_); }
  DiskFolderLock(const DiskFolderLock&) = delete;
  DiskFolderLock& operator=(const DiskFolderLock&) = delete;

 private:
  const int fd_;
};

}  // namespace

std::string JoinPath(std::string_view folder, std::string_view name) {
  if (folder.empty()) return std::string(name);
  if (folder.back() == '/') return fmt::format("{}{}", folder, name);
  return fmt::format("{}/{}", folder, name);
}

std::string ParentPath(std::string_view path) {
  while (path.size() > 1 && path.back() == '/') path.remove_suffix(1);
  const size_t slash = path.rfind('/');
  if (slash == path.npos) return ".";
  return slash == 0 ? "/" : std::string(path.substr(0, slash));
}

Status Files::MakeFolder(const std::string& path) {
  if (path.empty() || path == "/" || path == ".") return Ok();
  const std::string parent = ParentPath(path);
  if (!Exists(parent)) WEIR_DO(MakeFolder(parent));
  WEIR_TRY(const bool made, MakeOneFolder(path));
  return made ? SyncFolder(parent) : Ok();
}

Status Files::WriteWhole(const std::string& path, std::string_view contents) {
  WEIR_TRY(auto file, Create(path));
  WEIR_DO(file->Append(AsBytes(contents)));
  WEIR_DO(file->Sync());
  return file->Close();
}

Status Files::ReplaceWhole(const std::string& path, std::string_view contents) {
  const std::string folder = ParentPath(path);
  const std::string fresh =
      JoinPath(folder, fmt::format(".{}.new", path.substr(path.rfind('/') + 1)));
  WEIR_DO(Remove(fresh));
  WEIR_DO(WriteWhole(fresh, contents));
  WEIR_DO(Rename(fresh, path));
  return SyncFolder(folder);
}

Result<std::unique_ptr<OutputFile>> DiskFiles::Create(const std::string& path) {
  // O_APPEND: in a file that someone cuts meanwhile no hole appears, and its size tells.
  const int fd = open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_APPEND | O_CLOEXEC, 0600);
  if (fd < 0) return FromErrno(errno, "create", path);
  return std::unique_ptr<OutputFile>(std::make_unique<DiskOutputFile>(fd, path));
}

Result<std::string> DiskFiles::Read(const std::string& path, int64_t limit_bytes) {
  // Without O_NONBLOCK a pipe would be waited for before it can be looked at.
  const int fd = open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (fd < 0) return FromErrno(errno, "open", path);
  struct stat info {};
  if (fstat(fd, &info) == 0 && !S_ISREG(info.st_mode)) {
    close(fd);
    return Fail(Code::kInvalid, "'{}' is {}; put a regular file there", path,
                S_ISDIR(info.st_mode) ? "a folder" : "a pipe or device");
  }
  std::string contents;
  char buffer[65536];
  while (true) {
    const ssize_t got = read(fd, buffer, sizeof buffer);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) {
      const int number = errno;
      close(fd);
      return FromErrno(number, "read", path);
    }
    if (got == 0) break;
    contents.append(buffer, static_cast<size_t>(got));
    if (static_cast<int64_t>(contents.size()) > limit_bytes) {
      close(fd);
      return Fail(Code::kInvalid, "'{}' is longer than {} bytes", path, limit_bytes);
    }
  }
  close(fd);
  return contents;
}

PathKind DiskFiles::KindOf(const std::string& path) {
  struct stat info {};
  if (lstat(path.c_str(), &info) != 0) return PathKind::kNone;
  if (S_ISREG(info.st_mode)) return PathKind::kFile;
  if (S_ISDIR(info.st_mode)) return PathKind::kFolder;
  return S_ISLNK(info.st_mode) ? PathKind::kLink : PathKind::kOther;
}

Result<std::vector<std::string>> DiskFiles::List(const std::string& folder) {
  std::error_code error;
  std::filesystem::directory_iterator entries(folder, error);
  if (error) return FromErrno(error.value(), "list", folder);
  std::vector<std::string> names;
  for (; entries != std::filesystem::directory_iterator(); entries.increment(error)) {
    names.push_back(entries->path().filename().string());
  }
  if (error) return FromErrno(error.value(), "list", folder);  // An increment that fails ends it.
  std::sort(names.begin(), names.end());
  return names;
}

Result<int64_t> DiskFiles::SizeBytes(const std::string& path) {
  struct stat info {};
  if (stat(path.c_str(), &info) != 0) return FromErrno(errno, "look at", path);
  return int64_t{info.st_size};
}

Result<bool> DiskFiles::MakeOneFolder(const std::string& path) {
  if (mkdir(path.c_str(), 0700) == 0) return true;
  const int number = errno;
  struct stat info {};
  if (number == EEXIST && stat(path.c_str(), &info) == 0 && S_ISDIR(info.st_mode)) return false;
  if (number == EEXIST) {
    return Fail(Code::kInvalid, "'{}' is not a folder; move it away or choose another", path);
  }
  return FromErrno(number, "make folder", path);
}

Status DiskFiles::Rename(const std::string& from, const std::string& to) {
  if (rename(from.c_str(), to.c_str()) != 0) return FromErrno(errno, "rename to", to);
  return Ok();
}

Status DiskFiles::Exchange(const std::string& a, const std::string& b) {
  if (renameat2(AT_FDCWD, a.c_str(), AT_FDCWD, b.c_str(), RENAME_EXCHANGE) != 0) {
    if (errno == EINVAL || errno == ENOSYS) {
      return Fail(Code::kInvalid,
                  "cannot swap in '{}': its file system cannot swap two folders; remove what "
                  "stands there, or choose a folder on another file system",
                  b);
    }
    return FromErrno(errno, "swap in", b);
  }
  return Ok();
}

Status DiskFiles::Remove(const std::string& path) {
  std::error_code error;
  std::filesystem::remove_all(path, error);
  if (error) return FromErrno(error.value(), "remove", path);
  return Ok();
}

Status DiskFiles::SyncFolder(const std::string& folder) {
  const int fd = open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (fd < 0) return FromErrno(errno, "open folder", folder);
  const int synced = fsync(fd);
  const int number = errno;
  close(fd);
  // Some file systems have nothing to sync for a folder and say EINVAL.
  if (synced != 0 && number != EINVAL) return FromErrno(number, "sync folder", folder);
  return Ok();
}

Result<int64_t> DiskFiles::FreeBytes(const std::string& folder) {
  struct statvfs info {};
  if (statvfs(folder.c_str(), &info) != 0) return FromErrno(errno, "look at", folder);
  return static_cast<int64_t>(info.f_bavail) * static_cast<int64_t>(info.f_frsize);
}

Result<std::unique_ptr<FolderLock>> DiskFiles::TryLock(const std::string& folder) {
  const int fd = open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
  if (fd < 0) return FromErrno(errno, "lock", folder);
  auto lock = std::make_unique<DiskFolderLock>(fd);
  if (flock(fd, LOCK_EX | LOCK_NB) == 0) return std::unique_ptr<FolderLock>(std::move(lock));
  if (errno == EWOULDBLOCK) return std::unique_ptr<FolderLock>();
  return std::unique_ptr<FolderLock>(std::move(lock));  // No locks on folders here: NFS, FUSE.
}

}  // namespace weir::sys
