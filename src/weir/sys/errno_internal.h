#pragma once
// What a failed system call on a file asks of whoever made it.
#include "weir/base/error.h"

namespace weir::sys {

/// kNotFound for what is not there, kInvalid for what is refused, kExhausted for what is used up,
/// else kUnavailable.
Code CodeOfErrno(int number);

}  // namespace weir::sys
