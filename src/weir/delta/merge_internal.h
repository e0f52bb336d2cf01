#pragma once
// Merging two sorted batches into one.
#include <functional>
#include <memory>

#include "weir/delta/batch.h"

namespace weir::delta {

/// Takes the updates of two cursors in the order of row and time. Those of the same row and time
/// become one, or none when their diffs cancel; times before `since` are moved to it first.
///
/// `emit` takes an update whose bytes hold until it returns.
/// Errors: of the cursors and of `emit`.
/// Cost:   one comparison per update; a copy of each row too when `since` is not 0.
Status MergeTwo(Cursor& left, Cursor& right, Time since,
                const std::function<Status(const Update&)>& emit);

}  // namespace weir::delta
