#include "weir/experiment/ladder.h"

namespace weir::experiment {
namespace {

const Origin kOrigin = {"weir 0.1.0 (abc)", "a machine"};

// Variants that only write down in `log` that they were measured; `walls` are their wall times.
Group LoggingGroup(std::vector<std::string>& log, const std::vector<double>& walls) {
  Group group;
  for (size_t index = 0; index < walls.size(); ++index) {
    Variant variant;
    const std::string rung(1, static_cast<char>('A' + index));
    variant.parameters.Set("ladder", "test").Set("rung", rung).Set("kind", "t");
    variant.is_floor = index == 0;
    variant.measure = [&log, rung, wall = walls[index]](int) -> Result<Cell> {
      log.push_back(rung);
      Cell cell;
      cell.Set("wall_s", wall).Set("rows_per_s", 100 / wall);
      return cell;
    };
    group.variants.push_back(std::move(variant));
  }
  group.prepare = [&log]() -> Status {
    log.push_back("prepare");
    return Ok();
  };
  return group;
}

TEST(Ladder, AlternatesThroughAllVariantsInEachTrial) {
  EXPECT_EQ(Alternate(2, 3),
            (std::vector<Turn>{{0, 1}, {1, 1}, {0, 2}, {1, 2}, {0, 3}, {1, 3}}));
  EXPECT_TRUE(Alternate(0, 3).empty());
  EXPECT_TRUE(Alternate(3, 0).empty());
}

TEST(Ladder, PreparesOnceMeasuresInTurnAndAddsTheFloor) {
  sys::MemoryFiles files;
  auto store = CellStore::Open(files, "out", kOrigin).value();
  std::vector<std::string> log;
  const sys::Stop never;
  const std::vector<Group> groups = {LoggingGroup(log, {2, 3})};
  ASSERT_TRUE(RunLadder(groups, 2, store, nullptr, never).ok());
  EXPECT_EQ(log, (std::vector<std::string>{"prepare", "A", "B", "A", "B"}));

  const std::vector<Cell>& cells = store.measurements().cells;
  ASSERT_EQ(cells.size(), 4U);
  EXPECT_FALSE(cells[0].Has("floor_ratio"));
  EXPECT_EQ(cells[1].Number("floor_ratio"), 1.5);
  EXPECT_EQ(cells[1].Number("floor_per_s"), 50);
  EXPECT_EQ(cells[3].Number("trial"), 2);
}

TEST(Ladder, CellsThatAreThereAreShownAndNotMeasuredAgain) {
  sys::MemoryFiles files;
  const sys::Stop never;
  std::vector<std::string> log;
  const std::vector<Group> groups = {LoggingGroup(log, {2, 3})};
  {
    auto store = CellStore::Open(files, "out", kOrigin).value();
    ASSERT_TRUE(RunLadder(groups, 1, store, nullptr, never).ok());
  }
  log.clear();
  auto store = CellStore::Open(files, "out", kOrigin).value();
  std::vector<std::string> shown;
  const auto show = [&](const Variant& variant, int trial, const Cell* cell) {
    if (cell != nullptr) shown.push_back(fmt::format("{} {}", variant.name(), trial));
  };
  ASSERT_TRUE(RunLadder(groups, 2, store, show, never).ok());
  EXPECT_EQ(log, (std::vector<std::string>{"prepare", "A", "B"}));
  EXPECT_EQ(shown, (std::vector<std::string>{"t A 1", "t B 1", "t A 2", "t B 2"}));

  log.clear();
  ASSERT_TRUE(RunLadder(groups, 2, store, nullptr, never).ok());
  EXPECT_TRUE(log.empty()) << "nothing is prepared when nothing is to be measured";

  std::vector<Group> changed = groups;
  changed[0].variants[1].settings.Set("command", "another");
  ASSERT_TRUE(RunLadder(changed, 1, store, nullptr, never).ok());
  EXPECT_EQ(log, (std::vector<std::string>{"prepare", "B"}));
}

TEST(Ladder, AFailureOrAStopKeepsWhatWasFinished) {
  sys::MemoryFiles files;
  auto store = CellStore::Open(files, "out", kOrigin).value();
  const sys::Stop never;
  std::vector<std::string> log;
  std::vector<Group> groups = {LoggingGroup(log, {2, 3})};
  groups[0].variants[1].measure = [](int) -> Result<Cell> { return Fail(Code::kCorrupt, "odd"); };
  const Status failed = RunLadder(groups, 2, store, nullptr, never);
  ASSERT_FALSE(failed.ok());
  EXPECT_EQ(failed.error().code, Code::kCorrupt);
  EXPECT_EQ(failed.error().message, "t B, trial 1: odd");
  EXPECT_EQ(ReadMeasurements(files, "out").value().cells.size(), 1U);

  sys::Stop stop;
  stop.Ask();
  const Status stopped = RunLadder(groups, 2, store, nullptr, stop);
  ASSERT_FALSE(stopped.ok());
  EXPECT_EQ(stopped.error().code, Code::kCancelled);
}

}  // namespace
}  // namespace weir::experiment
