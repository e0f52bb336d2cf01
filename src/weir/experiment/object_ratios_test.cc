#include "weir/experiment/object_ratios.h"

#include <cmath>

namespace weir::experiment {
namespace {

// A cell of one rung, with its objects.
void AddCell(Measurements& all, const std::string& rung, const std::string& pressure, int64_t trial,
             const std::vector<ObjectTime>& objects) {
  Cell cell;
  cell.Set("ladder", "hydrate").Set("kind", "indexes").Set("rung", rung).Set("workers", "2");
  cell.Set("pressure", pressure).Set("trial", trial).Set("settings_hash", rung + pressure);
  all.cells.push_back(cell);
  for (const ObjectTime& time : objects) all.objects.push_back({rung + pressure, trial, time});
}

TEST(ObjectRatios, ComparesWhatIsNotSmallTrialByTrial) {
  Measurements all;
  AddCell(all, "legacy", "0", 1, {{"tiny", 0.5, 0}, {"a", 1, 0}, {"b", 2, 0}, {"c", 4, 0},
                                  {"d", 8, 0}, {"e", 16, 0}});
  AddCell(all, "auto", "0", 1, {{"tiny", 9, 0}, {"a", 0.5, 0}, {"b", 0.5, 0}, {"c", 2, 0},
                                {"d", 1, 0}, {"e", 4, 0}});
  AddCell(all, "auto", "4", 1, {{"e", 16, 0}});
  AddCell(all, "auto", "4", 2, {{"e", 16, 0}});
  const std::vector<Cell> cells = WithObjectRatios(all).cells;
  EXPECT_EQ(cells[0].Number("geomean_ratio"), 1);
  EXPECT_EQ(cells[1].Number("objects_compared"), 5);
  EXPECT_EQ(cells[1].Number("median_ratio"), 0.25);
  EXPECT_NEAR(*cells[1].Number("geomean_ratio"), std::pow(0.5 * 0.25 * 0.5 * 0.125 * 0.25, 0.2),
              1e-6);
  // Two of five are large: d and e.
  EXPECT_NEAR(*cells[1].Number("large_geomean_ratio"), std::sqrt(0.125 * 0.25), 1e-6);
  EXPECT_EQ(cells[1].Number("large_median_ratio"), 0.1875);
  EXPECT_EQ(cells[2].Number("geomean_ratio"), 1) << "beside legacy without a bound";
  EXPECT_FALSE(cells[3].Has("geomean_ratio")) << "legacy has no such trial";
}

TEST(ObjectTimes, AreReplacedCellByCellAndReadBack) {
  sys::MemoryFiles files;
  ASSERT_TRUE(files.MakeFolder("out").ok());
  EXPECT_TRUE(ReadObjects(files, "out").value().empty());
  const ObjectCell cell = {"1", "initial", "auto", "4", "abc", 1};
  ObjectCell next = cell;
  next.trial = 2;
  ASSERT_TRUE(RecordObjects(files, "out", cell, {{"a", 9, 9}, {"b", 9, 9}}).ok());
  ASSERT_TRUE(RecordObjects(files, "out", next, {{"a", 2, 20}}).ok());
  ASSERT_TRUE(RecordObjects(files, "out", cell, {{"a", 1.5, 10}}).ok());
  EXPECT_EQ(files.Read("out/objects.csv", 1 << 20).value(),
            "sf,scenario,flavor,object,object_kind,trial,hydration_seconds,time_ns,pressure,"
            "settings_hash\n"
            "1,initial,auto,a,index,2,2.000000,20,4,abc\n"
            "1,initial,auto,a,index,1,1.500000,10,4,abc\n");
  const auto objects = ReadObjects(files, "out").value();
  ASSERT_EQ(objects.size(), 2U);
  EXPECT_EQ(objects[1].settings_hash, "abc");
  EXPECT_EQ(objects[1].trial, 1);
  EXPECT_EQ(objects[1].time.object, "a");
  EXPECT_EQ(objects[1].time.hydration_s, 1.5);
  EXPECT_EQ(objects[1].time.time_ns, 10);
}

TEST(ObjectTimes, OtherFilesAreRefused) {
  sys::MemoryFiles files;
  ASSERT_TRUE(files.MakeFolder("out").ok());
  ASSERT_TRUE(files.WriteWhole("out/objects.csv", "sf,scenario\n").ok());
  EXPECT_EQ(ReadObjects(files, "out").error().code, Code::kCorrupt);
  EXPECT_FALSE(RecordObjects(files, "out", {}, {}).ok());
}

}  // namespace
}  // namespace weir::experiment
