#include "weir/experiment/hydrate_cells.h"

#include "tests/support/folder.h"
#include "weir/base/units.h"
#include "weir/experiment/device_rate.h"
#include "weir/experiment/limited_cells.h"
#include "weir/experiment/stray_settings.h"
#include "weir/experiment/warm_up.h"

namespace weir::experiment {
namespace {

Cell Parameters(const std::string& kind, const std::string& rung, const std::string& pressure) {
  Cell cell;
  cell.Set("ladder", "hydrate").Set("kind", kind).Set("rung", rung).Set("pressure", pressure);
  cell.Set("scale_factor", "1").Set("order", "shuffled").Set("objects", "indexes");
  cell.Set("workers", "2").Set("concurrency", "1");
  return cell;
}

// Adds a trial for each cell of what was measured.
void AddRung(Measurements& all, const Cell& parameters, const std::vector<Cell>& trials) {
  Settings settings;
  settings.Set(parameters);
  all.settings[settings.Hash()] = settings;
  int64_t trial = 0;
  for (const Cell& measured : trials) {
    Cell cell = parameters;
    cell.Merge(measured).Set("trial", ++trial).Set("settings_hash", settings.Hash());
    all.cells.push_back(cell);
  }
}

Cell Span(double seconds) { return Cell().Set("span_s", seconds); }

// The one line whose measure ends so.
TargetLine LineOf(const Measurements& all, const std::string& end) {
  const std::vector<TargetLine> lines = HydrateTargets(all);
  for (const TargetLine& line : lines) {
    if (line.measure.ends_with(end)) return line;
  }
  ADD_FAILURE() << "no line ends with '" << end << "'";
  return {};
}

TEST(HydrateTargets, RatiosAreOfCellsOfOneTrial) {
  Measurements all;
  AddRung(all, Parameters("indexes", "legacy", "0"), {Span(10), Span(20), Span(30)});
  AddRung(all, Parameters("indexes", "auto", "0"), {Span(4), Span(12), Span(15)});
  const TargetLine line = LineOf(all, "span, auto / legacy");
  EXPECT_EQ(line.measure, "SF 1, shuffled, 2 workers, hc 1: span, auto / legacy");
  EXPECT_EQ(line.measured, "0.500 [0.400–0.600]");
  EXPECT_EQ(line.verdict, "pass");
  EXPECT_EQ(LineOf(all, "span, paged / legacy").verdict, "not measured");
}

TEST(HydrateTargets, MemoryAndAmplificationAreJudgedByTheWorstTrial) {
  const auto cell = [](int64_t peak, int64_t raw) {
    return Cell().Set("memory_bytes", int64_t{200}).Set("peak_anonymous_bytes", peak)
        .Set("extent_raw_bytes_written", raw).Set("update_bytes", int64_t{800});
  };
  Measurements all;
  AddRung(all, Parameters("indexes", "auto", "4"), {cell(190, 1200), cell(200, 1280)});
  AddRung(all, Parameters("indexes", "auto", "0.9"), {cell(201, 0), cell(190, 8)});
  const std::string amplification = "extent bytes before compression / update bytes";
  EXPECT_EQ(LineOf(all, "at pressure 4: peak anonymous memory, highest of all trials").verdict,
            "pass");
  EXPECT_EQ(LineOf(all, "at pressure 0.9: peak anonymous memory, highest of all trials").verdict,
            "miss");
  const TargetLine at_four = LineOf(all, "at pressure 4: " + amplification);
  EXPECT_EQ(at_four.measured, "1.550 [1.500–1.600]");
  EXPECT_EQ(at_four.target, "at most 1.60");
  EXPECT_EQ(at_four.verdict, "pass");
  EXPECT_EQ(LineOf(all, "at pressure 0.9: " + amplification).verdict, "miss");

  all.cells.front().Set("void", "spilled nothing");
  EXPECT_EQ(LineOf(all, "at pressure 4: " + amplification).verdict, "void");
  all.settings.begin()->second.Set("swap", "/dev/sda2");
  std::next(all.settings.begin())->second.Set("swap", "/dev/sda2");
  EXPECT_EQ(LineOf(all, "at pressure 4: peak anonymous memory, highest of all trials").verdict,
            "void");
}

TEST(HydrateTargets, DigestsAreEqualAcrossLaddersAndWorkers) {
  Measurements all;
  AddRung(all, Parameters("indexes", "legacy", "0"), {Cell().Set("digest", "x")});
  AddRung(all, Parameters("sweep_eager", "auto", "4").Set("workers", "16"),
          {Cell().Set("digest", "x")});
  EXPECT_EQ(LineOf(all, "digests of all cells").verdict, "pass");
  all.cells.back().Set("digest", "y");
  EXPECT_EQ(LineOf(all, "digests of all cells").verdict, "miss");
}

Measurements LimitedExample(double auto_span) {
  Measurements all;
  AddRung(all, Parameters("limited", "auto", "0"), {Span(10)});
  AddRung(all, Parameters("limited", "legacy", "5"),
          {Span(90).Set("peak_swap_bytes", int64_t{800}).Set("peak_working_set_bytes", int64_t{200})
               .Set("limit_bytes", int64_t{200})});
  AddRung(all, Parameters("limited", "auto", "5"),
          {Span(auto_span).Set("device_written_bytes", int64_t{1000})
               .Set("device_read_bytes", int64_t{600})});
  AddRung(all, Parameters("device", "sequential", ""),
          {Cell().Set("write_bytes_per_s", 100.0).Set("read_bytes_per_s", 100.0)});
  return all;
}

TEST(LimitedTargets, TheLargerOfItsOwnSpanAndTheDisksIsAllowed) {
  // 1.8 x 10 s of its own; 1.25 x (10 s + 6 s) of the disk.
  Measurements all = LimitedExample(20);
  EXPECT_EQ(LineOf(all, "span of auto, s").verdict, "pass");
  EXPECT_EQ(LineOf(all, "legacy on swap / auto").verdict, "pass");
  EXPECT_EQ(LineOf(all, "peak working set of legacy) / limit").measured, "5.000");
  all = LimitedExample(31);
  EXPECT_EQ(LineOf(all, "span of auto, s").verdict, "miss");
  EXPECT_EQ(LineOf(all, "legacy on swap / auto").verdict, "miss");
  all.cells[2].Set("void", "spilled nothing");
  EXPECT_EQ(LineOf(all, "span of auto, s").verdict, "void");
}

TEST(LimitedCells, ALimitHoldsTheLeastMemoryAndAMargin) {
  EXPECT_EQ(LimitAt(5 * kGiB, 5), kGiB);
  EXPECT_EQ(MemoryWithin(kGiB), kGiB - 64 * kMiB);
  EXPECT_EQ(LimitAt(100 * kMiB, 5), 144 * kMiB);
  EXPECT_EQ(MemoryWithin(144 * kMiB), 128 * kMiB);
}

Measurements ThreadSweep(size_t trials, double dearest) {
  Measurements all;
  AddRung(all, Parameters("sweep_threads", "legacy", "0"), std::vector<Cell>(trials, Span(10)));
  for (const char* threads : {"1", "2", "4", "8"}) {
    const double seconds = *threads == '8' ? dearest : 10;
    Cell measured = Span(12).Set("utime_s", seconds - 1).Set("stime_s", 1.0);
    AddRung(all,
            Parameters("sweep_threads", "auto", "4").Set("spill_threads", threads)
                .Set("spill_handoff", "help"),
            std::vector<Cell>(trials, measured));
  }
  return all;
}

TEST(SweepTargets, UnderHelpThreadsMayNotChangeTheProcessorSeconds) {
  const std::string variation = "user + system s over the spill threads";
  EXPECT_EQ(LineOf(ThreadSweep(5, 10.9), variation).verdict, "pass");
  EXPECT_EQ(LineOf(ThreadSweep(5, 10.9), variation).measured, "9.0 %");
  EXPECT_EQ(LineOf(ThreadSweep(5, 11.5), variation).verdict, "miss");
  EXPECT_EQ(LineOf(ThreadSweep(4, 10.9), variation).verdict, "not measured");
  EXPECT_EQ(LineOf(ThreadSweep(5, 10.9), "span / legacy, by spill threads").measured,
            "1: 1.200, 2: 1.200, 4: 1.200, 8: 1.200");
}

TEST(PeerTargets, AreRatiosByIndexAndMemory) {
  Measurements all;
  const std::string index = "lineitem (l_partkey, l_suppkey)";
  AddRung(all, Parameters("peer", "auto", "4").Set("objects", index), {Span(2)});
  AddRung(all, Parameters("peer", "duckdb", "4").Set("objects", index), {Span(5)});
  const TargetLine line = LineOf(all, "span, auto / DuckDB");
  EXPECT_EQ(line.measure, "SF 1, shuffled, 2 workers, hc 1, " + index +
                              " in 1/4 of its bytes: span, auto / DuckDB");
  EXPECT_EQ(line.verdict, "pass");
}

TEST(StraySettings, OfTheEnvironmentAreRefusedByName) {
  EXPECT_TRUE(CheckEnvironment({"PATH=/bin", "WEIR_FAULT=cell_store.recorded:2"}).ok());
  for (const char* stray : {"WEIR_FAULT=spill.write=fail", "WEIR_BUDGET=1", "MALLOC_ARENA_MAX=1",
                            "LD_PRELOAD=x.so", "GLIBC_TUNABLES=y"}) {
    const Status refused = CheckEnvironment({"PATH=/bin", stray});
    ASSERT_FALSE(refused.ok()) << stray;
    EXPECT_EQ(refused.error().code, Code::kUsage);
  }
  EXPECT_EQ(CheckEnvironment({"WEIR_BUDGET=1"}).error().message,
            "WEIR_BUDGET is set and would change what is measured: unset it");
}

TEST(StraySettings, ALimitNeedsRootNoSwapAndNoLimitAround) {
  const LimitPlace good = {true, {}, kGiB, kGiB};
  EXPECT_TRUE(CheckLimitPlace(good).ok());
  LimitPlace place = good;
  place.root = false;
  EXPECT_NE(CheckLimitPlace(place).error().message.find("root"), std::string::npos);
  place = good;
  place.swaps = {"/dev/sda2"};
  EXPECT_NE(CheckLimitPlace(place).error().message.find("'/dev/sda2'"), std::string::npos);
  place = good;
  place.usable_memory_bytes = kMiB;
  EXPECT_NE(CheckLimitPlace(place).error().message.find("1.0 MiB of 1.0 GiB"), std::string::npos);
}

TEST(DeviceRate, IsOfWhatWasWrittenAndReadBack) {
  const test::TempFolder folder;
  sys::RealClock clock;
  const auto rate = MeasureDeviceRate(folder.path(), 4 * kMiB, clock);
  ASSERT_TRUE(rate.ok()) << rate.error().message;
  EXPECT_GT(rate.value().write_bytes_per_s, 0);
  EXPECT_GT(rate.value().read_bytes_per_s, 0);
  EXPECT_FALSE(MeasureDeviceRate("/no/such/folder", kMiB, clock).ok());
}

TEST(WarmUp, ReadsFilesAndNamesThoseThatAreNotThere) {
  const test::TempFolder folder;
  EXPECT_TRUE(ReadThrough(folder.Write("part", "bytes")).ok());
  EXPECT_EQ(ReadThrough(folder.Path("none")).error().code, Code::kNotFound);
  TouchMemory(kMiB);
}

}  // namespace
}  // namespace weir::experiment
