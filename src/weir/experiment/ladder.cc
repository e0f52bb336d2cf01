#include "weir/experiment/ladder.h"

#include <algorithm>

namespace weir::experiment {
namespace {

// Puts the cell beside the floor of the same trial, if that is there.
void AddFloor(const Group& group, int trial, const CellStore& store, Cell& cell) {
  const auto floor = std::find_if(group.variants.begin(), group.variants.end(),
                                  [](const Variant& variant) { return variant.is_floor; });
  if (floor == group.variants.end()) return;
  const Cell* below = store.Find(floor->AllSettings().Hash(), trial);
  if (below == nullptr || below->Text("settings_hash") == cell.Text("settings_hash")) return;
  const auto wall = cell.Number("wall_s");
  const auto floor_wall = below->Number("wall_s");
  if (wall && floor_wall && *floor_wall > 0) cell.Set("floor_ratio", *wall / *floor_wall);
  cell.Set("floor_per_s", below->Number("rows_per_s"));
}

Status RunGroup(const Group& group, int trials, CellStore& store, const CellShown& shown,
                const sys::Stop& stop) {
  bool prepared = group.prepare == nullptr;
  for (const Turn& turn : Alternate(group.variants.size(), trials)) {
    const Variant& variant = group.variants[turn.variant];
    const Settings settings = variant.AllSettings();
    if (store.Find(settings.Hash(), turn.trial) == nullptr) {
      if (stop.asked()) return Fail(Code::kCancelled, "stopped; run it again to go on from here");
      if (!prepared) WEIR_DO(group.prepare());
      prepared = true;
      if (shown) shown(variant, turn.trial, nullptr);
      WEIR_TRY(const Cell measured, variant.measure(turn.trial), "{}, trial {}", variant.name(),
               turn.trial);
      Cell cell = variant.parameters;
      cell.Merge(measured).Set("trial", int64_t{turn.trial}).Set("settings_hash", settings.Hash());
      AddFloor(group, turn.trial, store, cell);
      WEIR_DO(store.Append(std::move(cell), settings));
    }
    if (shown) shown(variant, turn.trial, store.Find(settings.Hash(), turn.trial));
  }
  return Ok();
}

}  // namespace

std::string Variant::name() const {
  const std::string name = fmt::format("{} {}", parameters.Text("kind"), parameters.Text("rung"));
  return detail.empty() ? name : name + " " + detail;
}

Settings Variant::AllSettings() const {
  Settings all = settings;
  all.Set(parameters);
  return all;
}

std::vector<Turn> Alternate(size_t variants, int trials) {
  std::vector<Turn> turns;
  for (int trial = 1; trial <= trials; ++trial) {
    for (size_t variant = 0; variant < variants; ++variant) turns.push_back({variant, trial});
  }
  return turns;
}

Status RunLadder(const std::vector<Group>& groups, int trials, CellStore& store,
                 const CellShown& shown, const sys::Stop& stop) {
  for (const Group& group : groups) WEIR_DO(RunGroup(group, trials, store, shown, stop));
  return Ok();
}

}  // namespace weir::experiment
