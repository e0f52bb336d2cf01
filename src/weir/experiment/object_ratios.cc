#include "weir/experiment/object_ratios.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "weir/experiment/rung_cells.h"

namespace weir::experiment {
namespace {

using Seconds = std::map<std::string, double>;  // By object.
// By settings hash and trial.
using Times = std::map<std::pair<std::string, int64_t>, Seconds>;

constexpr const char* kAlike[] = {"ladder", "kind", "scale_factor", "order", "workers",
                                  "concurrency", "scenario"};

Times TimesOf(const std::vector<RecordedObject>& objects) {
  Times times;
  for (const RecordedObject& object : objects) {
    times[{object.settings_hash, object.trial}][object.time.object] = object.time.hydration_s;
  }
  return times;
}

bool IsLegacyOf(const Cell& legacy, const Cell& cell) {
  const bool alike = std::all_of(std::begin(kAlike), std::end(kAlike), [&](const char* key) {
    return legacy.Text(key) == cell.Text(key);
  });
  const std::string& pressure = cell.Text("kind") == "limited" ? cell.Text("pressure") : "0";
  return alike && legacy.Text("rung") == "legacy" && legacy.Text("pressure") == pressure;
}

// The objects that are compared, and which of them are large.
struct Choice {
  std::vector<std::string> objects;
  std::set<std::string> large;
};

// By legacy's medians over all its trials, so that every trial compares the same objects.
Choice Choose(const Times& times, const std::string& legacy_hash) {
  std::map<std::string, std::vector<double>> all;
  for (const auto& [cell, seconds] : times) {
    if (cell.first != legacy_hash) continue;
    for (const auto& [object, each] : seconds) all[object].push_back(each);
  }
  std::vector<std::pair<double, std::string>> medians;
  for (auto& [object, seconds] : all) {
    const double median = SpreadOf(std::move(seconds))->median;
    if (median > kSmallObjectSeconds) medians.emplace_back(median, object);
  }
  std::sort(medians.rbegin(), medians.rend());
  Choice choice;
  for (const auto& [median, object] : medians) {
    if (choice.large.size() < (medians.size() + 3) / 4) choice.large.insert(object);
    choice.objects.push_back(object);
  }
  return choice;
}

double Geomean(const std::vector<double>& values) {
  double logs = 0;
  for (const double value : values) logs += std::log(value);
  return std::exp(logs / static_cast<double>(values.size()));
}

void Add(const Choice& choice, const Seconds& ours, const Seconds& legacys, Cell& cell) {
  std::vector<double> all;
  std::vector<double> large;
  for (const std::string& object : choice.objects) {
    const auto mine = ours.find(object);
    const auto theirs = legacys.find(object);
    if (mine == ours.end() || theirs == legacys.end()) continue;
    const double ratio = std::max(mine->second, 1e-6) / std::max(theirs->second, 1e-6);
    all.push_back(ratio);
    if (choice.large.contains(object)) large.push_back(ratio);
  }
  if (all.empty() || large.empty()) return;
  cell.Set("objects_compared", static_cast<int64_t>(all.size()));
  cell.Set("geomean_ratio", Geomean(all)).Set("large_geomean_ratio", Geomean(large));
  cell.Set("median_ratio", SpreadOf(std::move(all))->median);
  cell.Set("large_median_ratio", SpreadOf(std::move(large))->median);
}

}  // namespace

Measurements WithObjectRatios(Measurements measurements) {
  const Times times = TimesOf(measurements.objects);
  const auto times_of = [&](const Cell& cell) {
    return times.find({cell.Text("settings_hash"),
                       static_cast<int64_t>(cell.Number("trial").value_or(0))});
  };
  std::map<std::string, Choice> choices;  // By legacy's settings hash.
  const std::vector<Cell> cells = measurements.cells;
  for (Cell& cell : measurements.cells) {
    const auto legacy = std::find_if(cells.begin(), cells.end(), [&](const Cell& other) {
      return IsLegacyOf(other, cell) && other.Text("trial") == cell.Text("trial");
    });
    if (legacy == cells.end()) continue;
    const auto ours = times_of(cell);
    const auto legacys = times_of(*legacy);
    if (ours == times.end() || legacys == times.end()) continue;
    const std::string& hash = legacy->Text("settings_hash");
    if (!choices.contains(hash)) choices[hash] = Choose(times, hash);
    Add(choices[hash], ours->second, legacys->second, cell);
  }
  return measurements;
}

}  // namespace weir::experiment
