#pragma once
// EngineMemory: how much an engine has to be given for some of it to be left.
#include "weir/sys/process.h"

namespace weir::test {

/// Enough for what this process holds by now, what an engine charges for small things, and
/// `more_bytes`.
inline int64_t EngineMemory(int64_t more_bytes) {
  constexpr int64_t kSmallThings = int64_t{16} << 20;
  return sys::ReadProcessUsage().anonymous_bytes + kSmallThings + more_bytes;
}

}  // namespace weir::test
