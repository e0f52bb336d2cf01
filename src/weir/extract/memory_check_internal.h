#pragma once
// CheckBudget: what fills buffers is let past the budget's limit, and looks at it between rows.
#include "weir/base/result.h"
#include "weir/mem/block_allocator.h"

namespace weir::extract {

/// kExhausted if more is used than the budget allows. Blocks that are only kept warm do not count:
/// they would be given up first.
Status CheckBudget(mem::BlockAllocator& blocks, int64_t row);

}  // namespace weir::extract
