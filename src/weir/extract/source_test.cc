#include "weir/extract/source.h"

#include "tests/support/copy_stream.h"
#include "tests/support/postgres.h"

namespace weir::extract {
namespace {

class SourceTest : public testing::Test {
 protected:
  SourceRequest RequestOf(const std::string& table) {
    SourceRequest request;
    request.target = pg::Target::Parse(db_.url()).value();
    request.table = pg::TableName::Parse(table).value();
    request.settings.application_name = "weir/test/source";
    return request;
  }
  // The names of the columns that would be read, or the failure.
  std::string ColumnsOf(const SourceRequest& request) {
    const auto source = Source::Open(request, never_);
    if (!source.ok()) return source.error().message;
    std::string names;
    for (const auto& column : source.value()->columns()) names += column.column.name + " ";
    return names;
  }
  // The rows as COPY's text, or the failure.
  std::string RowsOf(Source& source) {
    sys::Duration waited{0};
    const auto started = source.StartCopy(sys::Duration{0}, &waited);
    if (!started.ok()) return started.error().message;
    mem::Budget budget("test", mem::kUnlimited);
    mem::BlockAllocator blocks(budget, 0);
    pg::CopyParser parser(source.columns(), blocks, 1000);
    const auto stream = test::CopyReader(source.connection()).Rest();
    if (!stream.ok()) return stream.error().message;
    EXPECT_TRUE(parser.Feed(AsBytes(stream.value())).ok());
    std::string text;
    const table::Batch batch = parser.TakeBatch();
    for (int64_t row = 0; row < batch.row_count; ++row) {
      for (const auto& column : batch.columns) {
        text += column.IsNull(row) ? "NULL " : fmt::format("{} ", column.At<int32_t>(row));
      }
    }
    return text;
  }
  std::string RowsOf(const SourceRequest& request) {
    const auto source = Source::Open(request, never_);
    return source.ok() ? RowsOf(*source.value()) : source.error().message;
  }

