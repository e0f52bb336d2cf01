#pragma once
// The extract ladder: a table to Parquet, beside a raw COPY of the same columns; time and memory.
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "weir/experiment/content_items.h"
#include "weir/experiment/rung_cells.h"
#include "weir/experiment/timed_table.h"

namespace weir::experiment {

struct ExtractOptions {
  int64_t rows = kContentItemsRows;                  ///< Of content_items.
  int64_t narrow_rows = kNarrowRows;                 ///< Of narrow.
  int64_t wide_value_megabytes = 50;                 ///< The one large text of wide_value.
  int64_t wide_columns_rows = kWideColumnsRows;      ///< Of wide_columns.
};

/// Told of the seeding of a table: rows there now, rows there will be.
using SeedShown = std::function<void(const std::string& table, int64_t done, int64_t rows)>;

/// content_items: raw_copy, weir_fast, weir_balanced. narrow: raw_copy, weir_fast. wide_value and
/// wide_columns: weir_fast. `bench` must outlive the groups.
std::vector<Group> ExtractGroups(const ExtractOptions& options, const Bench& bench,
                                 const SeedShown& seed_shown);

/// The floor of every table: psql's raw COPY.
Variant RawCopyVariant(const Cell& parameters, const Bench& bench,
                       const std::shared_ptr<TimedTable>& table);

/// Passes when the cells of all rungs have one digest: the raw COPY's are PostgreSQL's.
TargetLine DigestLine(const std::vector<const RungCells*>& rungs);

/// What the extract ladder must reach, each with what was measured.
std::vector<TargetLine> ExtractTargets(const Measurements& measurements);

}  // namespace weir::experiment
