#include "weir/experiment/hydrate_cells.h"

#include "weir/experiment/index_cells.h"
#include "weir/experiment/limited_cells.h"
#include "weir/experiment/peer_cells.h"
#include "weir/experiment/stray_settings.h"
#include "weir/experiment/sweep_cells.h"
#include "weir/experiment/target_lines.h"
#include "weir/experiment/tpch_files.h"

namespace weir::experiment {
namespace {

// Across all ladders, whatever the batcher, the memory and the workers: the same rows give the same
// answers. DuckDB's hash stands beside that of one cell, whose digest is the others'.
std::vector<TargetLine> EqualityLines(const Rungs& rungs) {
  std::vector<TargetLine> lines;
  for (const Rungs& same : GroupBy(rungs, {"scale_factor", "objects"})) {
    const std::string what = fmt::format("SF {}, {}: ", same.front()->Text("scale_factor"),
                                         same.front()->Text("objects"));
    for (const auto& line : {AllEqual(what + "digests of all cells", same, "digest"),
                             AllEqual(what + "content hashes, ours and DuckDB's", same,
                                      "content_hash"),
                             AllEqual(what + "probes of all cells", same, "probe_digest")}) {
      if (line.has_value()) lines.push_back(*line);
    }
  }
  return lines;
}

}  // namespace

Result<std::vector<Group>> HydrateGroups(const HydrateOptions& options, const HydrateBench& bench) {
  WEIR_DO(CheckEnvironment());
  const auto files = std::make_shared<TpchFiles>(options, bench);
  std::vector<Group> groups;
  if (!options.limits.empty()) {
    WEIR_TRY(Group limited, LimitedGroup(options, bench, files));
    groups.push_back(std::move(limited));
  }
  if (!options.duckdb_python.empty()) {
    WEIR_TRY(Group peer, PeerGroup(options, bench, files));
    groups.push_back(std::move(peer));
  }
  for (const std::string& sweep : options.sweeps) {
    groups.push_back(SweepGroup(sweep, options, bench, files));
  }
  if (groups.empty()) groups.push_back(IndexGroup(options, bench, files));
  return groups;
}

std::vector<TargetLine> HydrateTargets(const Measurements& measurements) {
  const std::vector<RungCells> all = CellsByRung(measurements);
  Rungs rungs;
  for (const RungCells& rung : all) rungs.push_back(&rung);
  rungs = Select(rungs, {{"ladder", "hydrate"}});
  std::vector<TargetLine> lines;
  for (const auto targets : {IndexTargets, LimitedTargets, PeerTargets, SweepTargets}) {
    for (TargetLine& line : targets(rungs)) lines.push_back(std::move(line));
  }
  for (TargetLine& line : EqualityLines(rungs)) lines.push_back(std::move(line));
  return lines;
}

}  // namespace weir::experiment
