#include "weir/experiment/target_lines.h"

#include <algorithm>

#include "weir/experiment/report.h"

namespace weir::experiment {
namespace {

constexpr int kDecimals = 3;

std::optional<double> SumOf(const Cell& cell, Keys keys) {
  double sum = 0;
  for (const std::string_view key : keys) {
    const auto number = cell.Number(key);
    if (!number) return std::nullopt;
    sum += *number;
  }
  return sum;
}

const Cell* CellOfTrial(const RungCells& rung, const std::string& trial) {
  const auto found = std::find_if(rung.cells.begin(), rung.cells.end(), [&](const Cell* cell) {
    return cell->Text("trial") == trial;
  });
  return found == rung.cells.end() ? nullptr : *found;
}

}  // namespace

std::optional<Spread> RatioOf(const RungCells* rung, const RungCells* floor, Keys keys) {
  return RatioOf(rung, floor, keys, keys);
}

std::optional<Spread> RatioOf(const RungCells* rung, const RungCells* floor, Keys keys,
                              Keys floor_keys) {
  if (rung == nullptr || floor == nullptr) return std::nullopt;
  std::vector<double> ratios;
  for (const Cell* cell : rung->cells) {
    const Cell* const below = CellOfTrial(*floor, cell->Text("trial"));
    if (below == nullptr) continue;
    const auto ours = SumOf(*cell, keys);
    const auto theirs = SumOf(*below, floor_keys);
    if (ours && theirs && *theirs > 0) ratios.push_back(*ours / *theirs);
  }
  return SpreadOf(std::move(ratios));
}

std::string ShowRatio(const std::optional<Spread>& ratio) {
  return ratio ? ShowSpread(*ratio, 1, kDecimals) : std::string();
}

TargetLine AtMost(std::string measure, const std::optional<Spread>& ratio, double limit) {
  return {std::move(measure), ShowRatio(ratio), fmt::format("at most {:.2f}", limit),
          !ratio ? "not measured" : ratio->median <= limit ? "pass" : "miss"};
}

TargetLine AtLeast(std::string measure, const std::optional<Spread>& ratio, double limit) {
  return {std::move(measure), ShowRatio(ratio), fmt::format("at least {:.2f}", limit),
          !ratio ? "not measured" : ratio->median >= limit ? "pass" : "miss"};
}

TargetLine Shown(std::string measure, std::string measured, std::string other) {
  const char* const verdict = measured.empty() ? "not measured" : "";
  return {std::move(measure), std::move(measured), std::move(other), verdict};
}

std::optional<TargetLine> AllEqual(std::string measure, const Rungs& rungs, std::string_view key) {
  std::vector<std::string> texts;
  for (const RungCells* rung : rungs) {
    for (const Cell* cell : rung->cells) {
      if (cell->Has(key)) texts.push_back(cell->Text(key));
    }
  }
  if (texts.size() < 2) return std::nullopt;
  const bool same = std::all_of(texts.begin(), texts.end(),
                                [&](const auto& text) { return text == texts.front(); });
  return TargetLine{std::move(measure), same ? texts.front() : "they differ",
                    fmt::format("equal in {} cells", texts.size()), same ? "pass" : "miss"};
}

TargetLine UnlessVoid(TargetLine line, std::initializer_list<const RungCells*> rungs) {
  for (const RungCells* rung : rungs) {
    if (rung == nullptr || line.verdict == "not measured") continue;
    for (const Cell* cell : rung->cells) {
      if (!cell->Has("void")) continue;
      line.verdict = "void";
      line.measured += fmt::format("; {} {}", rung->Text("rung"), cell->Text("void"));
      return line;
    }
  }
  return line;
}

std::string CircumstancesOf(const RungCells& rung) {
  const std::string where =
      fmt::format("SF {}, {}, {} workers, hc {}", rung.Text("scale_factor"), rung.Text("order"),
                  rung.Text("workers"), rung.Text("concurrency"));
  return rung.Text("scenario") == "rehydrate" ? where + ", rehydrate" : where;
}

}  // namespace weir::experiment
