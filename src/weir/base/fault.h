#pragma once
// Fault points: named places at durable steps where a test can make the process die or the step
// fail.
#include <string_view>

#include "weir/base/result.h"

namespace weir {

/// A place where a crash must leave nothing wrong. Does nothing unless the environment says
/// WEIR_FAULT=name[:n][=kill|fail]; then the n-th arrival (1 by default) is killed by SIGKILL, or
/// returns kUnavailable. Names are `<file>.<stage>`.
///
/// Cost: one relaxed load when no fault is armed. Threads: any.
Status FaultPoint(std::string_view name);

}  // namespace weir
