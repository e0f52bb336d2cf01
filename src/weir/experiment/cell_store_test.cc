#include "weir/experiment/cell_store.h"

#include <nlohmann/json.hpp>
#include <set>

namespace weir::experiment {
namespace {

const Origin kOrigin = {"weir 0.1.0 (abc)", "a machine"};

Cell FinishedCell(const Settings& settings, int trial, double wall_s) {
  Cell cell;
  cell.Set("ladder", "extract").Set("rung", "weir_fast").Set("kind", "narrow");
  cell.Set("trial", int64_t{trial}).Set("wall_s", wall_s).Set("settings_hash", settings.Hash());
  return cell;
}

TEST(Cell, KeysAreDistinctAndIdentifyACell) {
  std::map<std::string_view, int> counts;
  for (const CellKey& key : CellKeys()) ++counts[key.name];
  for (const auto& [name, count] : counts) EXPECT_EQ(count, 1) << name;
  for (const char* name : {"ladder", "rung", "trial", "wall_s", "settings_hash", "io_s"}) {
    EXPECT_TRUE(counts.contains(name)) << name;
  }
  EXPECT_TRUE(CsvHeader().starts_with("ladder,rung,kind,mode,policy,scale_factor,rows,"));
}

TEST(Cell, CsvGivesBackWhatWasSet) {
  Cell cell;
  cell.Set("rung", "odd, \"rung\"").Set("rows", int64_t{1'928'176}).Set("wall_s", 12.0625);
  cell.Set("stime_s", std::optional<double>()).Set("temp_files", int64_t{0});
  const auto read = ParseCells(CsvHeader() + "\n" + cell.CsvLine() + "\n");
  ASSERT_TRUE(read.ok()) << read.error().message;
  ASSERT_EQ(read.value().size(), 1U);
  EXPECT_EQ(read.value()[0], cell);
  EXPECT_EQ(read.value()[0].Number("wall_s"), 12.0625);
  EXPECT_EQ(read.value()[0].Text("rung"), "odd, \"rung\"");
  EXPECT_FALSE(cell.Has("stime_s"));
  EXPECT_EQ(cell.Number("temp_files"), 0);
}

TEST(Cell, JsonHasEveryKeyAndNullForWhatIsAbsent) {
  Cell cell;
  cell.Set("rung", "weir_fast").Set("rows", int64_t{5}).Set("wall_s", 0.25);
  const auto json = nlohmann::json::parse(cell.JsonLine());
  EXPECT_EQ(json.size(), CellKeys().size());
  EXPECT_EQ(json["rung"], "weir_fast");
  EXPECT_EQ(json["rows"], 5);
  EXPECT_EQ(json["wall_s"], 0.25);
  EXPECT_TRUE(json["digest"].is_null());
}

TEST(Cell, MergeTakesWhatIsThereAndLeavesTheRest) {
  Cell cell;
  cell.Set("rung", "a").Set("rows", int64_t{1});
  Cell other;
  other.Set("rows", int64_t{2}).Set("wall_s", 3.0);
  cell.Merge(other);
  EXPECT_EQ(cell.Text("rung"), "a");
  EXPECT_EQ(cell.Text("rows"), "2");
  EXPECT_EQ(cell.Text("wall_s"), "3");
}

TEST(Cell, WhatIsNotACellsFileIsRefusedWithItsLine) {
  const std::string header = "ladder,rung,rows\n";
  struct Case {
    std::string text;
    Code code;
    std::string_view message;
  };
  const Case cases[] = {
      {header + "a,b\n", Code::kCorrupt, "line 2: 2 fields; the header has 3"},
      {header + "a,b,1\na,b,many\n", Code::kCorrupt, "line 3: rows is 'many', which is no number"},
      {"ladder,shape\n", Code::kInvalid, "line 1: column 'shape' is not known to this weir"},
  };
  for (const Case& each : cases) {
    const auto cells = ParseCells(each.text);
    ASSERT_FALSE(cells.ok()) << each.text;
    EXPECT_EQ(cells.error().code, each.code);
    EXPECT_TRUE(cells.error().message.starts_with(each.message)) << cells.error().message;
  }
  // A file with fewer columns, from before a key was added, is read.
  const auto older = ParseCells(header + "a,b,1\n");
  ASSERT_TRUE(older.ok());
  EXPECT_EQ(older.value()[0].Text("rows"), "1");
}

TEST(Settings, HashChangesWithEachSettingItsNameAndItsAbsence) {
  Settings base;
  base.Set("rows", "2000").Set("server.fsync", "off").Set("command", "weir");
  std::set<std::string> hashes = {base.Hash()};
  for (const auto& [name, value] : base.values()) {
    Settings other = base;
    other.Set(name, value + "0");
    EXPECT_TRUE(hashes.insert(other.Hash()).second) << name;
  }
  Settings more = base;
  more.Set("empty", "");
  EXPECT_TRUE(hashes.insert(more.Hash()).second);
  // The same bytes under other borders.
  EXPECT_NE(Settings().Set("a", "b=c").Hash(), Settings().Set("a=b", "c").Hash());

  Settings same;
  same.Set("command", "weir").Set("rows", "2000").Set("server.fsync", "off");
  EXPECT_EQ(same.Hash(), base.Hash());
  Cell cell;
  cell.Set("rows", int64_t{2000});
  EXPECT_EQ(Settings().Set(cell), Settings().Set("rows", "2000"));
}

TEST(CellStore, FindsWhatAnEarlierOneRecorded) {
  sys::MemoryFiles files;
  Settings settings;
  settings.Set("rows", "2000");
  {
    auto store = CellStore::Open(files, "out", kOrigin);
    ASSERT_TRUE(store.ok()) << store.error().message;
    EXPECT_EQ(store.value().Find(settings.Hash(), 1), nullptr);
    ASSERT_TRUE(store.value().Append(FinishedCell(settings, 1, 1.5), settings).ok());
    ASSERT_TRUE(store.value().Append(FinishedCell(settings, 2, 2.5), settings).ok());
  }
  const auto again = CellStore::Open(files, "out", kOrigin);
  ASSERT_TRUE(again.ok()) << again.error().message;
  ASSERT_NE(again.value().Find(settings.Hash(), 2), nullptr);
  EXPECT_EQ(*again.value().Find(settings.Hash(), 2), FinishedCell(settings, 2, 2.5));
  EXPECT_EQ(again.value().Find(settings.Hash(), 3), nullptr);
  EXPECT_EQ(again.value().Find(Settings().Hash(), 1), nullptr);

  const auto read = ReadMeasurements(files, "out");
  ASSERT_TRUE(read.ok()) << read.error().message;
  EXPECT_EQ(read.value().origin.machine, kOrigin.machine);
  EXPECT_EQ(read.value().settings.at(settings.Hash()), settings);
  EXPECT_EQ(read.value().cells.size(), 2U);
}

// Goal:   a file cut off at any byte of its last line gives the cells before it, and can go on.
// Method: cut at every byte, open, append what is missing, compare with the whole file.
TEST(CellStore, ATornLastLineIsDroppedAndMeasuredAgain) {
  sys::MemoryFiles whole_files;
  Settings settings;
  settings.Set("rows", "2000");
  auto whole = CellStore::Open(whole_files, "out", kOrigin).value();
  for (int trial = 1; trial <= 2; ++trial) {
    ASSERT_TRUE(whole.Append(FinishedCell(settings, trial, 1.5), settings).ok());
  }
  const std::string text = whole_files.Read("out/cells.csv", 1 << 20).value();
  const std::string origin = whole_files.Read("out/settings.json", 1 << 20).value();
  const size_t last_line = text.rfind('\n', text.size() - 2) + 1;
  for (size_t length = last_line; length < text.size(); ++length) {
    sys::MemoryFiles files;
    ASSERT_TRUE(files.MakeFolder("out").ok());
    ASSERT_TRUE(files.WriteWhole("out/settings.json", origin).ok());
    ASSERT_TRUE(files.WriteWhole("out/cells.csv", text.substr(0, length)).ok());
    auto store = CellStore::Open(files, "out", kOrigin);
    ASSERT_TRUE(store.ok()) << store.error().message;
    ASSERT_NE(store.value().Find(settings.Hash(), 1), nullptr) << length;
    ASSERT_EQ(store.value().Find(settings.Hash(), 2), nullptr) << length;
    ASSERT_TRUE(store.value().Append(FinishedCell(settings, 2, 1.5), settings).ok());
    ASSERT_EQ(files.Read("out/cells.csv", 1 << 20).value(), text) << length;
  }
}

TEST(CellStore, ADiskThatFailsAtAnyStepLosesNoFinishedCell) {
  Settings settings;
  settings.Set("rows", "2000");
  bool failed = true;
  for (int64_t steps = 0; failed; ++steps) {
    sys::MemoryFiles files;
    ASSERT_TRUE(CellStore::Open(files, "out", kOrigin)
                    .value()
                    .Append(FinishedCell(settings, 1, 1.5), settings)
                    .ok());
    sys::FailingFiles failing(files, steps, Fail(Code::kExhausted, "full"));
    auto store = CellStore::Open(failing, "out", kOrigin);
    failed = !store.ok() || !store.value().Append(FinishedCell(settings, 2, 2), settings).ok();
    const auto read = ReadMeasurements(files, "out");
    ASSERT_TRUE(read.ok()) << read.error().message;
    ASSERT_GE(read.value().cells.size(), 1U) << steps;
    ASSERT_LT(steps, 100);
  }
}

TEST(CellStore, OtherOriginsAndOtherWritersAreRefused) {
  sys::MemoryFiles files;
  Settings settings;
  settings.Set("rows", "2000");
  auto store = CellStore::Open(files, "out", kOrigin).value();
  ASSERT_TRUE(store.Append(FinishedCell(settings, 1, 1.5), settings).ok());

  const auto newer = CellStore::Open(files, "out", {"weir 0.2.0 (def)", "a machine"});
  ASSERT_FALSE(newer.ok());
  EXPECT_EQ(newer.error().message,
            "'out' holds cells of weir 0.1.0 (abc) on a machine; this is weir 0.2.0 (def) on a "
            "machine: choose another folder");

  auto other = CellStore::Open(files, "out", kOrigin).value();
  ASSERT_TRUE(other.Append(FinishedCell(settings, 2, 1.5), settings).ok());
  const auto late = store.Append(FinishedCell(settings, 3, 1.5), settings);
  ASSERT_FALSE(late.ok());
  EXPECT_NE(late.error().message.find("another process writes"), std::string::npos);

  ASSERT_TRUE(files.Remove("out/settings.json").ok());
  const auto bare = CellStore::Open(files, "out", kOrigin);
  ASSERT_FALSE(bare.ok());
  EXPECT_EQ(bare.error().code, Code::kCorrupt);
  const auto missing = ReadMeasurements(files, "nowhere");
  ASSERT_FALSE(missing.ok());
  EXPECT_EQ(missing.error().code, Code::kNotFound);
}

}  // namespace
}  // namespace weir::experiment
