// Independent readers agree with PostgreSQL on what weir wrote (see read_back.py), and find it laid
// out as the configuration says; and the demo, which is its own reader.
#include <gtest/gtest.h>

#include <iterator>
#include <numeric>
#include <sstream>

#include "tests/support/copy_stream.h"
#include "tests/support/folder.h"
#include "tests/support/postgres.h"
#include "tests/support/program.h"

namespace weir {
namespace {

// A column: its type, how read_back.py compares it, and its values.
struct EdgeColumn {
  const char* type;
  const char* kind;
  std::vector<const char*> values;
};

const std::vector<EdgeColumn>& EdgeColumns() {
  static const std::vector<EdgeColumn> columns = {
      {"bool", "text", {"t", "f"}},
      {"int2", "text", {"-32768", "32767", "0"}},
      {"int4", "text", {"-2147483648", "2147483647"}},
      {"int8", "text", {"-9223372036854775808", "9223372036854775807"}},
      {"float4", "float4", {"NaN", "Infinity", "-Infinity", "-0", "1e-45", "3.4028235e38"}},
      {"float8", "float8",
       {"NaN", "Infinity", "-Infinity", "-0", "5e-324", "1.7976931348623157e308", "0.1"}},
      {"numeric(9,2)", "text", {"-9999999.99", "9999999.99", "0", "0.01"}},
      {"numeric(18,0)", "text", {"-999999999999999999", "999999999999999999"}},
      {"numeric(38,38)", "text", {"-0.99999999999999999999999999999999999999", "0"}},
      {"numeric(38,0)", "text", {"99999999999999999999999999999999999999"}},
      {"numeric(5,-2)", "text", {"1234567", "-51"}},
      {"text", "text", {"", "naïve 🦆", "a,\"b\"\r\n\\N", "NULL", " "}},
      {"varchar(5)", "text", {"", "abcde"}},
      {"char(5)", "text", {"", "abc"}},
      {"bytea", "text", {"\\x", "\\x00ff", "\\xdeadbeef"}},
      {"date", "days", {"1970-01-01", "4714-11-24 BC", "5874897-12-31", "0001-01-01"}},
      {"time", "micros", {"00:00", "23:59:59.999999"}},
      {"timestamp", "micros",
       {"1969-12-31 23:59:59.999999", "4714-11-24 BC", "294246-12-31 23:59:59"}},
      {"timestamptz", "micros", {"2020-02-29 12:00+05:30", "0044-03-15 BC", "9999-12-31"}},
      {"uuid", "text",
       {"00000000-0000-0000-0000-000000000000", "ffffffff-ffff-ffff-ffff-ffffffffffff"}},
      {"json", "text", {"{ \"b\" : 1,  \"b\":2.50 }", "null"}},
      {"jsonb", "text", {"{\"b\": 1.0, \"a\": [null]}", "\"x\""}},
      {"mood", "text", {"glad", "it's \"so\", so"}},
      {"int4[]", "json", {"{}", "{1,NULL,-3}"}},
      {"text[]", "json", {"{}", "{NULL,\"\",\"a,b\",\"NULL\"}"}},
      {"bool[]", "json", {"{t,NULL,f}"}},
      {"numeric(6,2)[]", "json", {"{1.50,-9999.99,NULL}"}},
      {"float8[]", "json", {"{0.1,1.5,NULL}"}},
      {"uuid[]", "json", {"{00112233-4455-6677-8899-aabbccddeeff,NULL}"}},
      {"int4", "text", {}},  // Nothing but nulls.
  };
  return columns;
}

std::string Name(size_t column) { return fmt::format("\"Col.{} ü\"", column); }

// Row n holds the n-th value of each column; columns that have none left hold NULL.
void MakeTable(test::Database& db) {
  db.Exec("CREATE TYPE mood AS ENUM ('glad', 'it''s \"so\", so')");
  std::string columns;
  size_t rows = 0;
  for (size_t at = 0; at < EdgeColumns().size(); ++at) {
    columns += fmt::format("{}{} {}", at == 0 ? "" : ", ", Name(at), EdgeColumns()[at].type);
    rows = std::max(rows, EdgeColumns()[at].values.size());
  }
  db.Exec("CREATE TABLE edges (gone int, " + columns + "); ALTER TABLE edges DROP gone");
  for (size_t row = 0; row <= rows; ++row) {
    std::string values;
    for (const EdgeColumn& column : EdgeColumns()) {
      values += values.empty() ? "" : ", ";
      if (row >= column.values.size()) {
        values += "NULL";
        continue;
      }
      std::string quoted(column.values[row]);
      for (size_t at = 0; (at = quoted.find('\'', at)) != quoted.npos; at += 2) {
        quoted.insert(at, "'");
      }
      values += "'" + quoted + "'";
    }
    db.Exec("INSERT INTO edges VALUES (" + values + ")");
  }
}

// What read_back.py compares, as PostgreSQL computes it.
std::string ExpectedSelect() {
  std::string select;
  for (size_t at = 0; at < EdgeColumns().size(); ++at) {
    const std::string_view kind = EdgeColumns()[at].kind;
    std::string form = "{}";
    if (kind == "days") form = "{} - date '1970-01-01'";
    if (kind == "micros") form = "(extract(epoch FROM {}) * 1000000)::int8";
    if (kind == "json") form = "to_json({})";
    select += fmt::format("{}{} AS \"{}:{}\"", at == 0 ? "" : ", ",
                          fmt::format(fmt::runtime(form), Name(at)),
                          Name(at).substr(1, Name(at).size() - 2), kind);
  }
  return "SELECT " + select + " FROM edges";
}

std::string CaptureCsv(const std::string& url, const std::string& select) {
  const sys::Stop never;
  const auto connection =
      pg::Connection::Open(pg::Target::Parse(url).value(), "weir/test", never).value();
  EXPECT_TRUE(connection->Exec("SET TimeZone = 'UTC'").ok());
  return test::CaptureStream(
      *connection, "COPY (" + select + ") TO STDOUT (FORMAT csv, HEADER, NULL '<null>')");
}

TEST(ReadBack, PyarrowAndDuckdbAgreeWithPostgres) {
  test::Database db;
  MakeTable(db);
  const test::TempFolder folder;
  const std::string expected = folder.Write("expected.csv", CaptureCsv(db.url(), ExpectedSelect()));
  for (const char* compression : {"zstd", "snappy", "gzip", "lz4", "none"}) {
    const test::Ended exported =
        test::RunProgram({WEIR_PROGRAM, "export", db.url(), "edges", "-o", folder.Path("out"),
                          "--quiet", "--compression", compression});
    ASSERT_EQ(exported.code, 0) << exported.err;
    const test::Ended compared = test::RunProgram(
        {WEIR_PYTHON, WEIR_READ_BACK, folder.Path("out/public.edges"), expected});
    EXPECT_EQ(compared.code, 0) << compression << "\n" << compared.out << compared.err;
  }
}

// Files that weir did not write are a source; DuckDB agrees on what they hold. What weir could not
// carry unchanged is refused, by name.
TEST(ReadBack, FilesOfOthersAreTables) {
  const test::TempFolder folder;
  const auto python = [](std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), {WEIR_PYTHON, WEIR_FOREIGN_FILES});
    const test::Ended ended = test::RunProgram(arguments);
    EXPECT_EQ(ended.code, 0) << ended.err;
    return ended.out;
  };
  const auto hydrate = [&](const std::string& table, const std::string& index) {
    return test::RunProgram({WEIR_PROGRAM, "hydrate", "--content-hash",
                             folder.Write("t.sql", fmt::format("CREATE SOURCE f FROM PARQUET '{}';"
                                                               "{}",
                                                               folder.Path(table), index))});
  };
  python({"write", folder.path()});
  const test::Ended mixed = hydrate("mixed", "CREATE INDEX i ON mixed (u16, word);");
  EXPECT_EQ(mixed.code, 0) << mixed.err;
  EXPECT_NE(mixed.out.find("\ni " + python({"hash", folder.Path("mixed")})), std::string::npos)
      << mixed.out;
  EXPECT_NE(hydrate("nested", "").err.find("column pair is of the type struct<x: int64>"),
            std::string::npos);
  EXPECT_NE(hydrate("precise", "CREATE INDEX i ON precise (at);").err.find("would lose data"),
            std::string::npos);
  EXPECT_NE(hydrate("unlike", "").err.find("unlike/b.parquet' has other columns than 'a.parquet'"),
            std::string::npos);
}

