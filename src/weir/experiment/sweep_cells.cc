#include "weir/experiment/sweep_cells.h"

#include <algorithm>

#include "weir/experiment/hydrate_run.h"
#include "weir/experiment/sql.h"
#include "weir/experiment/sweep_targets_internal.h"

namespace weir::experiment {
namespace {

constexpr double kPressure = 4;
constexpr double kFractionPressure = 0.5;
constexpr int kSpillThreads[] = {1, 2, 4, 8};
constexpr int kWorkers[] = {2, 8, 16};

// One setting of one batcher. The knobs are columns of the cell, and flags of the call.
struct Point {
  std::string batcher;
  double pressure = kPressure;
  int workers = 0;  // 0: as the options say.
  Cell knobs;
  std::vector<std::string> flags;
};

Point WithFlag(std::string batcher, std::string_view key, std::string value) {
  Point point;
  point.batcher = std::move(batcher);
  std::string flag = "--" + std::string(key);
  std::replace(flag.begin(), flag.end(), '_', '-');
  point.knobs.Set(key, value);
  point.flags = {std::move(flag), std::move(value)};
  return point;
}

std::vector<Point> ThreadPoints() {
  std::vector<Point> points;
  for (const int workers : kWorkers) {
    points.push_back({"legacy", 0, workers, {}, {}});
    for (const char* batcher : {"auto", "paged_spill"}) {
      for (const char* handoff : {"help", "block"}) {
        for (const int threads : kSpillThreads) {
          Point point = WithFlag(batcher, "spill_threads", std::to_string(threads));
          point.workers = workers;
          point.knobs.Set("spill_handoff", handoff);
          point.flags.insert(point.flags.end(), {"--spill-handoff", handoff});
          points.push_back(std::move(point));
        }
      }
    }
  }
  return points;
}

std::vector<Point> PointsOf(const std::string& name) {
  if (name == "threads") return ThreadPoints();
  std::vector<Point> points = {{"legacy", 0, 0, {}, {}}};
  if (name == "malloc") {
    points.push_back({"paged_malloc", 0, 0, {}, {}});
    points.push_back({"paged", 0, 0, {}, {}});
  } else if (name == "codec") {
    for (const char* codec : {"auto", "none", "lz4"}) {
      points.push_back(WithFlag("auto", "spill_codec", codec));
    }
    points.push_back({"paged_spill", kPressure, 0, {}, {}});  // Never compresses, by definition.
    points.push_back({"paged_lz4", kPressure, 0, {}, {}});
  }
  for (const char* batcher : {"auto", "paged_lz4"}) {
    if (name == "eager") {
      points.push_back(WithFlag(batcher, "eager_backing", "off"));
      points.push_back(WithFlag(batcher, "eager_backing", "on"));
    } else if (name == "fraction") {
      for (const char* fraction : {"0.05", "0.85"}) {
        points.push_back(WithFlag(batcher, "budget_fraction", fraction));
        points.back().pressure = kFractionPressure;
      }
    }
  }
  return points;
}

std::string DetailOf(const Point& point, int workers) {
  std::string detail = fmt::format("{} workers", workers);
  for (const std::string& flag : point.flags) detail += " " + flag;
  return detail;
}

Variant VariantOf(const Point& point, const std::string& kind, const HydrateOptions& options,
                  const HydrateBench& bench, const std::shared_ptr<TpchFiles>& files) {
  HydrateOptions own = options;
  if (point.workers > 0) own.workers = point.workers;
  Cell parameters = HydrateParameters(own, kind, point.batcher);
  parameters.Merge(point.knobs).Set("pressure", point.pressure);
  HydrateCall call = CallOf(own, point.batcher);
  call.flags = point.flags;
  const auto measure = [files, pressure = point.pressure](
                           HydrateCall now, const RunCall& run) -> Result<Cell> {
    WEIR_TRY(now.sql_path, files->WriteSql("indexes.sql", sql::kTpchIndexes));
    now.memory_bytes = pressure > 0 ? MemoryAt(files->index_bytes(), pressure) : 0;
    WEIR_TRY(Cell cell, run(now));
    if (pressure > 1) cell.Set("void", std::string(VoidReason(now.batcher, cell)));
    return cell;
  };
  Variant variant = HydrateVariant(std::move(parameters), call, bench, measure);
  variant.detail = DetailOf(point, own.workers);
  return variant;
}

}  // namespace

const std::vector<std::string>& SweepNames() {
  static const std::vector<std::string> names = {"threads", "eager", "codec", "fraction", "malloc"};
  return names;
}

Group SweepGroup(const std::string& name, const HydrateOptions& options, const HydrateBench& bench,
                 const std::shared_ptr<TpchFiles>& files) {
  Group group;
  group.prepare = [files] { return files->Prepare(); };
  for (const Point& point : PointsOf(name)) {
    group.variants.push_back(VariantOf(point, SweepKind(name), options, bench, files));
  }
  return group;
}

}  // namespace weir::experiment
