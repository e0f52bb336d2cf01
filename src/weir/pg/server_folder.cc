#include "weir/pg/server_folder_internal.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>

#include "weir/sys/files.h"

namespace weir::pg {
namespace {

constexpr std::string_view kPrefix = "weir-pg-";
// sun_path ends with a zero byte.
constexpr size_t kLongestSocketPath = sizeof(sockaddr_un::sun_path) - 1;
constexpr std::string_view kLongestSocketName = "/.s.PGSQL.65535";
constexpr size_t kLongestFolder = kLongestSocketPath - kLongestSocketName.size();

Error FromErrno(std::string_view doing, const std::string& path) {
  const int number = errno;
  const bool full = number == ENOSPC || number == EDQUOT;
  return Fail(full ? Code::kExhausted : Code::kInvalid, "cannot {} '{}': {}", doing, path,
              std::strerror(number));
}

// Opens the lock file of a folder and takes the lock; -1 when someone else has it or there is none.
int TryLock(const std::string& lock_path) {
  const int fd = open(lock_path.c_str(), O_RDWR | O_NOFOLLOW | O_CLOEXEC);
  if (fd >= 0 && flock(fd, LOCK_EX | LOCK_NB) == 0) return fd;
  if (fd >= 0) close(fd);
  return -1;
}

// Removes folders whose process was killed: their lock is free. Best effort.
void SweepLeftBehind(const std::string& parent, uid_t owner) {
  sys::DiskFiles files;
  const auto names = files.List(parent);
  if (!names.ok()) return;
  for (const std::string& name : names.value()) {
    if (!name.starts_with(kPrefix)) continue;
    const std::string path = sys::JoinPath(parent, name);
    struct stat info {};
    if (lstat(path.c_str(), &info) != 0 || !S_ISDIR(info.st_mode) || info.st_uid != owner) continue;
    if (files.Exists(sys::JoinPath(path, "keep"))) continue;
    const int fd = TryLock(sys::JoinPath(path, "lock"));
    if (fd < 0) continue;
    (void)files.Remove(path);
    close(fd);
  }
}

// $TMPDIR where a server can live in it, else /tmp.
std::string ParentForNew(const std::optional<sys::User>& user) {
  const char* text = std::getenv("TMPDIR");
  if (text == nullptr || *text != '/') return "/tmp";
  const std::string folder(text);
  if (folder.size() + 1 + kPrefix.size() + 6 > kLongestFolder) return "/tmp";
  if (user && !CanReach(sys::JoinPath(folder, "x"), *user)) return "/tmp";
  return access(folder.c_str(), W_OK | X_OK) == 0 ? folder : "/tmp";
}

Result<std::string> AbsolutePath(const std::string& wanted) {
  std::error_code error;
  std::string path = std::filesystem::absolute(wanted, error).lexically_normal().string();
  while (path.size() > 1 && path.back() == '/') path.pop_back();
  if (error) return Fail(Code::kInvalid, "no such folder '{}': {}", wanted, error.message());
  return path;
}

}  // namespace

bool CanReach(const std::string& path, const sys::User& user) {
  for (std::string folder = path; folder != "/";) {
    folder = sys::ParentPath(folder);
    struct stat info {};
    if (stat(folder.c_str(), &info) != 0) return false;
    mode_t needed = S_IXOTH;
    if (info.st_uid == user.uid) {
      needed = S_IXUSR;
    } else if (std::find(user.groups.begin(), user.groups.end(), info.st_gid) !=
               user.groups.end()) {
      needed = S_IXGRP;
    }
    if ((info.st_mode & needed) == 0) return false;
  }
  return true;
}

std::string ServerFolder::Path(std::string_view name) const { return sys::JoinPath(path_, name); }

Result<std::string> ServerFolder::CheckPath(const std::string& wanted,
                                            const std::optional<sys::User>& user) {
  WEIR_TRY(std::string path, AbsolutePath(wanted));
  if (path.size() > kLongestFolder) {
    return Fail(Code::kInvalid,
                "folder '{}' is too long for a Unix socket: {} bytes, at most {}; choose a "
                "shorter one",
                path, path.size(), kLongestFolder);
  }
  if (user && !CanReach(path, *user)) {
    return Fail(Code::kInvalid,
                "user '{}' cannot reach folder '{}': choose one outside of private folders",
                user->name, path);
  }
  return path;
}

Result<std::unique_ptr<ServerFolder>> ServerFolder::Open(const std::string& wanted, bool keep,
                                                         const std::optional<sys::User>& user) {
  std::string path;
  if (wanted.empty()) {
    const std::string parent = ParentForNew(user);
    SweepLeftBehind(parent, user ? user->uid : geteuid());
    path = sys::JoinPath(parent, fmt::format("{}XXXXXX", kPrefix));
    if (mkdtemp(path.data()) == nullptr) return FromErrno("make folder", path);
  } else {
    WEIR_TRY(path, CheckPath(wanted, user));
  }
  std::unique_ptr<ServerFolder> folder(new ServerFolder(path, keep));
  if (wanted.empty()) {
    folder->made_ = true;
    WEIR_DO(folder->Make(user));
  } else if (mkdir(path.c_str(), 0700) == 0) {
    folder->made_ = true;
    WEIR_DO(folder->Make(user));
  } else if (errno == EEXIST) {
    sys::DiskFiles files;
    WEIR_TRY(const auto names, files.List(path));
    if (names.empty()) {
      WEIR_DO(folder->Make(user));
    } else {
      WEIR_DO(folder->TakeUp());
    }
  } else {
    return FromErrno("make folder", path);
  }
  return folder;
}

// The lock file gets its name only once it is locked, so a sweep never sees it free.
Status ServerFolder::Make(const std::optional<sys::User>& user) {
  sys::DiskFiles files;
  if (keep_) WEIR_DO(files.WriteWhole(Path("keep"), ""));
  const std::string fresh = Path("lock.new");
  lock_fd_ = open(fresh.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
  if (lock_fd_ < 0 || flock(lock_fd_, LOCK_EX | LOCK_NB) != 0) return FromErrno("lock", fresh);
  WEIR_DO(files.Rename(fresh, Path("lock")));
  if (chmod(path_.c_str(), 0700) != 0) return FromErrno("set the mode of", path_);
  if (user && chown(path_.c_str(), user->uid, user->gid) != 0) {
    return FromErrno("give away", path_);
  }
  return Ok();
}

Status ServerFolder::TakeUp() {
  sys::DiskFiles files;
  if (!files.Exists(Path("lock"))) {
    return Fail(Code::kInvalid,
                "folder '{}' holds other things: choose an empty or new folder for PostgreSQL",
                path_);
  }
  lock_fd_ = TryLock(Path("lock"));
  if (lock_fd_ >= 0) return Ok();
  if (access(path_.c_str(), X_OK) != 0) return FromErrno("enter", path_);
  return Fail(Code::kInvalid, "folder '{}' is in use by another process: end it, or choose another",
              path_);
}

ServerFolder::~ServerFolder() {
  sys::DiskFiles files;
  if (made_ && !keep_) (void)files.Remove(path_);
  if (lock_fd_ >= 0) close(lock_fd_);
}

}  // namespace weir::pg
