// The rules of hydration that take the program to show (docs/decisions/hydration-rules.md).
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "tests/support/program.h"
#include "weir/base/error.h"

namespace weir {
namespace {

using nlohmann::json;
using test::Ended;

constexpr const char* kLineitemKeys[] = {
    "l_partkey, l_suppkey", "l_orderkey, l_linenumber", "l_shipdate",    "l_suppkey",
    "l_comment",            "l_receiptdate",            "l_extendedprice", "l_commitdate",
    "l_quantity",           "l_shipmode",               "l_discount",    "l_tax",
    "l_returnflag",         "l_partkey"};

class HydrationRule : public testing::Test {
 protected:
  std::vector<std::string> Command(std::string_view scale_factor, size_t index_count,
                                   std::vector<std::string> flags) {
    std::string sql = fmt::format(
        "CREATE SOURCE t FROM LOAD GENERATOR TPCH (SCALE FACTOR {});", scale_factor);
    for (size_t at = 0; at < index_count; ++at) {
      sql += fmt::format("CREATE INDEX i{} ON lineitem ({});", at, kLineitemKeys[at]);
    }
    std::vector<std::string> argv = {WEIR_PROGRAM, "hydrate", folder_.Write("t.sql", sql),
                                     "--json",     "--digest", "--spill-dir", spill_.path()};
    argv.insert(argv.end(), flags.begin(), flags.end());
    return argv;
  }
  json Hydrate(std::string_view scale_factor, size_t index_count,
               const std::vector<std::string>& flags) {
    const Ended ended = test::RunProgram(Command(scale_factor, index_count, flags));
    EXPECT_EQ(ended.code, 0) << ended.err;
    return ended.code == 0 ? json::parse(ended.out) : json();
  }
  static std::vector<std::string> Digests(const json& run) {
    std::vector<std::string> digests;
    for (const json& object : run.at("objects")) {
      EXPECT_EQ(object.at("status"), "hydrated");
      digests.push_back(object.at("digest"));
    }
    return digests;
  }
  static json Setting(const json& run, std::string_view name) {
    for (const json& setting : run.at("settings")) {
      if (setting.at("name") == name) return setting;
    }
    ADD_FAILURE() << "there is no setting " << name;
    return {};
  }