// The demo reads back what it wrote, and its server has all that harm is measured with.
TEST(Demo, SaysThatNothingChangedAndMeasuresAllButStandbys) {
  const test::Ended ended = test::RunProgram({WEIR_PROGRAM, "demo", "--rows", "1000"});
  EXPECT_EQ(ended.code, 0) << ended.err;
  for (const char* words : {"the same in both, over 1,000 rows.", "statements_calls ",
                            "statements_ms ", "buffers_evicted ",
                            "not measured: replication_lag_max_bytes: no standby is connected"}) {
    EXPECT_NE(ended.out.find(words), std::string::npos) << words << " not in\n" << ended.out;
  }
  EXPECT_EQ(ended.out.find("not measured"), ended.out.rfind("not measured")) << ended.out;
}

// Rows of each row group of a file, as pyarrow counts them.
std::vector<int64_t> GroupRows(const std::string& path) {
  const test::Ended asked = test::RunProgram(
      {WEIR_PYTHON, "-c",
       "import sys, pyarrow.parquet as pq\n"
       "metadata = pq.ParquetFile(sys.argv[1]).metadata\n"
       "print(*(metadata.row_group(i).num_rows for i in range(metadata.num_row_groups)))",
       path});
  EXPECT_EQ(asked.code, 0) << asked.err;
  std::istringstream words(asked.out);
  return {std::istream_iterator<int64_t>(words), std::istream_iterator<int64_t>()};
}

