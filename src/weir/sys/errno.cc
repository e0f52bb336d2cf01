#include <cerrno>

#include "weir/sys/errno_internal.h"

namespace weir::sys {

Code CodeOfErrno(int number) {
  switch (number) {
    case ENOENT: return Code::kNotFound;
    case EACCES:
    case EPERM:
    case EROFS:
    case EEXIST:
    case ENOTEMPTY:
    case ENOTDIR:
    case EISDIR:
    case EINVAL:
    case ENAMETOOLONG: return Code::kInvalid;
    case EFBIG:
    case ENOSPC:
    case EDQUOT:
    case EMFILE:
    case ENFILE: return Code::kExhausted;
    default: return Code::kUnavailable;
  }
}

}  // namespace weir::sys
