#pragma once
// What an export did, as a paragraph for people and as an object for programs.
#include <string>

#include "weir/extract/run_export.h"

namespace weir::app {

/// A few lines: rows, sizes, rates, where the time went, the harm.
std::string SummaryText(const extract::ExportReport& report);

/// What the source paid: a table of metrics, then what could not be measured and why.
std::string HarmText(const pg::HarmReport& harm);

/// One JSON object on one line; keys as in export_metrics where it has them (but `files`, and
/// `peak_rss_bytes` in bytes), `blocked_ms`, and "harm" with its metrics.
std::string SummaryJson(const extract::ExportReport& report);

}  // namespace weir::app