  test::Database db_;
  sys::Stop never_;
};

TEST_F(SourceTest, ColumnsAreChosenByName) {
  db_.Exec("CREATE TABLE t (a int, \"B\" int, c int); ALTER TABLE t DROP a, ADD d int");
  SourceRequest request = RequestOf("t");
  EXPECT_EQ(ColumnsOf(request), "B c d ");
  request.columns = {"d", "B"};
  EXPECT_EQ(ColumnsOf(request), "d B ");
  request.exclude = {"B"};
  EXPECT_EQ(ColumnsOf(request), "d ");
  request.exclude = {"b"};
  EXPECT_EQ(ColumnsOf(request), "public.t has no column 'b'; it has B, c, d");
  request.exclude = {"d", "B"};
  EXPECT_EQ(ColumnsOf(request), "public.t: no columns are left to read");
  request.exclude = {};
  request.columns = {"B", "c", "B"};
  EXPECT_EQ(ColumnsOf(request), "public.t: two columns are named B; name each once");
}

TEST_F(SourceTest, FieldIdsAreAttributeNumbers) {
  db_.Exec("CREATE TABLE t (a int, b int PRIMARY KEY); ALTER TABLE t DROP a; "
           "ALTER TABLE t ADD c int NOT NULL");
  const auto source = Source::Open(RequestOf("t"), never_).value();
  const auto schema = source->schema();
  EXPECT_EQ(schema.columns[0].attnum, 2);
  EXPECT_EQ(schema.columns[1].attnum, 3);
  EXPECT_FALSE(schema.columns[1].nullable);
  EXPECT_EQ(source->primary_key(), (std::vector<std::string>{"b"}));
}

TEST_F(SourceTest, AllRefusedColumnsAreNamedAtOnce) {
  db_.Exec("CREATE TABLE t (a int, b interval, c point)");
  EXPECT_EQ(ColumnsOf(RequestOf("t")),
            "public.t: column b (type interval is not supported yet), c (type point is not "
            "supported yet); leave the column out with --exclude");
  SourceRequest of_file = RequestOf("t");
  of_file.asked_by = AskedBy::kFile;
  EXPECT_EQ(ColumnsOf(of_file),
            "public.t: column b (type interval is not supported yet), c (type point is not "
            "supported yet); write a query that leaves the column out or casts it to text");
}

TEST_F(SourceTest, MissingTablesAreNamedWithTheirPlace) {
  EXPECT_EQ(RowsOf(RequestOf("nothing")),
            fmt::format("no table nothing in database {} on the search_path (\"$user\", public); "
                        "write it as schema.name",
                        db_.name()));
  EXPECT_EQ(RowsOf(RequestOf("other.\"Odd name\"")),
            fmt::format("no table other.\"Odd name\" in database {}; check its name and schema",
                        db_.name()));
}

TEST_F(SourceTest, RowsAreFilteredAndLimited) {
  db_.Exec("CREATE TABLE t AS SELECT i AS a FROM generate_series(1, 10) i");
  SourceRequest request = RequestOf("t");
  request.where = "a % 2 = 0 -- even\n";
  EXPECT_EQ(RowsOf(request), "2 4 6 8 10 ");
  request.limit = 2;
  EXPECT_EQ(RowsOf(request), "2 4 ");
  request.where = "nothing = 1";
  EXPECT_EQ(RowsOf(request),
            "--where: column \"nothing\" does not exist; check the column's name");
}

TEST_F(SourceTest, EveryKindOfRelationIsRead) {
  db_.Exec("CREATE TABLE t (a int, b int GENERATED ALWAYS AS (a * 2) STORED); "
           "INSERT INTO t VALUES (1), (2); ALTER TABLE t ADD c int DEFAULT 7; "
           "CREATE VIEW v AS SELECT * FROM t; CREATE MATERIALIZED VIEW m AS SELECT * FROM t; "
           "CREATE TABLE p (a int) PARTITION BY LIST (a); CREATE TABLE p1 PARTITION OF p DEFAULT; "
           "INSERT INTO p VALUES (5); "
           "CREATE TABLE parent (a int NOT NULL); CREATE TABLE child (x int) INHERITS (parent); "
           "ALTER TABLE child ALTER a DROP NOT NULL; INSERT INTO parent VALUES (1); "
           "INSERT INTO child VALUES (NULL, 3)");
  EXPECT_EQ(RowsOf(RequestOf("t")), "1 2 7 2 4 7 ");
  EXPECT_EQ(RowsOf(RequestOf("v")), "1 2 7 2 4 7 ");
  EXPECT_EQ(RowsOf(RequestOf("m")), "1 2 7 2 4 7 ");
  EXPECT_EQ(RowsOf(RequestOf("p")), "5 ");
  EXPECT_EQ(RowsOf(RequestOf("parent")), "1 NULL ");
}

TEST_F(SourceTest, QueriesAreRead) {
  db_.Exec("CREATE TABLE t AS SELECT 1 AS a, 2 AS b");
  SourceRequest request = RequestOf("t");
  request.table.reset();
  request.query = "SELECT a, b, a + b AS c FROM t -- all";
  EXPECT_EQ(RowsOf(request), "1 2 3 ");
  request.exclude = {"b"};
  EXPECT_EQ(RowsOf(request), "1 3 ");
  request.exclude = {};
  request.query = "SELECT a, b AS a FROM t";
  EXPECT_EQ(RowsOf(request), "query: two columns are named a; name each once");
  request.query = "SELECT FROM t";
  EXPECT_EQ(RowsOf(request), "query: no columns are left to read");
  db_.Exec("CREATE TABLE victim AS SELECT 1 AS a");
  for (const char* query : {"SELECT 1) AS x; COMMIT; DROP TABLE victim; SELECT 1 FROM (SELECT 2",
                            "SELECT 1; COMMIT; DROP TABLE victim"}) {
    request.query = query;
    EXPECT_NE(RowsOf(request), "");
    EXPECT_EQ(db_.Text("SELECT count(*) FROM victim"), "1");
  }
  request.query = "SELECT nothing";
  EXPECT_EQ(RowsOf(request), "query: column \"nothing\" does not exist; check the column's name");
}

TEST_F(SourceTest, ColumnsWithoutRightsAreNamed) {
  db_.Exec("DROP ROLE IF EXISTS clerk; CREATE ROLE clerk LOGIN; "
           "CREATE TABLE t AS SELECT 1 AS a, 2 AS b, 3 AS c; GRANT SELECT (a) ON t TO clerk; "
           "CREATE TABLE hidden AS SELECT 1 AS a; "
           "CREATE TABLE guarded AS SELECT 1 AS a; GRANT SELECT ON guarded TO clerk; "
           "ALTER TABLE guarded ENABLE ROW LEVEL SECURITY");
  const auto as_clerk = [&](const std::string& table) {
    SourceRequest request = RequestOf(table);
    request.target.Set("user", "clerk");
    return request;
  };
  EXPECT_EQ(RowsOf(as_clerk("t")),
            "public.t: this user may not SELECT b, c; grant it, or leave these out with --exclude");
  SourceRequest allowed = as_clerk("t");
  allowed.exclude = {"b", "c"};
  EXPECT_EQ(RowsOf(allowed), "1 ");
  EXPECT_EQ(RowsOf(as_clerk("hidden")),
            "table public.hidden: permission denied for table hidden; grant SELECT to this user, "
            "or leave the table or column out");
  EXPECT_EQ(RowsOf(as_clerk("guarded")),
            "public.guarded: row security hides rows from this user; read it as its owner or as a "
            "role with BYPASSRLS");
  db_.Exec("DROP OWNED BY clerk; DROP ROLE clerk");
}

// The snapshot is taken under the lock: later rows are not seen, and nobody can empty the table.
TEST_F(SourceTest, TheSourceStandsStill) {
  db_.Exec("CREATE TABLE t AS SELECT 1 AS a; CREATE MATERIALIZED VIEW m AS SELECT a FROM t");
  for (const char* table : {"t", "m"}) {
    const auto source = Source::Open(RequestOf(table), never_).value();
    EXPECT_EQ(db_.Text(fmt::format("SELECT count(*) FROM pg_locks WHERE relation = '{}'::regclass "
                                   "AND mode = 'AccessShareLock' AND granted",
                                   table)),
              "1");
    db_.Exec("INSERT INTO t VALUES (2)");
    EXPECT_EQ(RowsOf(*source), "1 ");
    EXPECT_FALSE(source->mark().lsn.empty());
    EXPECT_TRUE(source->mark().taken_at.ends_with("Z"));
    ASSERT_TRUE(source->Close().ok());
    EXPECT_GT(source->snapshot_hold().count(), 0);
    db_.Exec("DELETE FROM t WHERE a = 2");
    EXPECT_EQ(db_.Text("SELECT count(*) FROM pg_locks WHERE relation = 't'::regclass"), "0");
  }
}

}  // namespace
}  // namespace weir::extract
