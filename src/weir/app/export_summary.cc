#include "weir/app/export_summary.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "weir/app/json_line_internal.h"
#include "weir/app/text_table.h"
#include "weir/base/printable.h"
#include "weir/base/units.h"

namespace weir::app {
namespace {

using Json = nlohmann::ordered_json;

std::string Share(sys::Duration part, sys::Duration whole) {
  const double seconds = std::max(sys::Seconds(whole), 1e-9);
  return fmt::format("{:.0f}%", 100 * sys::Seconds(part) / seconds);
}

std::chrono::milliseconds InMillis(sys::Duration duration) {
  return std::chrono::milliseconds(sys::Millis(duration));
}

}  // namespace

std::string SummaryText(const extract::ExportReport& report) {
  const extract::ExportTotals& totals = report.totals;
  if (report.status == ledger::RunStatus::kSkipped) {
    const std::string earlier =
        report.earlier_stands ? "; an earlier export stands in " + Printable(report.folder) : "";
    return fmt::format("{}: no rows, nothing written (skip_empty){}\n", Printable(report.name),
                       earlier);
  }
  const double seconds = std::max(sys::Seconds(report.duration), 0.001);
  std::string text = fmt::format(
      "{}: {} rows in {} ({} rows/s, {:.1f} MB/s)\n  {} in {} file{} in {}\n",
      Printable(report.name), FormatCount(totals.rows), FormatDuration(InMillis(report.duration)),
      FormatCount(static_cast<int64_t>(static_cast<double>(totals.rows) / seconds)),
      static_cast<double>(totals.read_bytes) / 1e6 / seconds, FormatBytes(report.written_bytes()),
      totals.parts.size(), totals.parts.size() == 1 ? "" : "s", Printable(report.folder));
  text += fmt::format(
      "  {} waiting for the source, {} receiving, {} resting\n"
      "  {} decoding, {} encoding, {} writing; peak memory {}\n",
      Share(totals.wait, report.duration), Share(totals.receive, report.duration),
      Share(totals.slept, report.duration), Share(totals.decode, report.duration),
      Share(totals.encode, report.duration), Share(totals.write, report.duration),
      FormatBytes(report.peak_rss_bytes));
  return text;
}

std::string HarmText(const pg::HarmReport& harm) {
  TextTable table({"harm to the source", ""});
  for (const pg::HarmMetric& metric : harm.metrics) {
    table.AddRow({metric.metric, FormatCount(metric.delta)});
  }
  return table.Text();
}

std::string AbsentText(const std::vector<std::string>& reasons) {
  std::string text;
  for (const std::string& reason : reasons) text += "not measured: " + Printable(reason) + "\n";
  return text;
}

namespace {

void AddError(const Error& error, Json& json) {
  json["error_class"] = CodeName(error.code);
  json["error_message"] = error.message;
}

std::string NotRunJson(const extract::ExportReport& report) {
  Json json = {{"run_id", nullptr},
               {"export_name", report.name},
               {"status", ledger::RunStatusName(report.status)},
               {"folder", report.folder}};
  AddError(report.error.value(), json);
  return JsonLine(json);
}

}  // namespace

std::string SummaryJson(const extract::ExportReport& report) {
  if (report.run_id.empty()) return NotRunJson(report);
  const extract::ExportTotals& totals = report.totals;
  const bool read = totals.copy.has_value();  // Else there is nothing to tell of.
  const auto or_null = [](bool known, int64_t value) {
    return known ? Json(value) : Json(nullptr);
  };
  const auto millis = [&](sys::Duration spent) { return or_null(read, sys::Millis(spent)); };
  const bool batched = totals.batches > 0;
  const auto hold = report.snapshot_hold;
  Json json = {
      {"run_id", report.run_id},
      {"export_name", report.name},
      {"status", ledger::RunStatusName(report.status)},
      {"folder", report.folder},
      {"duration_ms", sys::Millis(report.duration)},
      {"total_rows", or_null(read, totals.rows)},
      {"files", report.error.has_value() ? 0 : totals.parts.size()},
      {"bytes_written", report.written_bytes()},
      {"bytes_read", or_null(read, totals.read_bytes)},
      {"batches", or_null(read, totals.batches)},
      {"rows_per_batch", or_null(batched, batched ? totals.rows / totals.batches : 0)},
      {"retries", report.retries},
      {"source_wait_ms", millis(totals.wait)},
      {"decode_ms", millis(totals.decode)},
      {"receive_ms", millis(totals.receive)},
      {"slept_ms", millis(totals.slept)},
      {"encode_ms", millis(totals.encode)},
      {"write_ms", millis(totals.write)},
      {"snapshot_hold_ms", hold ? Json(sys::Millis(*hold)) : Json(nullptr)},
      {"peak_rss_bytes", report.peak_rss_bytes},
  };
  Json harm = Json::object();
  for (const pg::HarmMetric& metric : report.harm.metrics) harm[metric.metric] = metric.delta;
  json["harm"] = std::move(harm);
  json["harm_absent"] = report.harm.absent_reasons;
  if (report.error.has_value()) AddError(*report.error, json);
  return JsonLine(json);
}

}  // namespace weir::app
