#include "weir/experiment/index_cells.h"

#include <algorithm>
#include <cmath>

#include "weir/base/units.h"
#include "weir/experiment/hydrate_run.h"
#include "weir/experiment/sql.h"
#include "weir/experiment/target_lines.h"

namespace weir::experiment {
namespace {

constexpr const char* kKind = "indexes";

Variant VariantOf(const HydrateOptions& options, const HydrateBench& bench,
                  const std::shared_ptr<TpchFiles>& files, const std::string& rung,
                  double pressure, const std::string& free_hash) {
  const auto measure = [files, &bench, pressure, free_hash](
                           HydrateCall call, const RunCall& run) -> Result<Cell> {
    WEIR_TRY(call.sql_path, files->WriteSql("indexes.sql", sql::kTpchIndexes));
    const Cell* const legacy = pressure < 1 ? bench.store.Find(free_hash, 1) : nullptr;
    const auto held = legacy == nullptr ? std::optional<double>()
                                        : legacy->Number("peak_anonymous_bytes");
    const auto bytes = static_cast<int64_t>(held.value_or(0));
    if (pressure > 0) call.memory_bytes = MemoryAt(held ? bytes : files->index_bytes(), pressure);
    WEIR_TRY(Cell cell, run(call));
    if (pressure > 1) cell.Set("void", std::string(VoidReason(call.batcher, cell)));
    return cell;
  };
  return PressureVariant(options, kKind, rung, pressure, bench, measure);
}

// ---- Targets.

TargetLine MemoryLine(const std::string& where, const RungCells& rung) {
  const double limit = rung.Of("memory_bytes")->median;
  const double peak = rung.Of("peak_anonymous_bytes")->high;
  TargetLine line{fmt::format("{}{} at pressure {}: peak anonymous memory, highest of all trials",
                              where, rung.Text("rung"), rung.Text("pressure")),
                  FormatBytes(static_cast<int64_t>(peak)),
                  "at most " + FormatBytes(static_cast<int64_t>(limit)),
                  peak <= limit ? "pass" : "miss"};
  if (!rung.settings.Get("swap").empty()) {
    line.measured += "; swap was on";
    line.verdict = "void";
  }
  return line;
}

// Bytes that went to extents, before compression, for each byte of the updates.
TargetLine AmplificationLine(const std::string& where, const RungCells& rung) {
  const auto ratio = RatioOf(&rung, &rung, {"extent_raw_bytes_written"}, {"update_bytes"});
  const auto share = RatioOf(&rung, &rung, {"memory_bytes"}, {"update_bytes"});
  const std::string measure =
      fmt::format("{}{} at pressure {}: extent bytes before compression / update bytes", where,
                  rung.Text("rung"), rung.Text("pressure"));
  const bool fits = rung.Of("pressure")->median < 1;
  const double limit = fits || !share ? 0 : 2 * std::max(0.0, 1 - share->median) + 0.1;
  TargetLine line = AtMost(measure, ratio, limit);
  if (!fits && !share) line.target = "at most 2 x (1 - memory / updates) + 0.1";
  if (ratio) line.verdict = ratio->high <= limit ? "pass" : "miss";
  return fits ? line : UnlessVoid(std::move(line), {&rung});
}

// Of all cells, the one whose split of the processor seconds is furthest from what it used.
TargetLine SplitLine(const std::string& where, const Rungs& rungs) {
  constexpr double kSlack = 0.05;
  TargetLine line{where + "processor seconds by what they went to / user + system, furthest from 1",
                  "", fmt::format("within {:.0f} %", kSlack * 100), "not measured"};
  double furthest = 1;
  for (const RungCells* rung : rungs) {
    for (const Cell* cell : rung->cells) {
      const auto ratio = cell->Number("cpu_split_ratio");
      if (!ratio) continue;
      if (std::abs(*ratio - 1) >= std::abs(furthest - 1)) furthest = *ratio;
      line.measured = fmt::format("{:.3f}", furthest);
      line.verdict = std::abs(furthest - 1) <= kSlack ? "pass" : "miss";
    }
  }
  return line;
}

std::vector<TargetLine> UnboundLines(const std::string& where, const Rungs& alike) {
  const auto at_rest = [&](std::string_view rung) {
    return First(Select(alike, {{"rung", rung}, {"pressure", "0"}}));
  };
  const RungCells* const legacy = at_rest("legacy");
  const RungCells* const ours = at_rest("auto");
  // A ladder sorts while rows come in, so that part of its sorting counts as exchange.
  return {AtMost(where + "span, auto / legacy", RatioOf(ours, legacy, {"span_s"}), 0.50),
          AtMost(where + "exchange + sort + copy + merge CPU, auto / legacy",
                 RatioOf(ours, legacy, {"exchange_s", "sort_s", "copy_s", "merge_s"}), 0.30),
          Shown(where + "sort + copy + merge CPU alone, auto / legacy",
                ShowRatio(RatioOf(ours, legacy, {"sort_s", "copy_s", "merge_s"}))),
          AtMost(where + "span, paged / legacy", RatioOf(at_rest("paged"), legacy, {"span_s"}),
                 1.03),
          AtMost(where + "span, paged_lz4 with a budget never hit / legacy",
                 RatioOf(at_rest("paged_lz4"), legacy, {"span_s"}), 1.03)};
}

}  // namespace

Group IndexGroup(const HydrateOptions& options, const HydrateBench& bench,
                 const std::shared_ptr<TpchFiles>& files) {
  std::vector<std::string> rungs = options.rungs;
  if (rungs.empty()) rungs = {"legacy", "auto", "paged", "paged_lz4"};
  Group group;
  group.prepare = [files] { return files->Prepare(); };
  std::string free_hash;
  for (const double pressure : options.pressures) {
    for (const std::string& rung : rungs) {
      if (pressure > 0 && !KnowsBound(rung)) continue;
      group.variants.push_back(VariantOf(options, bench, files, rung, pressure, free_hash));
      if (rung == "legacy" && pressure == 0) free_hash = group.variants.back().AllSettings().Hash();
    }
  }
  return group;
}

std::vector<TargetLine> IndexTargets(const Rungs& rungs) {
  std::vector<TargetLine> lines;
  const Rungs mine = Select(rungs, {{"kind", kKind}});
  for (const Rungs& alike :
       GroupBy(mine, {"scale_factor", "order", "workers", "concurrency", "scenario"})) {
    const std::string where = CircumstancesOf(*alike.front()) + ": ";
    for (TargetLine& line : UnboundLines(where, alike)) lines.push_back(std::move(line));
    for (const RungCells* rung : alike) {
      if (rung->Of("memory_bytes")) lines.push_back(MemoryLine(where, *rung));
    }
    for (const RungCells* rung : Select(alike, {{"rung", "auto"}})) {
      if (rung->Of("memory_bytes")) lines.push_back(AmplificationLine(where, *rung));
    }
    lines.push_back(SplitLine(where, alike));
  }
  return lines;
}

}  // namespace weir::experiment
