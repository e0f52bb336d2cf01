#pragma once
// Report: the tables and the picture of a bench folder.
#include <string>
#include <vector>

#include "weir/experiment/cell_store.h"
#include "weir/experiment/rung_cells.h"
#include "weir/sys/files.h"

namespace weir::experiment {

/// A column of a ladder's table.
struct ReportColumn {
  std::string_view key;
  std::string_view heading;
  double divisor = 1;
  int decimals = 0;
};

/// Columns that are shown side by side.
struct ReportTable {
  std::string_view name;  ///< Added to the title; empty for a ladder with one table.
  std::vector<ReportColumn> columns;
};

/// How the cells of a ladder are shown. A new ladder adds one line to the list in report.cc.
struct LadderReport {
  std::string_view ladder;
  std::vector<ReportColumn> identity;  ///< Columns of every table: what tells the rungs apart.
  std::vector<ReportTable> tables;
  std::vector<TargetLine> (*targets)(const Measurements& measurements);
};

/// For each ladder its tables per kind, `median [lowest–highest]` of the trials, columns that no
/// cell has left out; then its targets; then where and under which settings it was measured.
std::string ReportText(const Measurements& measurements);
/// The same in Markdown, with the picture report.svg.
std::string ReportMarkdown(const Measurements& measurements);
/// A bar per rung: the median wall time, with the range as a line.
std::string ReportSvg(const Measurements& measurements);

/// Writes report.md and report.svg into `folder`.
Status WriteReport(sys::Files& files, const std::string& folder, const Measurements& measurements);

/// "13.10 [12.90–13.40]", or one number when all trials gave the same.
std::string ShowSpread(const Spread& spread, double divisor, int decimals);

}  // namespace weir::experiment
