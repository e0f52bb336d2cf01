#include "weir/app/hydrate_status.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "weir/app/json_line_internal.h"
#include "weir/app/pool_metrics.h"
#include "weir/app/text_table.h"
#include "weir/base/printable.h"
#include "weir/base/units.h"

namespace weir::app {
namespace {

using Json = nlohmann::ordered_json;
using hydrate::ObjectStatus;
using hydrate::Stage;

std::chrono::milliseconds InMillis(sys::Duration duration) {
  return std::chrono::duration_cast<std::chrono::milliseconds>(duration);
}

Json NanosOrNull(const std::optional<sys::Duration>& duration) {
  return duration.has_value() ? Json(duration->count()) : Json(nullptr);
}

template <typename T>
Json ValueOrNull(const std::optional<T>& value) {
  return value.has_value() ? Json(*value) : Json(nullptr);
}

Json ObjectJson(const ObjectStatus& status, const std::vector<IndexAnswer>& answers) {
  Json json = {{"object", status.name},
               {"object_kind", "index"},
               {"table", status.table},
               {"status", hydrate::StageName(status.stage)},
               {"rows", status.rows_read},
               {"rows_expected", status.rows_expected},
               {"bytes", status.bytes_read},
               {"update_bytes", status.encoded_bytes},
               {"hydration_ns", NanosOrNull(status.hydration_time)},
               {"time_ns", NanosOrNull(status.time)},
               {"frontier_ms", ValueOrNull(status.frontier)},
               {"error", nullptr},
               {"digest", nullptr},
               {"content_hash", nullptr}};
  if (status.failure.has_value()) json["error"] = status.failure->message;
  for (const IndexAnswer& answer : answers) {
    if (answer.index != status.name) continue;
    json["digest"] = ValueOrNull(answer.digest);
    json["content_hash"] = ValueOrNull(answer.content_hash);
  }
  return json;
}

// Without the prefix and the ending that a file of all metrics needs.
Json PoolJson(const mem::PoolCounters& counters) {
  constexpr std::string_view kPrefix = "pool_";
  constexpr std::string_view kEnding = "_total";
  Json json = Json::object();
  for (const Metric& metric : PoolMetrics(counters)) {
    std::string name = metric.name.substr(kPrefix.size());
    if (name.ends_with(kEnding)) name.resize(name.size() - kEnding.size());
    json[name] = static_cast<int64_t>(metric.value);
  }
  return json;
}

// Seconds by activity, and those of the process that no scope counted.
Json CpuJson(const HydrationReport& report) {
  Json json = Json::object();
  double counted = 0;
  for (size_t at = 0; at < sys::kActivityCount; ++at) {
    const auto activity = static_cast<sys::Activity>(at);
    const double seconds = sys::Seconds(report.accounting.of(activity));
    json[std::string(sys::ActivityName(activity))] = seconds;
    counted += seconds;
  }
  const double all =
      static_cast<double>(report.usage.user_micros + report.usage.system_micros) / 1e6;
  json["uncounted"] = std::max(0.0, all - counted);
  return json;
}

Json WaitJson(const sys::Accounting& accounting) {
  Json json = Json::object();
  for (size_t at = 0; at < sys::kWaitCount; ++at) {
    const auto wait = static_cast<sys::Wait>(at);
    json[std::string(sys::WaitName(wait))] = sys::Seconds(accounting.of(wait));
  }
  return json;
}

Json ProbeJson(const std::optional<hydrate::ProbeResult>& probe) {
  if (!probe.has_value()) return nullptr;
  return {{"count", probe->probes},
          {"rows", probe->rows},
          {"seconds", sys::Seconds(probe->time)},
          {"digest", fmt::format("{:016x}", probe->digest)}};
}

Json ProbesJson(const ProbeAnswers& probes) {
  if (probes.index.empty()) return nullptr;
  return {{"index", probes.index},
          {"sorted", ProbeJson(probes.sorted)},
          {"random", ProbeJson(probes.random)}};
}

}  // namespace

std::string StatusText(const std::vector<ObjectStatus>& statuses) {
  TextTable table({"object", "table", "status", "rows", "built in", "since created", "error"});
  for (const ObjectStatus& status : statuses) {
    const auto time = [](const std::optional<sys::Duration>& duration) {
      return duration.has_value() ? FormatDuration(InMillis(*duration)) : "-";
    };
    table.AddRow({status.name, status.table, std::string(hydrate::StageName(status.stage)),
                  FormatCount(status.rows_read), time(status.hydration_time), time(status.time),
                  status.failure.has_value() ? status.failure->message : ""});
  }
  return table.Text();
}

std::string HydrationProgressText(const std::vector<ObjectStatus>& statuses, sys::Duration now) {
  std::string names;
  int64_t rows = 0;
  int64_t expected = 0;
  int64_t bytes = 0;
  sys::Duration elapsed{0};
  size_t done = 0;
  for (const ObjectStatus& status : statuses) {
    if (status.stage == Stage::kHydrated || status.stage == Stage::kFailed) ++done;
    if (status.stage != Stage::kHydrating) continue;
    names += (names.empty() ? "" : ", ") + status.name;
    rows += status.rows_read;
    expected += status.rows_expected;
    bytes += status.bytes_read;
    elapsed = std::max(elapsed, now - status.started.value_or(now));
  }
  std::string text = fmt::format("{} of {} hydrated", done, statuses.size());
  if (names.empty()) return text;
  const double seconds = std::max(sys::Seconds(elapsed), 0.001);
  const double share =
      expected == 0 ? 1 : static_cast<double>(rows) / static_cast<double>(expected);
  text += fmt::format("  {}: {:.0f}% read, {} rows, {:.1f} MB/s", Printable(names), 100 * share,
                      FormatCount(rows), static_cast<double>(bytes) / 1e6 / seconds);
  if (share > 0 && share < 1) {
    const double left = seconds * (1 - share) / share;
    text += "  ETA " + FormatDuration(std::chrono::milliseconds(static_cast<int64_t>(left * 1000)));
  }
  return share < 1 ? text : text + ", sorting";
}

std::string HydrationJson(const hydrate::Engine& engine, const HydrationReport& report,
                          const std::vector<Setting>& settings) {
  Json json;
  json["objects"] = Json::array();
  int64_t update_bytes = 0;
  for (const ObjectStatus& status : engine.statuses()) {
    json["objects"].push_back(ObjectJson(status, report.answers));
    update_bytes += status.encoded_bytes;
  }
  json["update_bytes"] = update_bytes;
  json["cpu_s"] = CpuJson(report);
  json["wait_s"] = WaitJson(report.accounting);
  json["utime_s"] = static_cast<double>(report.usage.user_micros) / 1e6;
  json["stime_s"] = static_cast<double>(report.usage.system_micros) / 1e6;
  json["major_faults"] = report.usage.major_faults;
  json["device_read_bytes"] = report.usage.device_read_bytes;
  json["device_written_bytes"] = report.usage.device_written_bytes;
  json["fewest_busy_cores"] = report.figures.fewest_busy_cores;
  json["spill_pinned_s"] = sys::Seconds(report.figures.spill_pinned);
  json["peak_rss_bytes"] = report.usage.peak_rss_bytes;
  json["anonymous_bytes"] = report.usage.anonymous_bytes;
  json["peak_anonymous_bytes"] = report.figures.peak_anonymous_bytes;
  json["ledger_gap_bytes"] = report.figures.ledger_gap_bytes;
  json["charged_bytes"] = engine.budget().used_bytes();
  json["peak_charged_bytes"] = engine.budget().peak_bytes();
  json["pool"] = PoolJson(report.pool);
  json["probes"] = ProbesJson(report.probes);
  json["settings"] = Json::array();
  for (const Setting& setting : settings) {
    json["settings"].push_back({{"name", setting.name},
                                {"value", setting.value},
                                {"default", setting.default_value},
                                {"origin", OriginName(setting.origin)}});
  }
  return JsonLine(json);
}

std::string AnswersText(const HydrationReport& report) {
  std::string text;
  for (const IndexAnswer& answer : report.answers) {
    text += Printable(answer.index);
    if (answer.digest.has_value()) text += " " + *answer.digest;
    if (answer.content_hash.has_value()) text += " " + *answer.content_hash;
    text += "\n";
  }
  const auto add = [&](const char* order, const std::optional<hydrate::ProbeResult>& probe) {
    if (!probe.has_value()) return;
    const double seconds = std::max(sys::Seconds(probe->time), 1e-9);
    text += fmt::format("{}: {} keys {}, {} rows found, {} keys/s\n",
                        Printable(report.probes.index), FormatCount(probe->probes), order,
                        FormatCount(probe->rows),
                        FormatCount(static_cast<int64_t>(
                            static_cast<double>(probe->probes) / seconds)));
  };
  add("in order", report.probes.sorted);
  add("in any order", report.probes.random);
  return text;
}

}  // namespace weir::app