// Rows are of 1 KiB and not compressed, so that 1024 of them are about 1 MiB raw and encoded.
TEST(ReadBack, RowGroupsEndWhereTheConfigurationSays) {
  struct Case {
    const char* parquet;
    int64_t least_rows;  // Of each group but the last.
    int64_t most_rows;
  };
  constexpr int64_t kRows = 40'000;
  constexpr Case kCases[] = {
      {"{}", 23'000, 30'000},  // 24 MiB encoded, and a batch.
      {"{target_row_group_mb: 8}", 7'800, 13'500},
      {"{row_group_strategy: fixed_memory}", kRows, kRows},
      {"{row_group_strategy: fixed_memory, target_row_group_mb: 30}", 29'000, 36'000},
      {"{row_group_strategy: fixed_memory, max_row_group_mb: 8}", 7'800, 13'500},
      {"{row_group_strategy: fixed_rows, row_group_rows: 5000}", 5'000, 10'000},
      {"{row_group_strategy: fixed_rows, row_group_rows: 30000}", 30'000, 36'000},
      {"{row_group_strategy: fixed_rows, row_group_rows: 30000, max_row_group_mb: 8}", 7'800,
       13'500},
  };
  test::Database db;
  db.Exec(fmt::format("CREATE TABLE t AS SELECT i, repeat(md5(i::text), 32) AS b "
                      "FROM generate_series(1, {}) AS i",
                      kRows));
  const test::TempFolder folder;
  for (const Case& row : kCases) {
    SCOPED_TRACE(row.parquet);
    const std::string config = folder.Write(
        "weir.yaml",
        fmt::format("source: {{type: postgres, url_env: WEIR_URL}}\n"
                    "exports:\n  - {{name: t, table: t, format: parquet, compression: none, "
                    "parquet: {}, destination: {{type: local, path: '{}'}}}}\n",
                    row.parquet, folder.path()));
    const test::Ended ran = test::RunProgram({WEIR_PROGRAM, "run", "-c", config, "--quiet"},
                                             {"WEIR_URL=" + db.url()});
    ASSERT_EQ(ran.code, 0) << ran.err;
    const std::vector<int64_t> groups = GroupRows(test::FirstPart(folder.Path("t")));
    ASSERT_FALSE(groups.empty());
    EXPECT_EQ(std::accumulate(groups.begin(), groups.end(), int64_t{0}), kRows);
    EXPECT_EQ(groups.size() == 1, row.least_rows == kRows);
    for (size_t at = 0; at + 1 < groups.size(); ++at) {
      EXPECT_GE(groups[at], row.least_rows);
      EXPECT_LE(groups[at], row.most_rows);
    }
  }
}

}  // namespace
}  // namespace weir
