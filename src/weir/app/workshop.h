#pragma once
// Workshop: what every command that moves data needs, built once by main and handed down.
#include "weir/mem/block_allocator.h"
#include "weir/mem/budget.h"
#include "weir/sys/clock.h"
#include "weir/sys/files.h"
#include "weir/sys/stop.h"

namespace weir::app {

/// Freed blocks kept warm: a few batches and pages. More of them raise peak memory by as much.
inline constexpr int64_t kKeptBytes = 12 << 20;

struct Workshop {
  sys::RealClock clock;
  sys::DiskFiles files;
  sys::Stop stop;
  sys::SignalStop signals{stop};
  mem::Budget budget{"process", mem::kUnlimited};
  mem::BlockAllocator blocks{budget, kKeptBytes};
};

}  // namespace weir::app
