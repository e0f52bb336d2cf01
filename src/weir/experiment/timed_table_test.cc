#include "weir/experiment/timed_table.h"

#include <sys/stat.h>
#include <unistd.h>

#include "tests/support/folder.h"
#include "tests/support/postgres.h"
#include "weir/experiment/content_items.h"
#include "weir/experiment/throttle_cells.h"

namespace weir::experiment {
namespace {

TEST(ChildAddress, KeepsThePasswordOffTheCommandLine) {
  const auto target =
      pg::Target::Parse("postgresql://u:s3cret@h:1/d?application_name=it's").value();
  const auto address = AddressOf(target);
  ASSERT_TRUE(address.ok()) << address.error().message;
  EXPECT_EQ(address.value().environment, std::vector<std::string>{"PGPASSWORD=s3cret"});
  EXPECT_EQ(address.value().conninfo.find("s3cret"), std::string::npos);
  EXPECT_NE(address.value().conninfo.find(R"(application_name='it\'s')"), std::string::npos);
  const auto again = pg::Target::Parse(address.value().conninfo);
  ASSERT_TRUE(again.ok()) << again.error().message;
  EXPECT_EQ(again.value().Get("application_name"), "it's");

  const auto key = pg::Target::Parse("postgresql://u@h/d?sslpassword=s3cret").value();
  const auto refused = AddressOf(key);
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.error().code, Code::kUsage);
  EXPECT_EQ(refused.error().message.find("s3cret"), std::string::npos);
}

TEST(TimedTable, RawCopyReadsTheSeededTable) {
  test::Database db;
  const test::TempFolder folder;
  sys::RealClock clock;
  const sys::Stop never;
  auto source = BenchSource::Open(db.url(), folder.path(), Socket::kUnix, never);
  ASSERT_TRUE(source.ok()) << source.error().message;
  EXPECT_FALSE(source.value()->is_private());
  const auto bench = OpenBench(*source.value(), folder.path(), clock, never);
  ASSERT_TRUE(bench.ok()) << bench.error().message;
  EXPECT_EQ(bench.value().server.Get("server.fsync"), "off");
  EXPECT_EQ(bench.value().server.Get("server.socket"), "Unix");

  const auto seed = [&](const std::string& url) {
    return SeedNarrow(url, 1'000, nullptr, never);
  };
  TimedTable table(bench.value(), {"narrow", "unused", seed, true, {}});
  const Status prepared = table.Prepare();
  ASSERT_TRUE(prepared.ok()) << prepared.error().message;
  const auto cell = table.RawCopy();
  ASSERT_TRUE(cell.ok()) << cell.error().message;
  EXPECT_GT(*cell.value().Number("wall_s"), 0);
  EXPECT_NEAR(*cell.value().Number("rows_per_s") * *cell.value().Number("wall_s"), 1'000, 1);
  EXPECT_GT(*cell.value().Number("peak_rss_bytes"), 1 << 20);
  EXPECT_TRUE(cell.value().Text("digest").starts_with("1000:")) << cell.value().Text("digest");
}

TEST(TimedTable, ContendedNeedsThePrivateServer) {
  test::Database db;
  const test::TempFolder folder;
  sys::RealClock clock;
  const sys::Stop never;
  const auto source = BenchSource::Open(db.url(), folder.path(), Socket::kUnix, never);
  ASSERT_TRUE(source.ok()) << source.error().message;
  const auto bench = OpenBench(*source.value(), folder.path(), clock, never);
  ASSERT_TRUE(bench.ok()) << bench.error().message;
  const auto groups = ThrottleGroups({.rows = 10, .contended = true}, bench.value(), nullptr);
  ASSERT_FALSE(groups.ok());
  EXPECT_EQ(groups.error().code, Code::kUsage);
}

TEST(BenchFolder, IsAbsoluteAndLetsTheServersUserPass) {
  const test::TempFolder parent;
  sys::DiskFiles files;
  const auto folder = MakeBenchFolder(files, parent.Path("a/../out/"));
  ASSERT_TRUE(folder.ok()) << folder.error().message;
  EXPECT_EQ(folder.value(), parent.Path("out"));
  struct stat info {};
  ASSERT_EQ(stat(folder.value().c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 0777U, geteuid() == 0 ? 0711U : 0700U);
}

TEST(WideTables, HaveTheirWidths) {
  test::Database db;
  const sys::Stop never;
  ASSERT_TRUE(SeedWideValue(db.url(), 2, never).ok());
  EXPECT_EQ(db.Text("SELECT count(*) || ' ' || max(octet_length(body)) || ' ' || "
                    "(SELECT id FROM wide_value ORDER BY octet_length(body) DESC LIMIT 1) "
                    "FROM wide_value"),
            "1001 2000000 501");
  const Status other = SeedWideValue(db.url(), 3, never);
  ASSERT_FALSE(other.ok());
  EXPECT_NE(other.error().message.find("rows, one of 3 MB: drop it"), std::string::npos)
      << other.error().message;

  ASSERT_TRUE(SeedWideColumns(db.url(), 3, nullptr, never).ok());
  EXPECT_EQ(db.Text("SELECT count(*) || ' ' || sum(octet_length(c1)) || ' ' || "
                    "sum(octet_length(c200)) || ' ' || count(DISTINCT c77) FROM wide_columns"),
            "3 30720 30720 3");
  EXPECT_EQ(db.Text("SELECT count(*) FROM pg_attribute WHERE attnum > 0 AND "
                    "attrelid = 'wide_columns'::regclass"),
            "201");
}

}  // namespace
}  // namespace weir::experiment
