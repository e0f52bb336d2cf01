#include "weir/experiment/limited_cells.h"

#include <algorithm>

#include "weir/base/units.h"
#include "weir/experiment/device_rate.h"
#include "weir/experiment/hydrate_run.h"
#include "weir/experiment/memory_cgroup.h"
#include "weir/experiment/report.h"
#include "weir/experiment/sql.h"
#include "weir/experiment/stray_settings.h"
#include "weir/experiment/swap_file.h"
#include "weir/experiment/target_lines.h"

namespace weir::experiment {
namespace {

constexpr const char* kKind = "limited";
constexpr int64_t kMarginShare = 16;
constexpr int64_t kLeastMarginBytes = 16 * kMiB;
// As much as a laptop's disk takes in some seconds; more than its own cache.
constexpr int64_t kProbeBytes = kGiB;
// Swap fills with holes: half as much again as legacy works in, and some for the smallest.
constexpr double kSwapShare = 1.5;
constexpr int64_t kLeastSwapBytes = 256 * kMiB;

Variant DeviceVariant(const HydrateOptions& options, const HydrateBench& bench) {
  Variant variant;
  variant.parameters = HydrateParameters(options, "device", "sequential");
  variant.settings.Set("bytes", std::to_string(kProbeBytes));
  variant.measure = [&bench](int) -> Result<Cell> {
    const sys::Duration start = bench.clock.Now();
    WEIR_TRY(const DeviceRate rate, MeasureDeviceRate(bench.scratch, kProbeBytes, bench.clock));
    Cell cell;
    cell.Set("wall_s", sys::Seconds(bench.clock.Now() - start));
    cell.Set("write_bytes_per_s", rate.write_bytes_per_s);
    cell.Set("read_bytes_per_s", rate.read_bytes_per_s);
    return cell;
  };
  return variant;
}

// Runs one call in a group of its own; without a limit when `limit_bytes` is 0.
Result<Cell> RunWithin(int64_t limit_bytes, int64_t swap_bytes, HydrateCall call,
                       const HydrateBench& bench, const RunCall& run) {
  std::unique_ptr<SwapFile> swap;
  if (limit_bytes > 0) {
    WEIR_TRY(swap, SwapFile::Make(SwapPath(bench), swap_bytes));
    call.memory_bytes = MemoryWithin(limit_bytes);
  }
  WEIR_TRY(const auto group, MemoryCgroup::Make(limit_bytes, bench.clock));
  call.group_path = group->procs_path();
  WEIR_TRY(Cell cell, run(call));
  const MemoryUse peaks = group->peaks();
  cell.Set("peak_usage_bytes", peaks.usage).Set("peak_working_set_bytes", peaks.working_set);
  cell.Set("peak_swap_bytes", peaks.swap);
  if (limit_bytes == 0) return cell;
  cell.Set("limit_bytes", limit_bytes);
  return cell.Set("void", std::string(VoidReason(call.batcher, cell)));
}

// Variants under a limit ask `free_hash`, the settings of legacy without one, how much it is.
Variant LimitedVariant(const HydrateOptions& options, const HydrateBench& bench,
                       const std::shared_ptr<TpchFiles>& files, const std::string& rung,
                       double pressure, const std::string& free_hash) {
  const auto measure = [files, &bench, pressure, free_hash](
                           HydrateCall call, const RunCall& run) -> Result<Cell> {
    WEIR_TRY(call.sql_path, files->WriteSql("indexes.sql", sql::kTpchIndexes));
    if (pressure == 0) return RunWithin(0, 0, std::move(call), bench, run);
    const Cell* const free = bench.store.Find(free_hash, 1);
    WEIR_ASSERT(free != nullptr);  // It comes first in its group.
    const int64_t working_set = WorkingSetBytes(*free);
    const auto swap = static_cast<int64_t>(kSwapShare * static_cast<double>(working_set));
    return RunWithin(LimitAt(working_set, pressure), swap + kLeastSwapBytes, std::move(call), bench,
                     run);
  };
  Variant variant = PressureVariant(options, kKind, rung, pressure, bench, measure);
  if (pressure == 0) variant.detail = "without a limit";
  return variant;
}

// ---- Targets.

// The rungs of one set of circumstances, and the device beside them.
struct Limited {
  std::string where;
  Rungs alike;
  const RungCells* device;