  test::TempFolder folder_;
  test::TempFolder spill_;
};

// D3, D12. One spill thread for four workers, two at least; nothing is spilled ahead of need.
TEST_F(HydrationRule, D3AndD12DefaultsFollowTheWorkers) {
  for (const auto& [workers, threads] : {std::pair{"1", "2"}, {"8", "2"}, {"16", "4"}}) {
    const json run = Hydrate("0.001", 1, {"--workers", workers});
    const json setting = Setting(run, "spill-threads");
    EXPECT_EQ(setting.at("origin"), "default");
    EXPECT_EQ(setting.at("value"), std::string(threads)) << workers;
    const std::string eager = Setting(run, "eager-backing").at("value");
    EXPECT_TRUE(eager == "0" || eager == "off" || eager == "false") << eager;
  }
  // None at all: whoever needs memory spills, and nothing hangs.
  const json run = Hydrate("0.1", 2, {"--memory", "72MiB", "--spill-threads", "0"});
  EXPECT_GT(run.at("pool").at("extent_bytes_written"), 0);
  EXPECT_GT(run.at("pool").at("producer_evictions"), 0);
}

// D15. Final indexes included, the program stays within its memory, however large they are.
TEST_F(HydrationRule, D15PeakMemoryDoesNotGrowWithTheData) {
  constexpr int64_t kMemory = 128 << 20;
  constexpr int64_t kRowBytes = 88;  // Of a lineitem in a leaf.
  std::vector<std::pair<int, size_t>> runs = {{8, 7}};
  if (std::getenv("WEIR_LONG") != nullptr) runs = {{4, 4}, {8, 7}, {16, 14}};
  for (const auto& [pressure, index_count] : runs) {
    const json run = Hydrate("0.3", index_count, {"--memory", "128MiB", "--workers", "2"});
    int64_t rows = 0;
    for (const json& object : run.at("objects")) rows += object.at("rows").get<int64_t>();
    EXPECT_GE(rows * kRowBytes, pressure * kMemory);
    EXPECT_LE(run.at("peak_anonymous_bytes"), kMemory) << pressure;
    EXPECT_LE(run.at("peak_charged_bytes"), kMemory) << pressure;
    const auto digests = Digests(run);
    for (size_t at = 0; at < digests.size(); ++at) {
      const auto expected = run.at("objects")[at].at("rows_expected").get<int64_t>();
      EXPECT_TRUE(digests[at].starts_with(fmt::format("{}:", expected)));
    }
  }
}

// D20. A run says what it spent: processor time by what for, waits, memory, bytes. Threads that
// spill are in it, and what no activity explains stands apart.
TEST_F(HydrationRule, D20ARunSaysWhatItSpent) {
  const json run = Hydrate("0.1", 2, {"--memory", "72MiB"});
  EXPECT_GT(run.at("pool").at("extent_bytes_written"), 0);
  for (const char* name : {"utime_s", "stime_s", "major_faults", "peak_anonymous_bytes"}) {
    EXPECT_TRUE(run.at(name).is_number()) << name;
  }
  for (const char* name : {"extent_bytes_written", "extent_bytes_read", "producer_evictions"}) {
    EXPECT_TRUE(run.at("pool").at(name).is_number()) << name;
  }
  double explained_s = 0;
  for (const auto& [activity, seconds] : run.at("cpu_s").items()) {
    if (activity != "uncounted") explained_s += seconds.get<double>();
  }
  const double spent_s = run.at("utime_s").get<double>() + run.at("stime_s").get<double>();
  const double uncounted_s = run.at("cpu_s").at("uncounted");
  EXPECT_GE(explained_s, 0.95 * spent_s);
  EXPECT_LE(explained_s, 1.05 * spent_s);
  EXPECT_NEAR(uncounted_s, std::max(0.0, spent_s - explained_s), 1e-6);
  for (const char* name : {"spill", "read", "budget", "fault"}) {
    EXPECT_TRUE(run.at("wait_s").at(name).is_number()) << name;
  }
}

// Whether the program has begun to spill.
bool HasSpilled(pid_t pid, const std::string& folder) {
  std::error_code gone;
  for (const auto& entry :
       std::filesystem::directory_iterator(fmt::format("/proc/{}/fd", pid), gone)) {
    struct stat file{};
    const auto target = std::filesystem::read_symlink(entry.path(), gone).string();
    if (target.starts_with(folder) && stat(entry.path().c_str(), &file) == 0 && file.st_size > 0) {
      return true;
    }
  }
  return false;
}

// D22. Killed in the middle, it leaves nothing behind, and the next run is as good as any.
TEST_F(HydrationRule, D22AKilledRunLeavesNothingAndTheNextOneWorks) {
  const std::vector<std::string> flags = {"--memory", "80MiB"};
  const auto want = Digests(Hydrate("0.1", 3, {}));
  for (int kill = 0; kill < 3; ++kill) {
    test::Program program(Command("0.1", 3, flags));
    ASSERT_TRUE(program.Until([&] { return HasSpilled(program.pid(), spill_.path()); }));
    program.Signal(SIGKILL);
    EXPECT_EQ(program.Wait().code, 128 + SIGKILL);
    EXPECT_TRUE(std::filesystem::is_empty(spill_.path()));
  }
  EXPECT_EQ(Digests(Hydrate("0.1", 3, flags)), want);
  EXPECT_TRUE(std::filesystem::is_empty(spill_.path()));
}

// D24. What is not known is an error, before anything is done; what is set is printed.
TEST_F(HydrationRule, D24UnknownSettingsAreErrors) {
  const std::vector<std::vector<std::string>> wrong = {
      {"--spill-thread", "2"},      {"--pager", "on"},     {"--spill-handoff", "wait"},
      {"--compress-min-depth", "256"}, {"--workers", "0"}, {"--budget-fraction", "2"},
      {"--spill-limit", "much"},    {"--batcher", "columnation"}};
  for (const auto& flags : wrong) {
    const Ended ended = test::RunProgram(Command("0.001", 1, flags));
    EXPECT_EQ(ended.code, 64) << flags[0] << ": " << ended.err;
    EXPECT_EQ(ended.out, "");
    EXPECT_NE(ended.err.find(flags[0].substr(2)), std::string::npos) << ended.err;
  }
  const json run = Hydrate("0.001", 1, {"--spill-threads", "3", "--memory", "1GiB"});
  EXPECT_EQ(Setting(run, "spill-threads").at("value"), "3");
  EXPECT_EQ(Setting(run, "spill-threads").at("origin"), "command line");
  EXPECT_EQ(Setting(run, "workers").at("origin"), "default");
  EXPECT_FALSE(Setting(run, "workers").at("value").get<std::string>().empty());
}

}  // namespace
}  // namespace weir
