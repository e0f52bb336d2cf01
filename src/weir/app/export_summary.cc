#include "weir/app/export_summary.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "weir/app/text_table.h"
#include "weir/base/printable.h"
#include "weir/base/units.h"

namespace weir::app {
namespace {

// Bytes that are not UTF-8 (of paths, of a server's messages) must not end the program.
constexpr auto kReplace = nlohmann::ordered_json::error_handler_t::replace;

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
    return fmt::format("{}: no rows, nothing written (skip_empty)\n", Printable(report.name));
  }
  const double seconds = std::max(sys::Seconds(report.duration), 0.001);
  std::string text = fmt::format(
      "{}: {} rows in {} ({} rows/s, {:.1f} MB/s)\n  {} in {} file{} in {}\n",
      Printable(report.name), FormatCount(totals.rows), FormatDuration(InMillis(report.duration)),
      FormatCount(static_cast<int64_t>(static_cast<double>(totals.rows) / seconds)),
      static_cast<double>(totals.read_bytes) / 1e6 / seconds, FormatBytes(report.written_bytes()),
      totals.parts.size(), totals.parts.size() == 1 ? "" : "s", Printable(report.folder));
  text += fmt::format(
      "  receiver: {} waiting for the source, {} waiting for the encoder, {} resting\n"
      "  encoder: {} decoding, {} encoding, {} writing; peak memory {}\n",
      Share(totals.wait, report.duration), Share(totals.blocked, report.duration),
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
  std::string text = table.Text();
  for (const std::string& reason : harm.absent_reasons) {
    text += "not measured: " + Printable(reason) + "\n";
  }
  return text;
}

std::string SummaryJson(const extract::ExportReport& report) {
  const extract::ExportTotals& totals = report.totals;
  nlohmann::ordered_json json = {
      {"run_id", report.run_id},
      {"export_name", report.name},
      {"status", ledger::RunStatusName(report.status)},
      {"folder", report.folder},
      {"duration_ms", sys::Millis(report.duration)},
      {"total_rows", totals.rows},
      {"files", totals.parts.size()},
      {"bytes_written", report.written_bytes()},
      {"bytes_read", totals.read_bytes},
      {"batches", totals.batches},
      {"source_wait_ms", sys::Millis(totals.wait)},
      {"decode_ms", sys::Millis(totals.decode)},
      {"blocked_ms", sys::Millis(totals.blocked)},
      {"slept_ms", sys::Millis(totals.slept)},
      {"encode_ms", sys::Millis(totals.encode)},
      {"write_ms", sys::Millis(totals.write)},
      {"snapshot_hold_ms", sys::Millis(report.snapshot_hold)},
      {"peak_rss_bytes", report.peak_rss_bytes},
  };
  nlohmann::ordered_json harm = nlohmann::ordered_json::object();
  for (const pg::HarmMetric& metric : report.harm.metrics) harm[metric.metric] = metric.delta;
  json["harm"] = std::move(harm);
  json["harm_absent"] = report.harm.absent_reasons;
  if (report.error.has_value()) {
    json["error_class"] = CodeName(report.error->code);
    json["error_message"] = report.error->message;
  }
  return json.dump(-1, ' ', false, kReplace);
}

}  // namespace weir::app
