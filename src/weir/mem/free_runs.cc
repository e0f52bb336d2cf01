#include "weir/mem/free_runs_internal.h"

#include <algorithm>
#include <iterator>

#include "weir/base/assert.h"

namespace weir::mem {

std::optional<int64_t> FreeRuns::Take(int64_t count) {
  const auto run = std::find_if(runs_.begin(), runs_.end(),
                                [&](const auto& each) { return each.second >= count; });
  if (run == runs_.end()) return std::nullopt;
  const auto [first, length] = *run;
  const auto next = runs_.erase(run);
  if (length > count) runs_.emplace_hint(next, first + count, length - count);
  return first;
}

void FreeRuns::Add(int64_t first, int64_t count) {
  auto next = runs_.lower_bound(first);
  WEIR_ASSERT(next == runs_.end() || first + count <= next->first);
  if (next != runs_.end() && first + count == next->first) {
    count += next->second;
    next = runs_.erase(next);
  }
  if (next != runs_.begin()) {
    const auto before = std::prev(next);
    WEIR_ASSERT(before->first + before->second <= first);
    if (before->first + before->second == first) {
      before->second += count;
      return;
    }
  }
  runs_.emplace_hint(next, first, count);
}

int64_t FreeRuns::CountBefore(int64_t end) const {
  const auto next = runs_.lower_bound(end);
  if (next == runs_.begin()) return 0;
  const auto [first, count] = *std::prev(next);
  return first + count == end ? count : 0;
}

}  // namespace weir::mem
