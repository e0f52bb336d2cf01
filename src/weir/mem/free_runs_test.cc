#include <vector>

#include "weir/mem/free_runs_internal.h"

namespace weir::mem {
namespace {

TEST(FreeRuns, NeighboursJoinInAnyOrder) {
  const std::vector<std::vector<int64_t>> orders = {{0, 1, 2}, {2, 1, 0}, {0, 2, 1}, {1, 2, 0}};
  for (const auto& order : orders) {
    FreeRuns runs;
    for (const int64_t at : order) runs.Add(10 + at * 4, 4);
    EXPECT_EQ(runs.CountBefore(22), 12);
    EXPECT_EQ(runs.CountBefore(21), 0);
    EXPECT_EQ(runs.Take(13), std::nullopt);
    EXPECT_EQ(runs.Take(12), 10);
    EXPECT_EQ(runs.Take(1), std::nullopt);
  }
}

TEST(FreeRuns, TheLowestRunThatIsLongEnoughIsTaken) {
  FreeRuns runs;
  runs.Add(0, 2);
  runs.Add(10, 5);
  runs.Add(20, 3);
  EXPECT_EQ(runs.Take(3), 10);
  EXPECT_EQ(runs.Take(3), 20);
  EXPECT_EQ(runs.Take(2), 0);
  EXPECT_EQ(runs.Take(2), 13);
  EXPECT_EQ(runs.CountBefore(100), 0);
}

}  // namespace
}  // namespace weir::mem
