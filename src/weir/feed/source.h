#pragma once
// Source: tables that are read once, and from then on only heard of when they change.
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "weir/sys/clock.h"
#include "weir/table/column.h"

namespace weir::feed {

/// Some rows of a table, batch by batch. Threads: one at a time.
class RowReader {
 public:
  virtual ~RowReader() = default;
  /// A batch of none is the end.
  virtual Result<table::Batch> Next() = 0;
};

/// One scan over all rows of a table, shared by the threads that take its morsels.
///
/// Threads: any; each reader belongs to one.
class TableScan {
 public:
  virtual ~TableScan() = default;
  /// Rows that nobody has taken, in the table's order; null when there are none left.
  virtual Result<std::unique_ptr<RowReader>> Next(int64_t batch_rows,
                                                  mem::BlockAllocator& blocks) = 0;
};

/// A table as it is after its source's ticks so far: at time 0 before the first.
///
/// Threads: any, but not while the source ticks.
class SourceTable {
 public:
  virtual ~SourceTable() = default;
  virtual const table::Schema& schema() const = 0;
  virtual int64_t row_count() const = 0;
  virtual int64_t value_bytes() const = 0;  ///< Decoded, about.
  /// Requires: the table outlives the scan.
  virtual std::unique_ptr<TableScan> NewScan() const = 0;
};

/// Rows of one table that come (diff 1) or go (diff -1) together.
struct TableChange {
  std::string table;
  table::Batch rows;
  int64_t diff = 1;
};

/// Tables that change together.
///
/// Threads: tables any; ticks one.
class Source {
 public:
  virtual ~Source() = default;

  virtual std::vector<std::string> TableNames() const = 0;
  /// Null if it has none of that name.
  virtual const SourceTable* Find(std::string_view table) const = 0;
  /// From one tick to the next; none: it never changes.
  virtual std::optional<sys::Duration> tick_interval() const = 0;
  /// What the next tick changes, in the tables too. Ticks are the same every time.
  /// Requires: no scan is at work.
  /// Requires: tick_interval().
  virtual std::vector<TableChange> NextTick(mem::BlockAllocator& blocks) = 0;
};

}  // namespace weir::feed
