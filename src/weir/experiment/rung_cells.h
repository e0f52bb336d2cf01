#pragma once
// RungCells: the trials of one rung, and what they say together.
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "weir/experiment/cell_store.h"

namespace weir::experiment {

/// The middle and the ends of some values. The median of an even number is the mean of the two.
struct Spread {
  double median = 0;
  double low = 0;
  double high = 0;
};

/// None when there are no values.
std::optional<Spread> SpreadOf(std::vector<double> values);

/// The trials of one variant: all its cells have one settings hash.
struct RungCells {
  Settings settings;
  std::vector<const Cell*> cells;  ///< In the order of measurement; never empty.

  /// Over the trials that have the key.
  std::optional<Spread> Of(std::string_view key) const;
  const std::string& Text(std::string_view key) const { return cells.front()->Text(key); }
};

/// One for each settings hash, in the order of their first cells. `measurements` must outlive it.
std::vector<RungCells> CellsByRung(const Measurements& measurements);

/// The rung of that name that was measured last; nullptr when there is none.
const RungCells* FindRung(const std::vector<RungCells>& rungs, std::string_view ladder,
                          std::string_view kind, std::string_view rung);

/// What tells a rung from others of its kind and name: "at 4, 8 workers, 2 spill threads, help".
std::string DetailOf(const RungCells& rung);

using Rungs = std::vector<const RungCells*>;

/// Those whose cells have all these texts, {"kind", "indexes"}; in their order.
Rungs Select(const Rungs& rungs,
             std::initializer_list<std::pair<std::string_view, std::string_view>> texts);
/// The first of them; nullptr when there is none.
const RungCells* First(const Rungs& rungs);
/// Those together that have the same texts under all these keys, in the order of their first.
std::vector<Rungs> GroupBy(const Rungs& rungs, std::initializer_list<std::string_view> keys);

/// One line of a ladder's requirements.
struct TargetLine {
  std::string measure;   ///< What is measured.
  std::string measured;  ///< Empty when it was not.
  std::string target;
  std::string verdict;   ///< "pass", "miss", "not measured", "void"; empty when there is no limit.
};

}  // namespace weir::experiment
