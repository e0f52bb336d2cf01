#pragma once
// TpchGenerator: the eight tables of TPC-H, any row of which can be made at any time.
#include <memory>
#include <span>
#include <string_view>

#include "weir/table/column.h"

namespace weir::feed {

class Random;

enum class TpchTable : uint8_t {
  kRegion, kNation, kSupplier, kPart, kPartsupp, kCustomer, kOrders, kLineitem
};
inline constexpr int kTpchTableCount = 8;

/// "lineitem".
std::string_view TpchTableName(TpchTable table);

/// Columns as the specification names them, none nullable; keys are int64, prices decimal(15,2).
const table::Schema& TpchSchema(TpchTable table);

/// Rows by the TPC Benchmark H specification, clause 4.2: its row counts, value distributions,
/// order keys with gaps and customers without orders. Comments are cut from a smaller pool of text.
///
/// The rows of a table come in units: one row each, but four rows of partsupp (one part) and one to
/// seven of lineitem (one order). A row depends on seed, scale factor, unit and version alone.
///
/// Threads: any, once made.
class TpchGenerator {
 public:
  /// Requires: scale_factor > 0. Below 0.001 tables no longer shrink.
  TpchGenerator(double scale_factor, uint64_t seed);
  ~TpchGenerator();

  int64_t UnitCount(TpchTable table) const;

  /// Appends the rows of units [begin, end) to one builder per column of TpchSchema(table).
  /// `version` tells apart the lives of an order and its lineitems; 0 is the first.
  void Append(TpchTable table, int64_t begin, int64_t end, uint64_t version,
              std::span<table::ColumnBuilder> builders) const;

  /// Rows of one unit.
  int64_t RowCount(TpchTable table, int64_t unit, uint64_t version) const;
  /// One row of a unit: 0 is its first. Cost: that of the whole unit.
  void AppendRow(TpchTable table, int64_t unit, int64_t nth, uint64_t version,
                 std::span<table::ColumnBuilder> builders) const;

 private:
  struct Item;
  struct Order;
  class Row;

  Random OrderRandom(int64_t unit, uint64_t version) const;
  Order OrderOf(int64_t unit, uint64_t version) const;
  Order OrderWithoutItems(Random& random) const;
  Item ItemOf(Random& random, int64_t order_date) const;
  int64_t SupplierOf(int64_t part_key, int64_t nth) const;
  void AppendSupplier(int64_t unit, Random random, Row row) const;
  void AppendPart(int64_t unit, Random random, Row row) const;
  void AppendUnit(TpchTable table, int64_t unit, uint64_t version, Row row) const;
  void AppendPartsupp(int64_t unit, Random random, Row row) const;
  void AppendCustomer(int64_t unit, Random random, Row row) const;
  void AppendOrder(int64_t unit, uint64_t version, Row row) const;
  void AppendLineitems(int64_t unit, uint64_t version, Row row) const;

  const uint64_t seed_;
  const int64_t suppliers_;
  const int64_t parts_;
  const int64_t customers_;
  const int64_t orders_;
  const int64_t clerks_;
  std::unique_ptr<const class TpchText> text_;
};

}  // namespace weir::feed
