// What the sweeps show, beside the seed's figures: an engine on 62 workers at scale factor 100, its
// spans as multiples of its own legacy rung.
#include <algorithm>

#include "weir/experiment/sweep_cells.h"
#include "weir/experiment/sweep_targets_internal.h"
#include "weir/experiment/target_lines.h"

namespace weir::experiment {
namespace {

constexpr const char* kSeedThreads =
    "the seed, which blocked, 62 workers: 1.57 with 2, 1.54 with 4, 1.12 with 8, 1.03 with 128";
constexpr const char* kSeedEager = "the seed: 1.24 became 1.27 of legacy, 1.02";
constexpr const char* kSeedCodec =
    "the seed: 1.57 against 1.29 of legacy with 2 spill threads, 1.22; about 1.01 with enough";
constexpr const char* kSeedFraction =
    "the seed measured 0.05; a round with 0.85 spilled nothing and was thrown away";
constexpr const char* kSeedMalloc = "the seed: 2.12 against 0.95 of legacy, 2.23";
constexpr size_t kThreadCounts = 4;
constexpr double kMostVariation = 0.10;
constexpr size_t kLeastTrials = 5;

// "1: 1.020 [...], 2: ..." over spill threads.
std::string ShowByThreads(const Rungs& counts, const RungCells* legacy) {
  std::string text;
  for (const RungCells* rung : counts) {
    const std::string ratio = ShowRatio(RatioOf(rung, legacy, {"span_s"}));
    if (ratio.empty()) continue;
    text += fmt::format("{}{}: {}", text.empty() ? "" : ", ", rung->Text("spill_threads"), ratio);
  }
  return text;
}

// (highest - lowest) / lowest of the median processor seconds over the thread counts.
TargetLine VariationLine(std::string measure, const Rungs& counts, bool limited) {
  std::vector<double> medians;
  size_t trials = SIZE_MAX;
  for (const RungCells* rung : counts) {
    std::vector<double> sums;
    for (const Cell* cell : rung->cells) {
      sums.push_back(cell->Number("utime_s").value_or(0) + cell->Number("stime_s").value_or(0));
    }
    trials = std::min(trials, sums.size());
    medians.push_back(SpreadOf(std::move(sums))->median);
  }
  const auto [low, high] = std::minmax_element(medians.begin(), medians.end());
  const double variation = *low > 0 ? *high / *low - 1 : 0;
  TargetLine line = Shown(std::move(measure), fmt::format("{:.1f} %", 100 * variation));
  if (!limited) return line;
  line.target = fmt::format("at most {:.0f} %", 100 * kMostVariation);
  if (medians.size() < kThreadCounts || trials < kLeastTrials) {
    line.verdict = "not measured";
    line.measured += fmt::format(", {} of {} trials", trials, kLeastTrials);
  } else {
    line.verdict = variation <= kMostVariation ? "pass" : "miss";
  }
  return line;
}

void AddThreadLines(const Rungs& alike, std::vector<TargetLine>& lines) {
  const RungCells* const legacy = First(Select(alike, {{"rung", "legacy"}}));
  Rungs spilling = alike;
  std::erase_if(spilling, [](const RungCells* rung) { return rung->Text("rung") == "legacy"; });
  for (const Rungs& counts : GroupBy(spilling, {"rung", "spill_handoff"})) {
    const RungCells& any = *counts.front();
    const std::string where = fmt::format("{}, {}, {}: ", CircumstancesOf(any), any.Text("rung"),
                                          any.Text("spill_handoff"));
    TargetLine spans = Shown(where + "span / legacy, by spill threads",
                             ShowByThreads(counts, legacy), kSeedThreads);
    TargetLine variation = VariationLine(where + "user + system s over the spill threads", counts,
                                         any.Text("spill_handoff") == "help");
    for (const RungCells* rung : counts) {
      spans = UnlessVoid(std::move(spans), {rung});
      variation = UnlessVoid(std::move(variation), {rung});
    }
    lines.push_back(std::move(spans));
    lines.push_back(std::move(variation));
  }
}

// A rung beside another that differs in the one setting.
TargetLine PairLine(const Rungs& alike, const std::string& what, const Rungs& changed,
                    const Rungs& usual, const char* seed) {
  const RungCells* const with = First(changed);
  const RungCells* const without = First(usual);
  return UnlessVoid(
      Shown(fmt::format("{}: span, {}", CircumstancesOf(*alike.front()), what),
            ShowRatio(RatioOf(with, without, {"span_s"})), seed),
      {with, without});
}

void AddPairLines(const std::string& name, const Rungs& alike, std::vector<TargetLine>& lines) {
  for (const char* rung : {"auto", "paged_lz4"}) {
    const auto pick = [&](std::string_view key, std::string_view text) {
      return Select(alike, {{"rung", rung}, {key, text}});
    };
    const std::string who = std::string(rung) + " ";
    if (name == "eager") {
      lines.push_back(PairLine(alike, who + "with eager backing / without",
                               pick("eager_backing", "on"), pick("eager_backing", "off"),
                               kSeedEager));
    } else if (name == "fraction") {
      lines.push_back(PairLine(alike, who + "with a budget fraction of 0.05 / 0.85",
                               pick("budget_fraction", "0.05"), pick("budget_fraction", "0.85"),
                               kSeedFraction));
    }
  }
  if (name == "codec") {
    lines.push_back(PairLine(
        alike, "auto compressing / not", Select(alike, {{"spill_codec", "lz4"}}),
        Select(alike, {{"spill_codec", "none"}}), kSeedCodec));
    lines.push_back(PairLine(alike, "paged_lz4 / paged_spill",
                             Select(alike, {{"rung", "paged_lz4"}}),
                             Select(alike, {{"rung", "paged_spill"}}), kSeedCodec));
  }
  if (name == "malloc") {
    lines.push_back(PairLine(alike, "paged_malloc / paged",
                             Select(alike, {{"rung", "paged_malloc"}}),
                             Select(alike, {{"rung", "paged"}}), kSeedMalloc));
  }
}

}  // namespace

std::vector<TargetLine> SweepTargets(const Rungs& rungs) {
  std::vector<TargetLine> lines;
  for (const std::string& name : SweepNames()) {
    const Rungs mine = Select(rungs, {{"kind", SweepKind(name)}});
    for (const Rungs& alike :
         GroupBy(mine, {"scale_factor", "order", "concurrency", "scenario", "workers"})) {
      if (name == "threads") {
        AddThreadLines(alike, lines);
      } else {
        AddPairLines(name, alike, lines);
      }
    }
  }
  return lines;
}

}  // namespace weir::experiment
