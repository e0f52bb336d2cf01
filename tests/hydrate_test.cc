// weir hydrate as people run it: a SQL file in, indexes out, the same whatever builds them.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include <csignal>

#include "tests/support/postgres.h"
#include "tests/support/program.h"

namespace weir {
namespace {

using nlohmann::json;
using test::Ended;
using test::RunProgram;

class HydrateTest : public testing::Test {
 protected:
  Ended Hydrate(const std::string& path, std::vector<std::string> flags = {}) {
    flags.insert(flags.begin(), {WEIR_PROGRAM, "hydrate", path});
    return RunProgram(flags);
  }
  Ended HydrateSql(const std::string& sql, std::vector<std::string> flags = {}) {
    return Hydrate(folder_.Write("t.sql", sql), std::move(flags));
  }
  // What every index holds, by name.
  static std::map<std::string, std::string> Digests(const Ended& ended) {
    EXPECT_EQ(ended.code, 0) << ended.err;
    std::map<std::string, std::string> digests;
    const json all = json::parse(ended.out);
    for (const auto& object : all.at("objects")) {
      EXPECT_EQ(object.at("status"), "hydrated");
      EXPECT_EQ(object.at("rows"), object.at("rows_expected"));
      digests[object.at("object")] = object.at("digest");
    }
    return digests;
  }

