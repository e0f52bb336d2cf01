#include "weir/app/hydrate_status.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "weir/app/json_line_internal.h"
#include "weir/app/text_table.h"
#include "weir/base/printable.h"
#include "weir/base/units.h"
#include "weir/sys/process.h"

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

Json ObjectJson(const ObjectStatus& status,
                const std::vector<std::pair<std::string, std::string>>& digests) {
  Json json = {{"object", status.name},
               {"object_kind", "index"},
               {"table", status.table},
               {"status", hydrate::StageName(status.stage)},
               {"rows", status.rows_read},
               {"rows_expected", status.rows_expected},
               {"bytes", status.bytes_read},
               {"hydration_ns", NanosOrNull(status.hydration_time)},
               {"time_ns", NanosOrNull(status.time)},
               {"frontier_ms", nullptr},
               {"error", nullptr}};
  if (status.frontier.has_value()) json["frontier_ms"] = *status.frontier;
  if (status.failure.has_value()) json["error"] = status.failure->message;
  const auto digest = std::find_if(digests.begin(), digests.end(),
                                   [&](const auto& each) { return each.first == status.name; });
  json["digest"] = digest == digests.end() ? Json(nullptr) : Json(digest->second);
  return json;
}

Json PoolJson(const mem::PoolCounters& counters) {
  return {{"inserts", counters.inserts},
          {"frees", counters.frees},
          {"live_pages", counters.live_pages},
          {"resident_bytes", counters.resident_bytes},
          {"writes_elided", counters.writes_elided},
          {"evictions_compress", counters.evictions_compress},
          {"evictions_cheap", counters.evictions_cheap},
          {"extent_bytes_written", counters.extent_bytes_written},
          {"extent_raw_bytes_written", counters.extent_raw_bytes_written},
          {"extent_bytes_read", counters.extent_bytes_read},
          {"spill_cancelled", counters.spill_cancelled},
          {"eager_backs", counters.eager_backs},
          {"producer_evictions", counters.producer_evictions},
          {"spill_wait_ns", counters.spill_wait_ns},
          {"read_wait_ns", counters.read_wait_ns},
          {"warm_bytes", counters.frames.warm_bytes},
          {"warm_reuses", counters.frames.warm_reuses},
          {"fresh_frames", counters.frames.fresh_frames}};
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

std::string HydrationJson(const hydrate::Engine& engine, const hydrate::BuildTimes& times,
                          const std::vector<std::pair<std::string, std::string>>& digests,
                          const std::vector<Setting>& settings, int64_t peak_anonymous_bytes) {
  Json json;
  json["objects"] = Json::array();
  for (const ObjectStatus& status : engine.statuses()) {
    json["objects"].push_back(ObjectJson(status, digests));
  }
  json["decode_s"] = sys::Seconds(times.decode);
  json["row_encode_s"] = sys::Seconds(times.encode);
  json["exchange_s"] = sys::Seconds(times.exchange);
  json["seal_s"] = sys::Seconds(times.seal);
  const sys::ProcessUsage usage = sys::ReadProcessUsage();
  json["utime_s"] = static_cast<double>(usage.user_micros) / 1e6;
  json["stime_s"] = static_cast<double>(usage.system_micros) / 1e6;
  json["major_faults"] = usage.major_faults;
  json["peak_rss_bytes"] = usage.peak_rss_bytes;
  json["anonymous_bytes"] = usage.anonymous_bytes;
  json["peak_anonymous_bytes"] = peak_anonymous_bytes;
  json["charged_bytes"] = engine.budget().used_bytes();
  json["peak_charged_bytes"] = engine.budget().peak_bytes();
  json["pool"] = PoolJson(engine.counters());
  json["settings"] = Json::array();
  for (const Setting& setting : settings) {
    json["settings"].push_back({{"name", setting.name},
                                {"value", setting.value},
                                {"default", setting.default_value},
                                {"origin", setting.given ? "command line" : "default"}});
  }
  return JsonLine(json);
}

}  // namespace weir::app
