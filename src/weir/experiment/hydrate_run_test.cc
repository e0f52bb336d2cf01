#include "weir/experiment/hydrate_run.h"

namespace weir::experiment {
namespace {

constexpr const char* kPrinted = R"({
  "objects": [
    {"object": "a", "status": "hydrated", "hydration_ns": 1000000000, "time_ns": 2000000000,
     "error": null, "digest": "1:x", "content_hash": "1:-5"},
    {"object": "b", "status": "hydrated", "hydration_ns": 4000000000, "time_ns": 6000000000,
     "error": null, "digest": "2:y"}],
  "cpu_s": {"decode": 1, "encode": 0.5, "exchange": 2, "sort": 3, "merge": 0.25, "copy": 1.5,
            "codec": 0.5, "io": 0.125, "other": 0.125, "uncounted": 1},
  "wait_s": {"spill": 0.1, "read": 0.2, "budget": 0.3, "meet": 0.5, "fault": 0.4},
  "utime_s": 8, "major_faults": 4, "stime_s": 2, "peak_anonymous_bytes": 100, "update_bytes": 50,
  "device_read_bytes": 7, "device_written_bytes": 8, "fewest_busy_cores": 1.5,
  "spill_pinned_s": 0.5, "ledger_gap_bytes": 9,
  "probes": {"index": "b", "sorted": {"count": 100, "seconds": 0.5, "digest": "s"},
             "random": {"count": 10, "seconds": 0.5, "digest": "r"}},
  "pool": {"extent_bytes_written": 3, "extent_raw_bytes_written": 5, "extent_bytes_read": 2}})";

TEST(HydrateRun, TakesOverWhatWasPrinted) {
  const auto run = ReadHydrateOutput(kPrinted);
  ASSERT_TRUE(run.ok()) << run.error().message;
  const Cell& cell = run.value().cell;
  struct Case {
    const char* key;
    double value;
  };
  for (const Case& each :
       {Case{"span_s", 6}, Case{"sum_time_ns", 8e9}, Case{"objects_done", 2}, Case{"geomean_s", 2},
        Case{"decode_s", 1}, Case{"encode_s", 0.5}, Case{"exchange_s", 2}, Case{"sort_s", 3},
        Case{"merge_s", 0.25}, Case{"copy_s", 1.5}, Case{"codec_s", 0.5}, Case{"io_s", 0.125},
        Case{"other_s", 0.125}, Case{"uncounted_s", 1}, Case{"cpu_split_ratio", 0.9},
        Case{"wait_spill_s", 0.1}, Case{"wait_read_s", 0.2}, Case{"wait_budget_s", 0.3},
        Case{"wait_fault_s", 0.4}, Case{"wait_meet_s", 0.5}, Case{"utime_s", 8},
        Case{"stime_s", 2}, Case{"major_faults", 4},
        Case{"peak_anonymous_bytes", 100}, Case{"update_bytes", 50}, Case{"device_read_bytes", 7},
        Case{"device_written_bytes", 8}, Case{"fewest_busy_cores", 1.5},
        Case{"spill_pinned_s", 0.5}, Case{"ledger_gap_bytes", 9}, Case{"probe_sorted_per_s", 200},
        Case{"probe_random_per_s", 20}, Case{"extent_raw_bytes_written", 5}}) {
    EXPECT_EQ(cell.Number(each.key), each.value) << each.key;
  }
  EXPECT_EQ(cell.Text("digest").size(), 16U);
  EXPECT_EQ(cell.Text("probe_digest").size(), 16U);
  EXPECT_EQ(cell.Text("content_hash"), OneDigest({"1:-5"}));
  ASSERT_EQ(run.value().objects.size(), 2U);
  EXPECT_EQ(run.value().objects[1].object, "b");
  EXPECT_EQ(run.value().objects[1].hydration_s, 4);
}

TEST(HydrateRun, WhatWasNotPrintedLeavesItsColumnOut) {
  const auto run = ReadHydrateOutput(R"({"objects": [], "pool": {}, "probes": null})");
  ASSERT_TRUE(run.ok()) << run.error().message;
  for (const char* key : {"decode_s", "cpu_split_ratio", "wait_read_s", "probe_digest", "digest"}) {
    EXPECT_FALSE(run.value().cell.Has(key)) << key;
  }
}

TEST(HydrateRun, RefusesOtherOutputAndObjectsThatFailed) {
  EXPECT_EQ(ReadHydrateOutput("weir").error().code, Code::kCorrupt);
  EXPECT_EQ(ReadHydrateOutput("{}").error().code, Code::kCorrupt);
  const auto failed = ReadHydrateOutput(
      R"({"objects": [{"object": "a", "status": "failed", "time_ns": null, "error": "disk full"}],
          "pool": {}})");
  ASSERT_FALSE(failed.ok());
  EXPECT_EQ(failed.error().message, "a is failed: disk full");
}

TEST(HydrateRun, RungsThatSpilledNothingAreVoid) {
  Cell none;
  none.Set("extent_bytes_written", int64_t{0}).Set("peak_swap_bytes", int64_t{0});
  Cell swapped = none;
  swapped.Set("peak_swap_bytes", int64_t{4096});
  Cell spilled = none;
  spilled.Set("extent_bytes_written", int64_t{4096});
  for (const char* batcher : {"auto", "paged_spill", "paged_lz4"}) {
    EXPECT_EQ(VoidReason(batcher, none), "spilled nothing") << batcher;
    EXPECT_EQ(VoidReason(batcher, swapped), "spilled nothing") << batcher;
    EXPECT_EQ(VoidReason(batcher, spilled), "") << batcher;
  }
  for (const char* batcher : {"legacy", "paged_pageout"}) {
    EXPECT_EQ(VoidReason(batcher, spilled), "spilled nothing") << batcher;
    EXPECT_EQ(VoidReason(batcher, swapped), "") << batcher;
  }
}

TEST(HydrateRun, SettingsHoldTheCallWithoutPathsAndMemoryOnlyWhereItIsHeeded) {
  HydrateCall call;
  call.batcher = "auto";
  call.memory_bytes = 5;
  EXPECT_EQ(CommandText(call),
            "weir hydrate FILE --json --digest --batcher auto --memory M");
  call.batcher = "paged_malloc";
  EXPECT_EQ(CommandText(call), "weir hydrate FILE --json --digest --batcher paged_malloc");
}

}  // namespace
}  // namespace weir::experiment
