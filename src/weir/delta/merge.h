#pragma once
// Merging sorted updates.
#include <memory>
#include <vector>

#include "weir/delta/batch.h"

namespace weir::delta {

/// The updates of both cursors in the order of row and time. Those of the same row and time become
/// one, or none when their diffs cancel; times before `since` are moved to it first.
///
/// Cost: one comparison per update; a copy of each row too when `since` is not 0.
std::unique_ptr<Cursor> MergeCursors(std::unique_ptr<Cursor> left, std::unique_ptr<Cursor> right,
                                     Time since);

/// All of them as one. Cost: per update, a comparison for each doubling of their number.
std::unique_ptr<Cursor> MergeAll(std::vector<std::unique_ptr<Cursor>> cursors);

/// As MergeCursors with nothing on the right: adds up what moving times made the same.
std::unique_ptr<Cursor> MoveTimes(std::unique_ptr<Cursor> cursor, Time since);

}  // namespace weir::delta
