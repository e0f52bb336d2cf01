#include <fstream>
#include <set>

#include "tests/support/postgres.h"
#include "weir/pg/harm_meter.h"

namespace weir::pg {
namespace {

// The metric names in the first cells of the export_harm table.
std::set<std::string> DocumentedMetrics() {
  std::ifstream docs(WEIR_DOCS "/metrics.md");
  std::set<std::string> names;
  bool inside = false;
  for (std::string line; std::getline(docs, line);) {
    if (line.starts_with("## ")) inside = line == "## export_harm";
    if (!inside || !line.starts_with("| `")) continue;
    const std::string cell = line.substr(0, line.find('|', 1));
    for (size_t open = cell.find('`'); open != cell.npos;) {
      const size_t close = cell.find('`', open + 1);
      names.insert(cell.substr(open + 1, close - open - 1));
      open = cell.find('`', close + 1);
    }
  }
  return names;
}

// docs/metrics.md lists what a run may record, no more and no less.
TEST(HarmDocs, ListEveryMetric) {
  test::Database database;
  sys::RealClock clock;
  sys::Stop stop;
  const auto meter = HarmMeter::Start(
      {.target = Target::Parse(database.url()).value(), .run_id = "r1", .table = "t"}, clock, stop);
  const HarmReport report = meter->Finish(sys::Duration(0), sys::Duration(0));
  std::set<std::string> names;
  for (const HarmMetric& metric : report.metrics) names.insert(metric.metric);
  for (const std::string& reason : report.absent_reasons) {
    names.insert(reason.substr(0, reason.find(':')));
  }
  EXPECT_EQ(names, DocumentedMetrics());
}

}  // namespace
}  // namespace weir::pg
