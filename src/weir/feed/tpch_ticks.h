#pragma once
// TpchTicks: the changes of a TPC-H source that never ends.
#include <span>
#include <unordered_map>

#include "weir/feed/tpch_generator.h"

namespace weir::feed {

/// One change: an order and its lineitems go, and come again as another version.
struct TpchTick {
  int64_t unit = 0;
  uint64_t old_version = 0;
  uint64_t new_version = 0;
};

/// Every tick picks one order at random. Which one, and as what it comes again, follows from the
/// seed and the ticks before, so that a source can be played again from its start; the number of
/// orders stays the same.
///
/// Memory:  16 bytes and an entry of a hash table per order that ever changed.
/// Threads: one.
class TpchTicks {
 public:
  /// Requires: the generator outlives it.
  TpchTicks(const TpchGenerator& generator, uint64_t seed) : generator_(generator), seed_(seed) {}

  TpchTick Next();
  int64_t tick_count() const { return tick_count_; }
  /// Of a unit of orders or lineitem, after the ticks so far.
  uint64_t VersionOf(int64_t unit) const {
    const auto changed = versions_.find(unit);
    return changed == versions_.end() ? 0 : changed->second;
  }

  /// Appends the rows of a table (orders or lineitem) that the tick takes away.
  void AppendOld(const TpchTick& tick, TpchTable table,
                 std::span<table::ColumnBuilder> builders) const {
    generator_.Append(table, tick.unit, tick.unit + 1, tick.old_version, builders);
  }
  /// Appends those that it brings.
  void AppendNew(const TpchTick& tick, TpchTable table,
                 std::span<table::ColumnBuilder> builders) const {
    generator_.Append(table, tick.unit, tick.unit + 1, tick.new_version, builders);
  }

 private:
  const TpchGenerator& generator_;
  const uint64_t seed_;
  int64_t tick_count_ = 0;
  std::unordered_map<int64_t, uint64_t> versions_;  // Of orders that changed; all others have 0.
};

}  // namespace weir::feed
