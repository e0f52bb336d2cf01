#pragma once
// TargetLines: how a ladder's requirements are judged.
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "weir/experiment/rung_cells.h"

namespace weir::experiment {

using Keys = std::initializer_list<std::string_view>;

/// A sum of keys divided by the same sum on `floor`, cells of one trial with another; none when
/// there is no trial in which both have all keys.
std::optional<Spread> RatioOf(const RungCells* rung, const RungCells* floor, Keys keys);
/// The same of other keys on the floor.
std::optional<Spread> RatioOf(const RungCells* rung, const RungCells* floor, Keys keys,
                              Keys floor_keys);

/// "0.512 [0.498–0.530]"; empty for none.
std::string ShowRatio(const std::optional<Spread>& ratio);

/// Passes when the median is at most (at least) `limit`.
TargetLine AtMost(std::string measure, const std::optional<Spread>& ratio, double limit);
TargetLine AtLeast(std::string measure, const std::optional<Spread>& ratio, double limit);

/// Only shown, beside `other`: what somebody else measured, or nothing.
TargetLine Shown(std::string measure, std::string measured, std::string other = "");

/// Passes when all cells that have `key` have the same text. No line when fewer than two have it.
std::optional<TargetLine> AllEqual(std::string measure, const Rungs& rungs, std::string_view key);

/// The line, void when a cell of one of these is: what it measured is then not what it says.
TargetLine UnlessVoid(TargetLine line, std::initializer_list<const RungCells*> rungs);

/// "SF 1, shuffled, 2 workers, hc 1": what cells of hydrate ladders have in common.
std::string CircumstancesOf(const RungCells& rung);

}  // namespace weir::experiment
