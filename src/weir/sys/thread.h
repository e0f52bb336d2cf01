#pragma once
// StartThread: a thread, or the reason why the system gives none.
#include <functional>
#include <thread>

#include "weir/base/result.h"

namespace weir::sys {

/// Runs `body` on a thread of its own, to be joined or detached.
/// Errors: kExhausted when a limit on processes or memory is reached.
Result<std::thread> StartThread(std::function<void()> body);

}  // namespace weir::sys
