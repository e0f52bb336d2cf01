#include "weir/experiment/memory_cgroup.h"

#include <unistd.h>

#include <filesystem>

#include "tests/support/folder.h"
#include "weir/base/units.h"
#include "weir/experiment/child_run.h"
#include "weir/experiment/swap_file.h"

namespace weir::experiment {
namespace {

TEST(MemoryCgroup, ReadsWhatBothKindsOfKernelsTell) {
  const test::TempFolder v1;
  v1.Write("memory.usage_in_bytes", "1000\n");
  v1.Write("memory.stat",
           "cache 7\nswap 1\ntotal_cache 9\ntotal_rss 600\ntotal_swap 50\n"
           "total_inactive_file 300\n");
  const test::TempFolder v2;
  v2.Write("memory.current", "1000\n");
  v2.Write("memory.swap.current", "50\n");
  v2.Write("memory.stat", "anon 600\nfile 400\ninactive_file 300\nactive_file 100\n");
  for (const MemoryUse& use : {ReadMemoryUse(v1.path(), CgroupVersion::kV1),
                               ReadMemoryUse(v2.path(), CgroupVersion::kV2)}) {
    EXPECT_EQ(use.usage, 1000);
    EXPECT_EQ(use.working_set, 700);
    EXPECT_EQ(use.swap, 50);
    EXPECT_EQ(use.anonymous, 600);
  }
  EXPECT_EQ(ReadMemoryUse("/no/such/group", CgroupVersion::kV1).usage, 0);
}

TEST(SwapFile, NamesWhatIsOn) {
  EXPECT_TRUE(SwapsIn("Filename\tType\tSize\tUsed\tPriority\n").empty());
  EXPECT_EQ(SwapsIn("Filename\tType\tSize\tUsed\tPriority\n/dev/sda2 partition 8 0 -2\n"
                    "/a\\040b/swap   file 4 0 -3\n"),
            (std::vector<std::string>{"/dev/sda2", "/a b/swap"}));
}

TEST(SwapFile, IsRefusedToWhoIsNotRoot) {
  if (geteuid() == 0) GTEST_SKIP() << "needs another user than root";
  const test::TempFolder folder;
  EXPECT_EQ(SwapFile::Make(folder.Path("swap"), 16 * kMiB).error().code, Code::kUsage);
  sys::RealClock clock;
  EXPECT_EQ(MemoryCgroup::Make(0, clock).error().code, Code::kUsage);
}

// Needs a machine that is ours: root, a memory controller, a file system that can hold swap.
TEST(MemoryCgroup, HoldsAChildToItsLimitAndTheRestGoesToSwap) {
  const test::TempFolder folder;
  const std::string path = folder.Path("swap");
  sys::RealClock clock;
  const sys::Stop never;
  if (geteuid() != 0) GTEST_SKIP() << "needs root";
  auto group = MemoryCgroup::Make(32 * kMiB, clock);
  if (!group.ok()) GTEST_SKIP() << group.error().message;
  {
    auto swap = SwapFile::Make(path, 160 * kMiB);
    if (!swap.ok()) GTEST_SKIP() << swap.error().message;
    ChildCommand command;
    // tail keeps all of it.
    command.argv = {"/bin/sh", "-c", "head -c 96M /dev/zero | tail -n 1 | wc -c"};
    command.folder = folder.path();
    command.group_path = group.value()->procs_path();
    const auto run = RunChild(command, clock, never);
    ASSERT_TRUE(run.ok()) << run.error().message;
    EXPECT_EQ(run.value().output, std::to_string(96 * kMiB) + "\n");
    const MemoryUse peaks = group.value()->peaks();
    EXPECT_LE(peaks.usage, 32 * kMiB);
    EXPECT_GT(peaks.swap, 48 * kMiB);
    EXPECT_GT(peaks.anonymous, kMiB);
    EXPECT_NE(ActiveSwaps(), std::vector<std::string>());
  }
  EXPECT_FALSE(std::filesystem::exists(path));
}

// The first page of a swap file.
std::string SwapHeader(const std::string& label) {
  std::string page(static_cast<size_t>(sysconf(_SC_PAGESIZE)), '\0');
  page.replace(1052, label.size(), label);
  page.replace(page.size() - 10, 10, "SWAPSPACE2");
  return page;
}

TEST(SwapFile, WhatAKilledProcessLeftIsTurnedOffAndRemoved) {
  if (geteuid() != 0) GTEST_SKIP() << "swap is root's to turn off";
  const test::TempFolder folder;
  folder.Write("swap", SwapHeader("weir bench"));
  const Status removed = SwapFile::RemoveStale(folder.Path("swap"));
  EXPECT_TRUE(removed.ok()) << removed.error().message;
  EXPECT_FALSE(std::filesystem::exists(folder.Path("swap")));
  EXPECT_TRUE(SwapFile::RemoveStale(folder.Path("swap")).ok());
}

TEST(SwapFile, WhatOthersPutInItsPlaceStays) {
  const test::TempFolder folder;
  const std::string path = folder.Path("swap");
  for (const std::string& text : {std::string("notes"), std::string(), SwapHeader("data"),
                                  SwapHeader("weir bench 2"), std::string(1 << 16, 'x')}) {
    folder.Write("swap", text);
    const Status removed = SwapFile::RemoveStale(path);
    ASSERT_FALSE(removed.ok());
    EXPECT_EQ(removed.error().code, Code::kInvalid);
    EXPECT_NE(removed.error().message.find(path), std::string::npos);
    EXPECT_EQ(folder.Read("swap"), text);
  }
}

}  // namespace
}  // namespace weir::experiment
