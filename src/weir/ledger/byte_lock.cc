#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "weir/ledger/byte_lock_internal.h"

namespace weir::ledger {
namespace {

Error CannotLock(int number, const std::string& path) {
  switch (number) {
    case ENOSPC:
    case EDQUOT:
    case EMFILE:
    case ENFILE:
      return Fail(Code::kExhausted, "cannot lock '{}': {}; free some and run again", path,
                  std::strerror(number));
    case ENOENT:
      return Fail(Code::kNotFound, "cannot lock '{}': its folder does not exist; make it first",
                  path);
    case ENOLCK:
    case ENOSYS:
    case EOPNOTSUPP:
    case EINVAL:
      return Fail(Code::kInvalid,
                  "cannot lock '{}': its file system has no locks; put the state on one that does",
                  path);
    default:
      return Fail(Code::kInvalid,
                  "cannot lock '{}': {}; give write rights on it and its folder, then run again",
                  path, std::strerror(number));
  }
}

struct flock WriteLockOn(int64_t offset) {
  struct flock region {};
  region.l_type = F_WRLCK;
  region.l_whence = SEEK_SET;
  region.l_start = offset;
  region.l_len = 1;
  return region;
}

}  // namespace

Result<std::optional<ByteLock>> ByteLock::TryTake(const std::string& path, int64_t offset) {
  const int fd = open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
  if (fd < 0) return CannotLock(errno, path);
  ByteLock lock(fd);
  struct flock region = WriteLockOn(offset);
  if (fcntl(fd, F_OFD_SETLK, &region) == 0) return std::optional<ByteLock>(std::move(lock));
  if (errno == EAGAIN || errno == EACCES) return std::optional<ByteLock>();
  return CannotLock(errno, path);
}

Result<bool> ByteLock::IsHeld(const std::string& path, int64_t offset) {
  const int fd = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (fd < 0 && errno == ENOENT) return false;
  if (fd < 0 && errno == EACCES) return true;  // Someone else's: nobody here can say.
  if (fd < 0) return CannotLock(errno, path);
  const ByteLock closer(fd);
  struct flock region = WriteLockOn(offset);
  if (fcntl(fd, F_OFD_GETLK, &region) != 0) return CannotLock(errno, path);
  return region.l_type != F_UNLCK;
}

ByteLock::~ByteLock() {
  if (fd_ >= 0) close(fd_);
}

}  // namespace weir::ledger