  const RungCells* At(std::string_view rung, std::string_view pressure) const {
    return First(Select(alike, {{"rung", rung}, {"pressure", pressure}}));
  }
};

TargetLine PressureLine(const Limited& limited, const std::string& where,
                        const std::string& pressure) {
  const RungCells* const legacy = limited.At("legacy", pressure);
  const auto ratio =
      RatioOf(legacy, legacy, {"peak_swap_bytes", "peak_working_set_bytes"}, {"limit_bytes"});
  return UnlessVoid(Shown(where + "pressure = (peak swap + peak working set of legacy) / limit",
                          ShowRatio(ratio), "asked for: " + pressure),
                    {legacy});
}

// Seconds that the disk alone needs for what auto moved, by medians.
std::optional<double> DeviceSeconds(const RungCells& ours, const RungCells* device) {
  if (device == nullptr) return std::nullopt;
  const auto written = ours.Of("device_written_bytes");
  const auto read = ours.Of("device_read_bytes");
  const auto write_rate = device->Of("write_bytes_per_s");
  const auto read_rate = device->Of("read_bytes_per_s");
  if (!written || !read || !write_rate || !read_rate) return std::nullopt;
  return written->median / write_rate->median + read->median / read_rate->median;
}

TargetLine SpanLine(const Limited& limited, const std::string& where,
                    const std::string& pressure) {
  constexpr double kOfFree = 1.8;
  constexpr double kOfDevice = 1.25;
  TargetLine line{where + "span of auto, s", "",
                  fmt::format("at most {} x its span without a limit, or {} x what the disk needs",
                              kOfFree, kOfDevice),
                  "not measured"};
  const RungCells* const ours = limited.At("auto", pressure);
  const RungCells* const free = limited.At("auto", "0");
  if (ours == nullptr || free == nullptr) return line;
  const auto device = DeviceSeconds(*ours, limited.device);
  const auto span = ours->Of("span_s");
  const auto free_span = free->Of("span_s");
  if (!device || !span || !free_span) return line;
  line.measured = ShowSpread(*span, 1, 2);
  line.target = fmt::format("at most the larger of {} x {:.2f} (without a limit) and {} x {:.2f} "
                            "(what the disk needs)",
                            kOfFree, free_span->median, kOfDevice, *device);
  const double limit = std::max(kOfFree * free_span->median, kOfDevice * *device);
  line.verdict = span->median <= limit ? "pass" : "miss";
  return UnlessVoid(std::move(line), {ours});
}

void AddLinesAt(const Limited& limited, const std::string& pressure,
                std::vector<TargetLine>& lines) {
  const std::string where = fmt::format("{}, limit at pressure {}: ", limited.where, pressure);
  const RungCells* const legacy = limited.At("legacy", pressure);
  const RungCells* const ours = limited.At("auto", pressure);
  lines.push_back(PressureLine(limited, where, pressure));
  lines.push_back(SpanLine(limited, where, pressure));
  lines.push_back(UnlessVoid(
      AtLeast(where + "span, legacy on swap / auto", RatioOf(legacy, ours, {"span_s"}), 3),
      {legacy, ours}));
  for (const char* rung : {"paged_spill", "paged_lz4", "paged_pageout"}) {
    const RungCells* const other = limited.At(rung, pressure);
    if (other == nullptr) continue;
    lines.push_back(UnlessVoid(Shown(fmt::format("{}span, {} / legacy on swap", where, rung),
                                     ShowRatio(RatioOf(other, legacy, {"span_s"}))),
                               {other, legacy}));
  }
}

}  // namespace

std::string SwapPath(const HydrateBench& bench) { return sys::JoinPath(bench.folder, "swap"); }

int64_t WorkingSetBytes(const Cell& cell) {
  return static_cast<int64_t>(cell.Number("peak_working_set_bytes").value_or(0) +
                              cell.Number("peak_swap_bytes").value_or(0));
}

int64_t LimitAt(int64_t working_set_bytes, double pressure) {
  const double limit = static_cast<double>(working_set_bytes) / pressure;
  return std::max(kLeastMemoryBytes + kLeastMarginBytes, static_cast<int64_t>(limit));
}

int64_t MemoryWithin(int64_t limit_bytes) {
  return limit_bytes - std::max(kLeastMarginBytes, limit_bytes / kMarginShare);
}

Result<Group> LimitedGroup(const HydrateOptions& options, const HydrateBench& bench,
                           const std::shared_ptr<TpchFiles>& files) {
  WEIR_DO(SwapFile::RemoveStale(SwapPath(bench)));
  WEIR_DO(CheckLimitPlace(ThisLimitPlace()));
  std::vector<std::string> rungs = options.rungs;
  if (rungs.empty()) rungs = {"legacy", "auto", "paged_spill", "paged_lz4", "paged_pageout"};
  Group group;
  group.prepare = [files] { return files->Prepare(); };
  group.variants.push_back(LimitedVariant(options, bench, files, "legacy", 0, ""));
  const std::string free_hash = group.variants.front().AllSettings().Hash();
  group.variants.push_back(LimitedVariant(options, bench, files, "auto", 0, free_hash));
  group.variants.push_back(DeviceVariant(options, bench));
  for (const double pressure : options.limits) {
    for (const std::string& rung : rungs) {
      group.variants.push_back(LimitedVariant(options, bench, files, rung, pressure, free_hash));
    }
  }
  return group;
}

std::vector<TargetLine> LimitedTargets(const Rungs& rungs) {
  std::vector<TargetLine> lines;
  const Rungs mine = Select(rungs, {{"kind", kKind}});
  for (const Rungs& alike :
       GroupBy(mine, {"scale_factor", "order", "workers", "concurrency", "scenario"})) {
    const RungCells& any = *alike.front();
    const Limited limited = {CircumstancesOf(any), alike,
                             First(Select(rungs, {{"kind", "device"},
                                                  {"scale_factor", any.Text("scale_factor")},
                                                  {"order", any.Text("order")},
                                                  {"workers", any.Text("workers")},
                                                  {"concurrency", any.Text("concurrency")}}))};
    for (const Rungs& same : GroupBy(alike, {"pressure"})) {
      const std::string& pressure = same.front()->Text("pressure");
      if (pressure != "0") AddLinesAt(limited, pressure, lines);
    }
  }
  return lines;
}

}  // namespace weir::experiment
