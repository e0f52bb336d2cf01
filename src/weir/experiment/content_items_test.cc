#include "weir/experiment/content_items.h"

#include "tests/support/copy_stream.h"
#include "tests/support/folder.h"
#include "tests/support/postgres.h"
#include "weir/extract/export_table.h"
#include "weir/extract/source.h"
#include "weir/file/parquet_writer.h"

namespace weir::experiment {
namespace {

constexpr int64_t kSampleRows = 20'000;

// Bytes of every CopyData message of a COPY, that is, of its output.
int64_t CopyBytes(const std::string& url, const std::string& copy) {
  const sys::Stop never;
  auto connection = pg::Connection::Open(pg::Target::Parse(url).value(), "test", never).value();
  EXPECT_TRUE(connection->StartCopyOut(copy).ok());
  const auto stream = test::CopyReader(*connection).Rest();
  EXPECT_TRUE(stream.ok());
  return std::ssize(stream.value());
}

// Bytes of the table as our own zstd Parquet.
int64_t ParquetBytes(const std::string& url, const test::TempFolder& folder) {
  const sys::Stop never;
  sys::DiskFiles files;
  sys::RealClock clock;
  mem::Budget budget("test", 1 << 30);
  mem::BlockAllocator blocks(budget, 8 << 20);
  extract::Progress progress;
  extract::SourceRequest request;
  request.target = pg::Target::Parse(url).value();
  request.table = pg::TableName::Parse("content_items").value();
  auto source = extract::Source::Open(request, never);
  EXPECT_TRUE(source.ok()) << source.error().message;
  const table::Schema schema = source.value()->schema();
  const auto new_writer = [&](int, const file::Yield&) {
    return file::NewParquetWriter(files, folder.Path("a.parquet"), "a.parquet", schema, "{}", {},
                                  blocks);
  };
  extract::ExportTotals totals;
  const auto exported = extract::ExportTable(*source.value(), new_writer, {}, blocks, clock, never,
                                             progress, totals);
  EXPECT_TRUE(exported.ok()) << exported.error().message;
  EXPECT_EQ(totals.rows, kSampleRows);
  return totals.parts.at(0).bytes;
}

TEST(ContentItems, HasTheSizesOfTheThrottleExperiment) {
  test::Database db;
  const sys::Stop never;
  std::vector<int64_t> told;
  const auto seeded = SeedContentItems(
      db.url(), kSampleRows, [&](int64_t done, int64_t) { told.push_back(done); }, never);
  ASSERT_TRUE(seeded.ok()) << seeded.error().message;
  EXPECT_EQ(told.back(), kSampleRows);

  EXPECT_EQ(db.Text("SELECT count(*) || ' ' || min(id) || ' ' || max(id) FROM content_items"),
            "20000 1 20000");
  EXPECT_EQ(db.Text("SELECT count(*) FROM pg_attribute WHERE attnum > 0 AND "
                    "attrelid = 'content_items'::regclass"),
            "20");
  EXPECT_EQ(db.Text("SELECT count(DISTINCT body) || ' ' || count(DISTINCT raw_html) "
                    "FROM content_items"),
            "20000 20000");
  EXPECT_EQ(db.Text("SELECT pg_relation_size(reltoastrelid) FROM pg_class "
                    "WHERE oid = 'content_items'::regclass"),
            "0");

  const auto per_row = [](int64_t bytes) { return static_cast<double>(bytes) / kSampleRows; };
  const double stored = per_row(std::stoll(db.Text("SELECT pg_table_size('content_items')")));
  EXPECT_GT(stored, 700);
  EXPECT_LT(stored, 800);
  const double csv = per_row(CopyBytes(db.url(), "COPY content_items TO STDOUT (FORMAT csv)"));
  EXPECT_GT(csv, 4500);
  EXPECT_LT(csv, 5000);
  const test::TempFolder folder;
  const double parquet = per_row(ParquetBytes(db.url(), folder));
  EXPECT_GT(parquet, 73);
  EXPECT_LT(parquet, 135);
  RecordProperty("stored_bytes_per_row", std::to_string(stored));
  RecordProperty("csv_bytes_per_row", std::to_string(csv));
  RecordProperty("parquet_bytes_per_row", std::to_string(parquet));
}

TEST(ContentItems, RowsDependOnTheirNumbersOnly) {
  test::Database small;
  test::Database large;
  const sys::Stop never;
  ASSERT_TRUE(SeedContentItems(small.url(), 100, nullptr, never).ok());
  ASSERT_TRUE(SeedContentItems(large.url(), 25'000, nullptr, never).ok());
  // Pinned, so that a change of the script, or of PostgreSQL's hash functions, is seen.
  small.Exec("SET timezone = 'UTC'");
  large.Exec("SET timezone = 'UTC'");
  constexpr const char* kDigest =
      "SELECT md5(string_agg(c::text, '' ORDER BY id)) FROM content_items c WHERE id <= 100";
  EXPECT_EQ(small.Text(kDigest), large.Text(kDigest));
  EXPECT_EQ(small.Text(kDigest), "c3f74253c82193ede3154e05f96a995e");
  EXPECT_EQ(small.Text("SELECT nextval('content_items_id_seq')"), "101");
}

TEST(ContentItems, HasNullsEmptyTextsAndUnicode) {
  test::Database db;
  const sys::Stop never;
  ASSERT_TRUE(SeedContentItems(db.url(), 2'000, nullptr, never).ok());
  for (const char* column :
       {"tags", "editor_name", "price", "rating", "published_at", "event_date"}) {
    const std::string nulls =
        db.Text(fmt::format("SELECT count(*) FROM content_items WHERE {} IS NULL", column));
    EXPECT_GT(std::stoi(nulls), 20) << column;
    EXPECT_LT(std::stoi(nulls), 1500) << column;
  }
  EXPECT_NE(db.Text("SELECT count(*) FROM content_items WHERE editor_name = ''"), "0");
  EXPECT_NE(db.Text("SELECT count(*) FROM content_items WHERE tags = '{}'"), "0");
  EXPECT_NE(db.Text("SELECT count(*) FROM content_items WHERE title LIKE '%東京%'"), "0");
  EXPECT_NE(db.Text("SELECT count(*) FROM content_items WHERE body LIKE '%\"%'"), "0");
}

TEST(ContentItems, IsFrozenSoThatReadingWritesNothing) {
  test::Database db;
  const sys::Stop never;
  ASSERT_TRUE(SeedContentItems(db.url(), 2'000, nullptr, never).ok());
  EXPECT_EQ(db.Text("SELECT relallvisible = relpages FROM pg_class "
                    "WHERE oid = 'content_items'::regclass"),
            "t");
}

TEST(ContentItems, ACompletedTableIsTakenAnyOtherRefused) {
  test::Database db;
  const sys::Stop never;
  ASSERT_TRUE(SeedContentItems(db.url(), 50, nullptr, never).ok());
  int calls = 0;
  const auto count = [&](int64_t, int64_t) { ++calls; };
  EXPECT_TRUE(SeedContentItems(db.url(), 50, count, never).ok());
  EXPECT_EQ(calls, 0);

  const auto other = SeedContentItems(db.url(), 51, nullptr, never);
  ASSERT_FALSE(other.ok());
  EXPECT_EQ(other.error().code, Code::kInvalid);
  EXPECT_EQ(other.error().message,
            "seeding content_items: a table of that name is there and is not a seed table of 51 "
            "rows: drop it, or name another database");
  EXPECT_EQ(db.Text("SELECT count(*) FROM content_items"), "50");
  EXPECT_FALSE(SeedContentItems(db.url(), 0, nullptr, never).ok());
}

TEST(ContentItems, AStopLeavesNothingBehind) {
  test::Database db;
  sys::Stop stop;
  const auto stopped = SeedContentItems(
      db.url(), 60'000, [&](int64_t, int64_t) { stop.Ask(); }, stop);
  ASSERT_FALSE(stopped.ok());
  EXPECT_EQ(stopped.error().code, Code::kCancelled);
  EXPECT_EQ(db.Text("SELECT to_regclass('content_items')"), "");
  EXPECT_EQ(db.Text("SELECT to_regtype('content_status')"), "");
}

TEST(Narrow, HasFiveIntegers) {
  test::Database db;
  const sys::Stop never;
  ASSERT_TRUE(SeedNarrow(db.url(), 1'000, nullptr, never).ok());
  EXPECT_EQ(db.Text("SELECT string_agg(format_type(atttypid, atttypmod), ' ' ORDER BY attnum) "
                    "FROM pg_attribute WHERE attrelid = 'narrow'::regclass AND attnum > 0"),
            "bigint integer integer bigint integer");
  EXPECT_EQ(db.Text("SELECT count(*) FROM narrow"), "1000");
  EXPECT_EQ(db.Text("SELECT sum(id) FROM narrow"), "500500");
}

}  // namespace
}  // namespace weir::experiment
