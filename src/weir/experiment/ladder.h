#pragma once
// Ladder: variants of one job measured in turn, trial after trial, so that a drift of the machine
// meets all of them alike.
#include <functional>
#include <string>
#include <vector>

#include "weir/experiment/cell_store.h"
#include "weir/sys/stop.h"

namespace weir::experiment {

/// One rung of a ladder with one set of parameters.
struct Variant {
  Cell parameters;       ///< Its values of the shared keys: ladder, rung, kind, rows, ...
  Settings settings;     ///< What else determines the cell; the parameters are added.
  std::string detail;     ///< What tells it from others of its kind and rung: "at pressure 4".
  bool is_floor = false;  ///< The others of its group are compared with it, trial by trial.
  /// Measures once, for this trial; gives values of other keys.
  std::function<Result<Cell>(int trial)> measure;

  std::string name() const;     ///< "content_items raw_copy", "indexes auto at pressure 4".
  Settings AllSettings() const;
};

/// Variants that take turns, say all that read one table.
struct Group {
  std::vector<Variant> variants;
  std::function<Status()> prepare;  ///< Called once, before the first cell that is to be measured.
};

/// One cell to measure: the variant's index, the trial from 1.
struct Turn {
  size_t variant = 0;
  int trial = 1;

  friend bool operator==(const Turn&, const Turn&) = default;
};

/// A B C, A B C, ...: every trial goes through all variants before the next begins.
std::vector<Turn> Alternate(size_t variants, int trials);

/// Told of each cell: before it is measured (nullptr), and when it is there, measured or found.
using CellShown = std::function<void(const Variant& variant, int trial, const Cell* cell)>;

/// Measures every cell that `store` does not have yet, group after group.
///
/// Adds to each cell: trial, settings_hash, and beside the floor of its trial floor_ratio (wall
/// divided by the floor's wall) and floor_per_s (the floor's rows_per_s).
/// Errors: the first failure ends it; kCancelled when `stop` was asked for. Finished cells stay.
Status RunLadder(const std::vector<Group>& groups, int trials, CellStore& store,
                 const CellShown& shown, const sys::Stop& stop);

}  // namespace weir::experiment
