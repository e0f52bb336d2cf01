#pragma once
// What an export did, as a paragraph for people and as an object for programs.
#include <string>

#include "weir/extract/run_export.h"

namespace weir::app {

/// A few lines: rows, sizes, rates, where the time went, the harm.
std::string SummaryText(const extract::ExportReport& report);

/// What the source paid: a table of metrics.
std::string HarmText(const pg::HarmReport& harm);
/// What could not be measured and why, a line each.
std::string AbsentText(const std::vector<std::string>& reasons);

/// One JSON object on one line; keys as in export_metrics where it has them (but `files`, and
/// `peak_rss_bytes` in bytes), `blocked_ms`, and "harm" with its metrics. Of an export of which no
/// run was recorded: run_id null, its name and folder, and the error.
std::string SummaryJson(const extract::ExportReport& report);

}  // namespace weir::app
