#include "weir/feed/tpch_ticks.h"

#include "weir/feed/random_internal.h"

namespace weir::feed {

TpchTick TpchTicks::Next() {
  constexpr uint64_t kTickStream = 300;
  Random random(seed_, kTickStream, static_cast<uint64_t>(tick_count_++), 0);
  TpchTick tick;
  tick.unit = random.Below(generator_.UnitCount(TpchTable::kOrders));
  uint64_t& version = versions_[tick.unit];
  tick.old_version = version++;
  tick.new_version = version;
  return tick;
}

}  // namespace weir::feed
