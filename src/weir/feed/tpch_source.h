#pragma once
// TpchSource: the eight tables of TPC-H, made as they are read, that tick.
#include "weir/feed/source.h"

namespace weir::feed {

struct TpchSourceOptions {
  double scale_factor = 1;
  uint64_t seed = 1;
  std::optional<sys::Duration> tick_interval;
};

/// Tables are in the order of their keys. Each tick takes an order and its lineitems away and
/// brings another version of them: see TpchTicks.
std::unique_ptr<Source> NewTpchSource(const TpchSourceOptions& options);

}  // namespace weir::feed
