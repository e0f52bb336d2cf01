#pragma once
// ValueText: the canonical text of a value: PostgreSQL's own, with DateStyle ISO, UTC and
// extra_float_digits 3.
#include <string>

#include "weir/table/column.h"

namespace weir::file {

/// Appends the text of row `row` to `out`. Requires: the value is not null.
///
/// Dates BC and years of any length print as PostgreSQL prints them. Cost: no allocation but out's
/// growth.
void AppendValueText(const table::ColumnData& column, int64_t row, std::string& out);

}  // namespace weir::file
