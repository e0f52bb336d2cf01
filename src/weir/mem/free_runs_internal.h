#pragma once
// FreeRuns: which numbers of a range are free, as runs that join where they meet.
#include <cstdint>
#include <map>
#include <optional>

namespace weir::mem {

/// Threads: one at a time.
class FreeRuns {
 public:
  /// The first number of `count` in a row, from the lowest run that has so many.
  /// Cost: the number of runs before it.
  std::optional<int64_t> Take(int64_t count);
  /// Requires: none of them is free.
  void Add(int64_t first, int64_t count);
  /// Of the run that ends before `end`, how long it is; 0: there is none.
  int64_t CountBefore(int64_t end) const;

 private:
  std::map<int64_t, int64_t> runs_;  // First number -> how many.
};

}  // namespace weir::mem