  test::TempFolder folder_;
};

// The example of the documentation, on every batcher, at one and at three workers, in memory and
// out of it.
TEST_F(HydrateTest, TheExamplesIndexesAreTheSameWhateverBuildsThem) {
  std::map<std::string, std::string> want;
  const std::tuple<const char*, const char*, bool> kinds[] = {
      {"auto", "1", true},   {"auto", "3", true},         {"legacy", "2", false},
      {"paged", "2", false}, {"paged_malloc", "3", false}, {"paged_spill", "2", true},
      {"legacy", "1", false}, {"paged_lz4", "1", true}};
  for (const auto& [batcher, workers, spills] : kinds) {
    std::vector<std::string> flags = {"--json",  "--digest",  "--batcher",
                                      batcher, "--workers", workers};
    if (spills) {
      flags.insert(flags.end(), {"--memory", "160MiB", "--spill-dir", folder_.path()});
    }
    const auto digests = Digests(Hydrate(WEIR_EXAMPLES "/tpch_indexes.sql", flags));
    if (want.empty()) want = digests;
    EXPECT_EQ(digests, want) << batcher << " " << workers;
  }
  EXPECT_EQ(want.size(), 18U);
  EXPECT_EQ(want["pk_region_regionkey"].substr(0, 2), "5:");
  EXPECT_EQ(want["pk_orders_orderkey"].substr(0, 7), "150000:");
}

TEST_F(HydrateTest, SettingsSayWhereTheyComeFrom) {
  const Ended ended = HydrateSql(
      "CREATE SOURCE t FROM LOAD GENERATOR TPCH (SCALE FACTOR 0.001); CREATE INDEX ON nation "
      "(n_name);",
      {"--json", "--memory", "200MiB"});
  ASSERT_EQ(ended.code, 0) << ended.err;
  const json all = json::parse(ended.out);
  std::map<std::string, json> settings;
  for (const auto& setting : all.at("settings")) settings[setting.at("name")] = setting;
  EXPECT_EQ(settings["memory"].at("value"), "200MiB");
  EXPECT_EQ(settings["memory"].at("origin"), "command line");
  EXPECT_EQ(settings["spill-handoff"].at("value"), "help");
  EXPECT_EQ(settings["spill-handoff"].at("origin"), "default");
  EXPECT_EQ(all.at("objects")[0].at("object"), "nation_n_name_idx");
  EXPECT_EQ(all.at("objects")[0].at("digest"), nullptr);
}

// What `weir export` wrote is a source; its index holds what the generator's would.
TEST_F(HydrateTest, ExportsAreSources) {
  test::Database db;
  db.Exec("CREATE TABLE items (id int, name text); "
          "INSERT INTO items SELECT i, 'name ' || i FROM generate_series(1, 1000) i");
  const Ended exported =
      RunProgram({WEIR_PROGRAM, "export", db.url(), "items", "-o", folder_.Path("out"), "--quiet"});
  ASSERT_EQ(exported.code, 0) << exported.err;
  const std::string sql = "CREATE SOURCE files FROM PARQUET '" + folder_.Path("out") +
                          "'; CREATE INDEX by_name ON items (name); "
                          "CREATE INDEX by_id ON files.\"public.items\" (id);";
  const auto digests = Digests(HydrateSql(sql, {"--json", "--digest"}));
  EXPECT_EQ(digests.size(), 2U);
  for (const auto& [name, digest] : digests) EXPECT_TRUE(digest.starts_with("1000:")) << digest;
}

TEST_F(HydrateTest, FollowAppliesTicksUntilItIsStopped) {
  const std::string path = folder_.Write(
      "t.sql",
      "CREATE SOURCE t FROM LOAD GENERATOR TPCH (SCALE FACTOR 0.001, TICK INTERVAL '1ms');"
      "CREATE INDEX lines ON lineitem (l_orderkey);");
  const std::string out = folder_.Write("out", "");
  // A shell, so that what was printed before the signal can be waited for.
  test::Program program({"/bin/sh", "-c",
                         std::string("exec ") + WEIR_PROGRAM + " hydrate " + path +
                             " --follow --json --digest > " + out});
  EXPECT_TRUE(program.Until([&] { return folder_.Read("out").ends_with("}\n"); }));
  program.Signal(SIGINT);
  const Ended ended = program.Wait();
  EXPECT_EQ(ended.code, 130) << ended.err;
  std::istringstream lines(folder_.Read("out"));
  std::string first;
  std::string last;
  std::getline(lines, first);
  std::getline(lines, last);
  const json before = json::parse(first).at("objects")[0];
  const json after = json::parse(last).at("objects")[0];
  EXPECT_EQ(before.at("frontier_ms"), 1);
  EXPECT_GT(after.at("frontier_ms"), 1);
  EXPECT_NE(before.at("digest"), after.at("digest"));
}

TEST_F(HydrateTest, MistakesAreOneSentenceWithTheirPlace) {
  const std::string source = "CREATE SOURCE t FROM LOAD GENERATOR TPCH (SCALE FACTOR 0.001);\n";
  const auto said = [&](const std::string& sql, int code) {
    const Ended ended = HydrateSql(sql);
    EXPECT_EQ(ended.code, code) << ended.err;
    std::string line = ended.err;
    EXPECT_EQ(std::count(line.begin(), line.end(), '\n'), 1) << line;
    const std::string start = "weir: " + folder_.Path("t.sql") + ": ";
    EXPECT_TRUE(line.starts_with(start)) << line;
    return line.substr(std::min(line.size(), start.size()));
  };
  EXPECT_EQ(said(source + "CREATE INDEX i ON orders (o_key);", 1),
            "line 2, column 1: index i: table orders has no column o_key\n");
  EXPECT_TRUE(said(source + "CREATE INDEX i ON order_s (o_key);", 1)
                  .starts_with("line 2, column 1: index i: there is no table order_s; the sources "
                               "have: region nation"));
  EXPECT_TRUE(said(source + "CREATE INDEX i ON orders (o_orderkey", 64)
                  .starts_with("line 2, column "));
  EXPECT_TRUE(said("CREATE SOURCE f FROM PARQUET '/nowhere/at/all'", 1)
                  .starts_with("line 1, column 1: "));
  const Ended missing = Hydrate("/nowhere.sql");
  EXPECT_EQ(missing.code, 1);
  EXPECT_NE(missing.err.find("/nowhere.sql"), std::string::npos);
  EXPECT_EQ(HydrateSql(source, {"--memory", "lots"}).code, 64);
  EXPECT_EQ(HydrateSql(source, {"--batcher", "fast"}).code, 64);
  EXPECT_EQ(HydrateSql(source, {"--memory", "1MiB"}).code, 64);
}

// A knob that would do nothing is a mistake, not a wish.
TEST_F(HydrateTest, SettingsWithoutEffectAreRefused) {
  const std::string source = "CREATE SOURCE t FROM LOAD GENERATOR TPCH (SCALE FACTOR 0.001);";
  const std::vector<std::vector<std::string>> kIneffective = {
      {"--memory", "1GiB", "--batcher", "legacy"},
      {"--spill-dir", "/tmp", "--batcher", "paged"},
      {"--spill-threads", "4", "--batcher", "paged_malloc"},
      {"--compress-min-depth", "2", "--batcher", "paged_spill"},
      {"--compress-min-depth", "2", "--spill-codec", "none"},
      {"--spill-codec", "none", "--batcher", "paged_lz4"},
      {"--spill-dir", "/tmp", "--batcher", "paged_pageout"},
      {"--spill-handoff", "block", "--spill-threads", "0"},
      {"--eager-backing", "on", "--spill-threads", "0"}};
  for (const auto& flags : kIneffective) {
    const Ended ended = HydrateSql(source, flags);
    EXPECT_EQ(ended.code, 64) << flags.front();
    EXPECT_TRUE(ended.err.starts_with("weir: " + flags.front() + " has no effect with "))
        << ended.err;
  }
  EXPECT_EQ(HydrateSql(source, {"--spill-threads", "0", "--batcher", "paged_lz4"}).code, 0);
}

TEST_F(HydrateTest, BoundsCanBeSetByStatements) {
  const std::string source = "CREATE SOURCE t FROM LOAD GENERATOR TPCH (SCALE FACTOR 0.001);";
  const std::string metrics = folder_.Path("weir.prom");
  const Ended ended = HydrateSql(source + "ALTER SYSTEM SET memory = '123MiB';",
                                 {"--memory", "1GiB", "--metrics-file", metrics});
  EXPECT_EQ(ended.code, 0) << ended.err;
  EXPECT_NE(folder_.Read("weir.prom").find("weir_memory_limit_bytes 128974848\n"),
            std::string::npos);
  for (const char* bad : {"ALTER SYSTEM SET memory = '1MiB'", "ALTER SYSTEM SET memory = 'lots'",
                          "ALTER SYSTEM SET budget_fraction = 2",
                          "ALTER SYSTEM SET spill_threads = 2"}) {
    const Ended refused = HydrateSql(bad);
    EXPECT_NE(refused.code, 0) << bad;
    EXPECT_NE(refused.err.find("line 1, column 1: "), std::string::npos) << refused.err;
  }
}

// They are settings like the flags: printed with their origin, and refused where they would do
// nothing.
TEST_F(HydrateTest, BoundsSetByStatementsAreSettings) {
  const std::string source = "CREATE SOURCE t FROM LOAD GENERATOR TPCH (SCALE FACTOR 0.001);";
  const Ended ended = HydrateSql(
      source + "ALTER SYSTEM SET memory = '300MiB'; ALTER SYSTEM SET budget_fraction = 0.5;"
               "ALTER SYSTEM SET pool_rss_target = '250MiB';",
      {"--json", "--memory", "1GiB", "--budget-fraction", "0.25", "--pool-rss-target", "280MiB"});
  ASSERT_EQ(ended.code, 0) << ended.err;
  std::map<std::string, std::string> values;
  const json all = json::parse(ended.out);
  for (const auto& setting : all.at("settings")) {
    if (setting.at("origin") == "statement") values[setting.at("name")] = setting.at("value");
  }
  const std::map<std::string, std::string> want = {
      {"memory", "300MiB"}, {"budget-fraction", "0.5"}, {"pool-rss-target", "250MiB"}};
  EXPECT_EQ(values, want);

  using Flags = std::vector<std::string>;
  const std::vector<std::pair<std::string, Flags>> kIneffective = {
      {"memory = '300MiB'", {"--batcher", "legacy"}},
      {"memory = '300MiB'", {"--batcher", "paged"}},
      {"budget_fraction = 0.5", {"--batcher", "paged_malloc"}},
      {"pool_rss_target = '250MiB'", {"--batcher", "legacy"}},
      {"pool_rss_target = '250MiB'", {}},
      {"pool_rss_target = '250MiB'", {"--budget-fraction", "0.5"}},
      {"pool_rss_target = '250MiB'", {"--budget-fraction", "0.5", "--pool-rss-target", "0"}}};
  for (const auto& [setting, flags] : kIneffective) {
    const Ended refused = HydrateSql("ALTER SYSTEM SET " + setting, flags);
    EXPECT_EQ(refused.code, 64) << setting;
    const std::string name = setting.substr(0, setting.find(' '));
    EXPECT_NE(refused.err.find(": line 1, column 1: ALTER SYSTEM SET " + name +
                               " has no effect "),
              std::string::npos)
        << refused.err;
  }
  const Ended undone = HydrateSql("ALTER SYSTEM SET budget_fraction = 1",
                                  {"--budget-fraction", "0.5", "--pool-rss-target", "280MiB"});
  EXPECT_EQ(undone.code, 64);
  EXPECT_NE(undone.err.find("--pool-rss-target has no effect with a budget fraction of 1"),
            std::string::npos)
      << undone.err;
}

TEST_F(HydrateTest, ProbesAndMetricsTellHowItWent) {
  const std::string metrics = folder_.Path("weir.prom");
  const Ended ended = HydrateSql(
      "CREATE SOURCE t FROM LOAD GENERATOR TPCH (SCALE FACTOR 0.01);"
      "CREATE INDEX nations ON nation (n_nationkey);"
      "CREATE INDEX lines ON lineitem (l_orderkey, l_linenumber);",
      {"--json", "--content-hash", "--probe-sorted", "1000", "--probe-random", "100",
       "--metrics-file", metrics});
  ASSERT_EQ(ended.code, 0) << ended.err;
  const json all = json::parse(ended.out);
  const json& probes = all.at("probes");
  EXPECT_EQ(probes.at("index"), "lines");
  EXPECT_EQ(probes.at("sorted").at("count"), 1000);
  EXPECT_EQ(probes.at("sorted").at("rows"), 1000);
  EXPECT_EQ(probes.at("random").at("rows"), 100);
  EXPECT_TRUE(all.at("objects")[0].at("content_hash").get<std::string>().starts_with("25:"));
  EXPECT_EQ(all.at("update_bytes"), all.at("objects")[0].at("update_bytes").get<int64_t>() +
                                        all.at("objects")[1].at("update_bytes").get<int64_t>());
  const std::string text = folder_.Read("weir.prom");
  const int64_t inserts = all.at("pool").at("inserts");
  EXPECT_NE(text.find("# TYPE weir_pool_inserts_total counter\nweir_pool_inserts_total " +
                      std::to_string(inserts) + "\n"),
            std::string::npos)
      << text;
  EXPECT_NE(text.find("weir_cpu_seconds_total{activity=\"sort\"} "), std::string::npos);
  EXPECT_NE(HydrateSql("", {"--metrics-file", "/nowhere/at/all"}).err.find("--metrics-file"),
            std::string::npos);
}

// What finds no room fails, with a remedy; what does is hydrated, and the exit code tells.
TEST_F(HydrateTest, AFullSpillFileFailsOneIndex) {
  const Ended ended = HydrateSql(
      "CREATE SOURCE t FROM LOAD GENERATOR TPCH (SCALE FACTOR 0.3);"
      "CREATE INDEX lines ON lineitem (l_orderkey); CREATE INDEX nations ON nation (n_nationkey);",
      {"--memory", "80MiB", "--spill-limit", "32MiB", "--workers", "1"});
  EXPECT_EQ(ended.code, 2) << ended.err;
  EXPECT_NE(ended.out.find("lines    lineitem  failed"), std::string::npos) << ended.out;
  EXPECT_NE(ended.out.find("nations  nation    hydrated"), std::string::npos) << ended.out;
}

}  // namespace
}  // namespace weir
