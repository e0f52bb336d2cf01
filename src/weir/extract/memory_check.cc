#include "weir/base/units.h"
#include "weir/extract/memory_check_internal.h"

namespace weir::extract {

Status CheckBudget(mem::BlockAllocator& blocks, int64_t row) {
  const mem::Budget& budget = blocks.budget();
  const int64_t used_bytes = budget.used_bytes() - blocks.kept_bytes();
  if (used_bytes <= budget.limit_bytes()) return Ok();
  return Fail(Code::kExhausted,
              "at row {} memory reached {}, over the limit of {}; raise memory_threshold_mb in "
              "weir.yaml or leave a wide column out",
              row, FormatBytes(used_bytes), FormatBytes(budget.limit_bytes()));
}

}  // namespace weir::extract
