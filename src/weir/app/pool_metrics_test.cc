#include "weir/app/pool_metrics.h"

#include <fstream>
#include <map>
#include <sstream>

#include "tests/support/folder.h"

namespace weir::app {
namespace {

using MeaningByName = std::map<std::string, std::string>;

// The rows "| `weir_name` | meaning |" of docs/metrics.md.
MeaningByName Documented() {
  std::ifstream docs(WEIR_DOCS "/metrics.md");
  MeaningByName rows;
  for (std::string line; std::getline(docs, line);) {
    constexpr std::string_view kStart = "| `weir_";
    constexpr std::string_view kBetween = "` | ";
    const size_t between = line.find(kBetween);
    if (!line.starts_with(kStart) || between == line.npos) continue;
    const size_t meaning = between + kBetween.size();
    rows[line.substr(3, between - 3)] = line.substr(meaning, line.rfind(" |") - meaning);
  }
  return rows;
}

MeaningByName Exported(const std::vector<Metric>& metrics) {
  std::istringstream text(PrometheusText(metrics));
  MeaningByName families;
  for (std::string line; std::getline(text, line);) {
    constexpr std::string_view kStart = "# HELP ";
    if (!line.starts_with(kStart)) continue;
    const size_t end = line.find(' ', kStart.size());
    families[line.substr(kStart.size(), end - kStart.size())] = line.substr(end + 1);
  }
  return families;
}

// docs/metrics.md lists what the file of --metrics-file has, no more and no less, in its words.
TEST(PoolMetrics, TheDocumentationListsEveryOne) {
  const test::TempFolder folder;
  sys::ManualClock clock;
  hydrate::EngineOptions options;
  options.spill_folder = folder.path();
  options.memory_bytes = int64_t{1} << 40;
  const auto engine = hydrate::Engine::Make(options, clock).value();
  std::vector<Metric> metrics = PoolMetrics(engine->counters());
  for (Metric& metric : ProcessMetrics(*engine)) metrics.push_back(std::move(metric));
  EXPECT_EQ(Exported(metrics), Documented());
}

// Those of the pool are named as the pager's, which dashboards know.
TEST(PoolMetrics, AreNamedAsThePagers) {
  std::map<std::string, double> values;
  mem::PoolCounters counters;
  counters.inserts = 7;
  counters.live_pages = 3;
  counters.frames.warm_bytes = 11;
  for (const Metric& metric : PoolMetrics(counters)) values[metric.name] = metric.value;
  EXPECT_EQ(values.at("pool_inserts_total"), 7);
  EXPECT_EQ(values.at("pool_live_chunks"), 3);
  EXPECT_EQ(values.at("pool_warm_bytes"), 11);
  for (const char* name :
       {"frees_total", "resident_bytes", "writes_elided_total", "evictions_compress_total",
        "evictions_cheap_total", "extent_bytes_written_total", "spill_scheduled_total",
        "spill_cancelled_total", "spill_in_flight", "eager_backs_total",
        "admissions_budget_total", "admissions_steal_total", "admissions_denied_total",
        "warm_reuses_total", "extent_resident_bytes", "extent_unreclaimable_bytes",
        "oversize_bytes", "oversize_payloads_total", "slot_exhausted_fallbacks_total",
        "extent_pageouts_total", "extent_pageout_incomplete_total",
        "extent_arena_fallbacks_total"}) {
    EXPECT_EQ(values.at(std::string("pool_") + name), 0) << name;
  }
}

}  // namespace
}  // namespace weir::app
