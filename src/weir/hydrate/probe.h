#pragma once
// Probes: how fast an index answers once it is there, and whether it answers the same.
#include "weir/hydrate/index.h"
#include "weir/mem/block_allocator.h"
#include "weir/sys/clock.h"
#include "weir/sys/stop.h"

namespace weir::hydrate {

enum class ProbeOrder : uint8_t {
  kSorted,  ///< Keys that rise, by one lookup: what a join does.
  kRandom,  ///< Keys in any order, each by a lookup of its own.
};

struct ProbeResult {
  int64_t probes = 0;
  int64_t rows = 0;      ///< Found, each as often as it is there.
  uint64_t digest = 0;   ///< Of all that was found: the sum of xxh3(row) times its diff.
  sys::Duration time{0};
};

/// Looks up `count` keys of the index at `time`, which are spread evenly over its rows, and is
/// timed from the first lookup to the last. Which keys depends on the rows alone, and their order
/// on a fixed seed.
///
/// Cost:   first one read of the whole index. Memory for the keys is charged to `blocks`.
/// Errors: of Index::ReadAt; kCancelled when `stop` was asked for.
Result<ProbeResult> Probe(const Index& index, delta::Time time, int64_t count, ProbeOrder order,
                          mem::BlockAllocator& blocks, const sys::Stop& stop);

}  // namespace weir::hydrate
