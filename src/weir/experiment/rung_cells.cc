#include "weir/experiment/rung_cells.h"

#include <algorithm>

namespace weir::experiment {

std::optional<Spread> SpreadOf(std::vector<double> values) {
  if (values.empty()) return std::nullopt;
  std::sort(values.begin(), values.end());
  const size_t half = values.size() / 2;
  const double median =
      values.size() % 2 == 1 ? values[half] : (values[half - 1] + values[half]) / 2;
  return Spread{median, values.front(), values.back()};
}

std::optional<Spread> RungCells::Of(std::string_view key) const {
  std::vector<double> values;
  for (const Cell* cell : cells) {
    if (const auto number = cell->Number(key)) values.push_back(*number);
  }
  return SpreadOf(std::move(values));
}

std::vector<RungCells> CellsByRung(const Measurements& measurements) {
  std::vector<RungCells> rungs;
  for (const Cell& cell : measurements.cells) {
    const std::string& hash = cell.Text("settings_hash");
    auto found = std::find_if(rungs.begin(), rungs.end(), [&](const RungCells& rung) {
      return rung.Text("settings_hash") == hash;
    });
    if (found != rungs.end()) {
      found->cells.push_back(&cell);
      continue;
    }
    const auto settings = measurements.settings.find(hash);
    const bool known = settings != measurements.settings.end();
    rungs.push_back({known ? settings->second : Settings(), {&cell}});
  }
  return rungs;
}

const RungCells* FindRung(const std::vector<RungCells>& rungs, std::string_view ladder,
                          std::string_view kind, std::string_view rung) {
  const RungCells* last = nullptr;
  for (const RungCells& each : rungs) {
    if (each.Text("ladder") != ladder || each.Text("kind") != kind || each.Text("rung") != rung) {
      continue;
    }
    last = &each;
  }
  return last;
}

std::string DetailOf(const RungCells& rung) {
  struct Part {
    std::string_view key;
    std::string_view before;
    std::string_view after;
  };
  std::string detail;
  for (const Part& part :
       {Part{"pressure", "at ", ""}, Part{"workers", "", " workers"},
        Part{"spill_threads", "", " spill threads"}, Part{"spill_handoff", "", ""},
        Part{"eager_backing", "eager ", ""}, Part{"spill_codec", "codec ", ""},
        Part{"budget_fraction", "fraction ", ""}}) {
    if (rung.Text(part.key).empty()) continue;
    detail += fmt::format("{}{}{}{}", detail.empty() ? "" : ", ", part.before, rung.Text(part.key),
                          part.after);
  }
  return detail;
}

Rungs Select(const Rungs& rungs,
             std::initializer_list<std::pair<std::string_view, std::string_view>> texts) {
  Rungs selected;
  for (const RungCells* rung : rungs) {
    const bool fits = std::all_of(texts.begin(), texts.end(), [&](const auto& text) {
      return rung->Text(text.first) == text.second;
    });
    if (fits) selected.push_back(rung);
  }
  return selected;
}

const RungCells* First(const Rungs& rungs) { return rungs.empty() ? nullptr : rungs.front(); }

std::vector<Rungs> GroupBy(const Rungs& rungs, std::initializer_list<std::string_view> keys) {
  std::vector<Rungs> groups;
  for (const RungCells* rung : rungs) {
    const auto same = std::find_if(groups.begin(), groups.end(), [&](const Rungs& group) {
      return std::all_of(keys.begin(), keys.end(), [&](std::string_view key) {
        return group.front()->Text(key) == rung->Text(key);
      });
    });
    if (same != groups.end()) {
      same->push_back(rung);
    } else {
      groups.push_back({rung});
    }
  }
  return groups;
}

}  // namespace weir::experiment
