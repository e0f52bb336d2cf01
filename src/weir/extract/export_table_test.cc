#include "weir/extract/export_table.h"

#include <functional>
#include <random>

#include "tests/support/copy_stream.h"
#include "tests/support/folder.h"
#include "tests/support/postgres.h"
#include "tests/support/seeds.h"
#include "weir/file/csv_writer.h"
#include "weir/file/parquet_reader.h"
#include "weir/file/parquet_writer.h"
#include "weir/file/value_text.h"

namespace weir::extract {
namespace {

class ExportTableTest : public testing::Test {
 protected:
  ExportTableTest()
      : connection_(
            pg::Connection::Open(pg::Target::Parse(db_.url()).value(), "weir/test", never_)
                .value()) {}

  SourceRequest RequestOf(const std::string& table) {
    SourceRequest request;
    request.target = pg::Target::Parse(db_.url()).value();
    request.table = pg::TableName{"public", table};
    request.settings.application_name = "weir/test/export";
    return request;
  }
  NewWriter ParquetWriters(Source& source, const file::ParquetOptions& options = {}) {
    return [this, &source, options](int part, const file::Yield& yield) {
      const std::string name = fmt::format("part-{}.parquet", part);
      return file::NewParquetWriter(files_, folder_.Path(name), name, source.schema(),
                                    file::SchemaJson(source.schema()), options, blocks_, yield);
    };
  }
  NewWriter CsvWriters(Source& source) {
    return [this, &source](int part, const file::Yield& yield) {
      const std::string name = fmt::format("part-{}.csv", part);
      return file::NewCsvWriter(files_, folder_.Path(name), name, source.schema(), yield);
    };
  }
  Result<ExportTotals> Run(Source& source, const NewWriter& writers,
                           const ExportOptions& options = {}) {
    Progress progress;
    WEIR_DO(ExportTable(source, writers, options, blocks_, clock_, stop_, progress, totals_));
    return totals_;
  }
  // What a client reads, in the table's order: each value as PostgreSQL's output function prints
  // it.
  pg::Rows Expected(const std::string& select) {
    EXPECT_TRUE(BeginReadOnly(*connection_, pg::Isolation::kReadCommitted, {}).ok());
    auto rows = connection_->Query(select);
    EXPECT_TRUE(rows.ok()) << rows.error().message;
    EXPECT_TRUE(connection_->Exec("COMMIT").ok());
    return std::move(rows).value();
  }
  pg::Rows ReadParquet(const std::string& name) {
    pg::Rows rows;
    const auto reader = file::OpenParquet(folder_.Path(name), 100, blocks_);
    EXPECT_TRUE(reader.ok()) << reader.error().message;
    while (true) {
      const auto batch = reader.value()->Next();
      EXPECT_TRUE(batch.ok()) << batch.error().message;
      if (!batch.ok() || batch.value().row_count == 0) return rows;
      for (int64_t row = 0; row < batch.value().row_count; ++row) {
        pg::Row& out = rows.emplace_back();
        for (const auto& column : batch.value().columns) {
          std::optional<std::string>& text = out.emplace_back();
          if (!column.IsNull(row)) file::AppendValueText(column, row, text.emplace());
        }
      }
    }
  }

  test::Database db_;
  test::TempFolder folder_;
  sys::DiskFiles files_;
  sys::RealClock clock_;
  sys::Stop never_;
  sys::Stop stop_;
  mem::Budget budget_{"test", mem::kUnlimited};
  mem::BlockAllocator blocks_{budget_, 0};
  std::unique_ptr<pg::Connection> connection_;
  ExportTotals totals_;  // Of the last Run(), failed ones too.
};

// RFC 4180 records: an empty field is NULL, a quoted one is text. Ends of line are \n or \r\n.
pg::Rows ParseCsv(const std::string& text) {
  pg::Rows rows;
  size_t at = 0;
  while (at < text.size()) {
    pg::Row& row = rows.emplace_back();
    while (true) {
      std::optional<std::string>& field = row.emplace_back();
      if (text[at] == '"') {
        field.emplace();
        for (++at; text[at] != '"' || text[at + 1] == '"'; ++at) {
          *field += text[at];
          if (text[at] == '"') ++at;
        }
        ++at;
      } else {
        const size_t end = text.find_first_of(",\r\n", at);
        if (end != at) field = text.substr(at, end - at);
        at = end;
      }
      if (text[at] != ',') break;
      ++at;
    }
    at += text[at] == '\r' ? 2 : 1;
  }
  return rows;
}

// ---- Random tables ------------------------------------------------------------------------------

// A type, and random literals of it.
struct RandomType {
  std::string name;
  std::function<std::string(std::mt19937_64&)> literal;
};

int64_t Below(std::mt19937_64& random, int64_t end) {
  return static_cast<int64_t>(random() % static_cast<uint64_t>(end));
}

std::string OneOf(std::mt19937_64& random, const std::vector<std::string>& texts) {
  return texts[static_cast<size_t>(Below(random, static_cast<int64_t>(texts.size())))];
}

std::string RandomText(std::mt19937_64& random, int64_t most) {
  static const std::vector<std::string> kPieces = {
      "a",  "Z", "0", " ", ",",  "\"", "'",    "\\", "\n", "\r",  "\t",
      "ü", "🦆", "{", "}", ";",  "|",  "NULL", "\\N", ".",  "%"};
  std::string text;
  for (int64_t count = Below(random, most + 1); count > 0; --count) text += OneOf(random, kPieces);
  return text;
}

std::string RandomHex(std::mt19937_64& random, int64_t bytes) {
  std::string hex;
  for (; bytes > 0; --bytes) hex += fmt::format("{:02x}", random() & 0xFF);
  return hex;
}

std::string RandomFloat(std::mt19937_64& random, int digits) {
  if (Below(random, 6) == 0) return OneOf(random, {"NaN", "Infinity", "-Infinity", "-0", "0"});
  const double mantissa = static_cast<double>(random()) / 1e19 - 1;
  return fmt::format("{:.{}e}", mantissa * std::pow(10, Below(random, 60) - 30), digits);
}

// Of at most `whole` digits before the point; the server rounds what is too fine.
std::string RandomDecimal(std::mt19937_64& random, int64_t whole, int64_t fraction) {
  std::string text = Below(random, 2) == 0 ? "-" : "";
  for (int64_t at = Below(random, whole + 1); at > 0; --at) text += OneOf(random, {"1", "5", "8"});
  text += "0";  // Overwritten below when there were digits: never one too many.
  if (text.size() > 1 && text[text.size() - 2] != '-') text.pop_back();
  text += ".";
  for (int64_t at = Below(random, fraction + 1); at > 0; --at) {
    text += OneOf(random, {"0", "3", "4"});
  }
  return text + "0";
}

std::string RandomDay(std::mt19937_64& random) {
  return fmt::format("{:04}-{:02}-{:02}", 1 + Below(random, Below(random, 3) == 0 ? 20'000 : 3000),
                     1 + Below(random, 12), 1 + Below(random, 28));
}

// One in five before Christ, where the calendar of PostgreSQL reaches back that far.
std::string MaybeBc(std::mt19937_64& random, const std::string& text) {
  const bool late = text.find('-') > 4 || text > "4700";
  return late || Below(random, 5) != 0 ? text : text + " BC";
}

std::string RandomTime(std::mt19937_64& random) {
  return fmt::format("{:02}:{:02}:{:02}.{:06}", Below(random, 24), Below(random, 60),
                     Below(random, 60), Below(random, 3) == 0 ? 0 : Below(random, 1'000'000));
}

std::string RandomInt(std::mt19937_64& random, int bits) {
  const auto value = static_cast<int64_t>(random()) >> (64 - bits);  // All bits are random.
  return std::to_string(Below(random, 2) == 0 ? value : value >> (bits / 2));
}

std::string RandomJson(std::mt19937_64& random) {
  return OneOf(random, {"null", "[]", "{\"a\" : [1, 2.50, \"x\\n\"],  \"b\":{}}", "\"ü\"", "1e3",
                        "{\"a\": \"" + RandomHex(random, 3) + "\"}"});
}

RandomType RandomScalar(std::mt19937_64& random) {
  using Random = std::mt19937_64;
  const int64_t precision = 1 + Below(random, 38);
  const int64_t scale = Below(random, precision + 1);
  const std::vector<RandomType> types = {
      {"bool", [](Random& r) { return OneOf(r, {"t", "f"}); }},
      {"int2", [](Random& r) { return RandomInt(r, 16); }},
      {"int4", [](Random& r) { return RandomInt(r, 32); }},
      {"int8", [](Random& r) { return RandomInt(r, 64); }},
      {"float4", [](Random& r) { return RandomFloat(r, 8); }},
      {"float8", [](Random& r) { return RandomFloat(r, 16); }},
      {fmt::format("numeric({},{})", precision, scale),
       [whole = std::max<int64_t>(precision - scale - 1, 0), scale](Random& r) {
         return RandomDecimal(r, whole, scale);
       }},
      {"numeric(6,-3)", [](Random& r) { return RandomDecimal(r, 8, 2); }},
      {"numeric(3,5)", [](Random& r) { return "0.00" + std::to_string(Below(r, 1000)); }},
      {"text", [](Random& r) { return RandomText(r, 20); }},
      {"varchar(40)", [](Random& r) { return RandomText(r, 8); }},
      {"char(50)", [](Random& r) { return RandomText(r, 8); }},
      {"bytea", [](Random& r) { return "\\x" + RandomHex(r, Below(r, 12)); }},
      {"date", [](Random& r) { return MaybeBc(r, RandomDay(r)); }},
      {"time", [](Random& r) { return RandomTime(r); }},
      {"timestamp", [](Random& r) { return MaybeBc(r, RandomDay(r) + " " + RandomTime(r)); }},
      {"timestamptz",
       [](Random& r) {
         return RandomDay(r) + " " + RandomTime(r) + OneOf(r, {"+00", "-07:30", "+05:45"});
       }},
      {"uuid", [](Random& r) { return RandomHex(r, 16); }},
      {"json", RandomJson},
      {"jsonb", RandomJson},
      {"mood", [](Random& r) { return OneOf(r, {"glad", "it's \"so\", so", "ü"}); }},
  };
  return types[static_cast<size_t>(Below(random, static_cast<int64_t>(types.size())))];
}

// The SQL of one value.
std::string RandomValue(std::mt19937_64& random, const RandomType& type, bool list,
                        const pg::Connection& connection) {
  if (Below(random, 5) == 0) return "NULL";
  if (!list) return connection.QuoteLiteral(type.literal(random)) + "::" + type.name;
  std::string elements;
  for (int64_t count = Below(random, 4); count > 0; --count) {
    elements += elements.empty() ? "" : ", ";
    elements += RandomValue(random, type, false, connection);
  }
  return fmt::format("ARRAY[{}]::{}[]", elements, type.name);
}

void MakeRandomTable(std::mt19937_64& random, pg::Connection& connection) {
  static const std::vector<std::string> kNames = {"plain", "Upper",    "with space", "dot.ted",
                                                  "quo\"te", "ümläut", "select",     "a,b"};
  std::vector<std::pair<RandomType, bool>> types;
  std::string columns;
  for (int64_t count = 1 + Below(random, 10); count > 0; --count) {
    types.emplace_back(RandomScalar(random), Below(random, 4) == 0);
    const std::string name = kNames[types.size() % kNames.size()] + std::to_string(count);
    columns += fmt::format("{}{} {}{}", columns.empty() ? "" : ", ", connection.QuoteName(name),
                           types.back().first.name, types.back().second ? "[]" : "");
  }
  std::string sql = fmt::format("DROP TABLE IF EXISTS t; CREATE TABLE t ({}); ", columns);
  for (int64_t rows = Below(random, 60); rows > 0; --rows) {
    std::string values;
    for (const auto& [type, list] : types) {
      values += values.empty() ? "" : ", ";
      values += RandomValue(random, type, list, connection);
    }
    sql += fmt::format("INSERT INTO t VALUES ({}); ", values);
  }
  const Status made = connection.Exec(sql);
  ASSERT_TRUE(made.ok()) << made.error().message << "\n" << sql;
}

// Goal:   every value of every type comes out of Parquet and of CSV as PostgreSQL prints it.
// Method: random tables; batches and row groups of random sizes, so that values meet every border.
TEST_F(ExportTableTest, RandomTablesComeOutAsPostgresPrintsThem) {
  db_.Exec("CREATE TYPE mood AS ENUM ('glad', 'it''s \"so\", so', 'ü')");
  for (const uint64_t seed : test::Seeds(40)) {
    SCOPED_TRACE(fmt::format("to repeat: WEIR_SEED={}", seed));
    std::mt19937_64 random(seed);
    MakeRandomTable(random, *connection_);
    ExportOptions options;
    options.batch_bytes = 1 + Below(random, 3000);
    file::ParquetOptions parquet;
    parquet.row_group_rows = 1 + Below(random, 40);
    const auto first = Source::Open(RequestOf("t"), never_);
    ASSERT_TRUE(first.ok()) << first.error().message;
    const auto as_parquet =
        Run(*first.value(), ParquetWriters(*first.value(), parquet), options);
    ASSERT_TRUE(as_parquet.ok()) << as_parquet.error().message;
    const auto second = Source::Open(RequestOf("t"), never_).value();
    ASSERT_TRUE(Run(*second, CsvWriters(*second), options).ok());

    const pg::Rows expected = Expected("SELECT * FROM t");
    EXPECT_EQ(as_parquet.value().rows, static_cast<int64_t>(expected.size()));
    EXPECT_EQ(ReadParquet("part-0.parquet"), expected);
    pg::Rows csv = ParseCsv(folder_.Read("part-0.csv"));
    for (size_t column = 0; column < csv[0].size(); ++column) {
      EXPECT_EQ(csv[0][column], second->columns()[column].column.name);
    }
    csv.erase(csv.begin());
    EXPECT_EQ(csv, expected);
    ASSERT_TRUE(files_.Remove(folder_.Path("part-0.parquet")).ok());
    ASSERT_TRUE(files_.Remove(folder_.Path("part-0.csv")).ok());
    if (HasFailure()) break;
  }
}

// PostgreSQL's own CSV, read by the same reader, says the same.
TEST_F(ExportTableTest, CsvAgreesWithPostgresCsv) {
  db_.Exec("CREATE TABLE t AS SELECT * FROM (VALUES (1, 'a,b'), (NULL, ''), (2, NULL), "
           "(3, E'\"\\n\\r\\\\.'), (4, ' '), (5, '\\.')) v (a, b)");
  const auto source = Source::Open(RequestOf("t"), never_).value();
  ASSERT_TRUE(Run(*source, CsvWriters(*source)).ok());
  ASSERT_TRUE(connection_->StartCopyOut("COPY t TO STDOUT (FORMAT csv, HEADER)").ok());
  const std::string theirs = test::CopyReader(*connection_).Rest().value();
  EXPECT_EQ(ParseCsv(folder_.Read("part-0.csv")), ParseCsv(theirs));
}

// ---- Parts, limits, failures --------------------------------------------------------------------

TEST_F(ExportTableTest, NoRowsGiveOneEmptyPartOrNone) {
  db_.Exec("CREATE TABLE t (a int)");
  for (const bool skip : {false, true}) {
    const auto source = Source::Open(RequestOf("t"), never_).value();
    ExportOptions options;
    options.skip_empty = skip;
    const auto totals = Run(*source, ParquetWriters(*source), options);
    ASSERT_TRUE(totals.ok());
    EXPECT_EQ(totals.value().parts.size(), skip ? 0U : 1U);
    EXPECT_EQ(totals.value().rows, 0);
    EXPECT_EQ(files_.Exists(folder_.Path("part-0.parquet")), !skip);
    ASSERT_TRUE(files_.Remove(folder_.Path("part-0.parquet")).ok());
  }
}

TEST_F(ExportTableTest, PartsEndPastTheirSizeAndHoldEveryRowOnce) {
  db_.Exec("CREATE TABLE t AS SELECT i, repeat('x', 100) AS x FROM generate_series(1, 1000) i");
  const auto source = Source::Open(RequestOf("t"), never_).value();
  ExportOptions options;
  options.batch_bytes = 1000;
  options.max_file_bytes = 300'000;  // The CSV's buffer holds 256 KiB back.
  const auto totals = Run(*source, CsvWriters(*source), options);
  ASSERT_TRUE(totals.ok());
  EXPECT_EQ(totals.value().rows, 1000);
  options.max_file_bytes = 1;
  const auto again = Source::Open(RequestOf("t"), never_).value();
  ASSERT_TRUE(files_.Remove(folder_.Path("part-0.csv")).ok());
  const auto many = Run(*again, ParquetWriters(*again), options);
  ASSERT_TRUE(many.ok()) << many.error().message;
  EXPECT_GT(many.value().parts.size(), 1U);
  int64_t rows = 0;
  for (const auto& part : many.value().parts) {
    EXPECT_GT(part.rows, 0);
    EXPECT_EQ(ReadParquet(part.path).size(), static_cast<size_t>(part.rows));
    rows += part.rows;
  }
  EXPECT_EQ(rows, 1000);
}

TEST_F(ExportTableTest, AnErrorOnTheServerIsReportedWithItsPlace) {
  db_.Exec("CREATE VIEW v AS SELECT 1 / (i - 500) AS a FROM generate_series(1, 1000) i");
  const auto source = Source::Open(RequestOf("v"), never_).value();
  const auto totals = Run(*source, ParquetWriters(*source));
  ASSERT_FALSE(totals.ok());
  EXPECT_EQ(totals.error().code, Code::kInvalid);
  EXPECT_TRUE(totals.error().message.starts_with("public.v: after ")) << totals.error().message;
  EXPECT_TRUE(totals.error().message.ends_with(" rows: division by zero"));
  EXPECT_GT(totals_.read_bytes, 0);
  EXPECT_GT(totals_.copy.value().count(), 0);
  EXPECT_GT(totals_.wait.count(), 0);
}

TEST_F(ExportTableTest, AWriterThatFailsEndsTheReadWithItsOwnError) {
  db_.Exec("CREATE TABLE t AS SELECT i FROM generate_series(1, 200000) i");
  for (int64_t steps = 0; steps < 3; ++steps) {
    const auto source = Source::Open(RequestOf("t"), never_).value();
    sys::MemoryFiles below;
    ASSERT_TRUE(below.MakeFolder("out").ok());
    sys::FailingFiles files(below, steps, {Code::kExhausted, "the disk is full"});
    const NewWriter writers = [&](int, const file::Yield&) {
      return file::NewCsvWriter(files, "out/t.csv", "t.csv", source->schema());
    };
    ExportOptions options;
    options.batch_bytes = 10'000;
    const auto totals = Run(*source, writers, options);
    ASSERT_FALSE(totals.ok());
    EXPECT_EQ(totals.error().code, Code::kExhausted);
    EXPECT_EQ(totals.error().message, "the disk is full");
    EXPECT_GT(totals_.batches, 0);
    EXPECT_GT(totals_.rows, 0);
    EXPECT_GT(totals_.read_bytes, 10'000);
    EXPECT_GT(totals_.decode.count(), 0);
    EXPECT_GT(totals_.copy.value().count(), 0);
    EXPECT_TRUE(totals_.parts.empty());
  }
}

TEST_F(ExportTableTest, AStopEndsAllOfIt) {
  db_.Exec("CREATE VIEW v AS SELECT generate_series(1, 1000000000) AS a");
  const auto source = Source::Open(RequestOf("v"), stop_).value();
  const NewWriter writers = [&](int part, const file::Yield& yield) {
    stop_.Ask();  // In the middle: rows have come, more are under way.
    return CsvWriters(*source)(part, yield);
  };
  ExportOptions options;
  options.batch_bytes = 10'000;
  const auto totals = Run(*source, writers, options);
  ASSERT_FALSE(totals.ok());
  EXPECT_EQ(totals.error().code, Code::kCancelled) << totals.error().message;
}

TEST_F(ExportTableTest, AValueOverTheLimitNamesColumnAndRow) {
  db_.Exec("CREATE TABLE t AS SELECT 'x' AS small, repeat('y', 2000000) AS big");
  const auto source = Source::Open(RequestOf("t"), never_).value();
  ExportOptions options;
  options.max_value_bytes = 1 << 20;
  const auto totals = Run(*source, ParquetWriters(*source), options);
  ASSERT_FALSE(totals.ok());
  EXPECT_EQ(totals.error().message,
            "public.t: column big, row 1: a value of 1.9 MiB is over max_value_mb (1.0 MiB); raise "
            "it in weir.yaml or leave the column out with --exclude");
}

// Only a row that is too wide is blamed, not many small ones that decode to more than they took.
TEST_F(ExportTableTest, AWideRowIsWarnedOfRefusedOrLetThrough) {
  db_.Exec("CREATE TABLE wide AS SELECT repeat('y', 2000000) AS big");
  db_.Exec("CREATE TABLE narrow AS SELECT NULL::uuid AS a, NULL::uuid AS b "
           "FROM generate_series(1, 200000)");
  const auto run = [&](const std::string& table, WideBatch wide) {
    ExportOptions options;
    options.batch_bytes = options.max_batch_bytes = 1 << 20;
    options.wide_batch = wide;
    const auto source = Source::Open(RequestOf(table), never_).value();
    auto totals = Run(*source, CsvWriters(*source), options);
    EXPECT_TRUE(files_.Remove(folder_.Path("part-0.csv")).ok());
    return totals;
  };
  EXPECT_EQ(run("wide", WideBatch::kWarn).value().wide_batches, 1);
  EXPECT_EQ(run("wide", WideBatch::kAllow).value().wide_batches, 0);
  const auto refused = run("wide", WideBatch::kFail);
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.error().code, Code::kExhausted);
  EXPECT_EQ(refused.error().message,
            "public.wide: row 1 takes 1.9 MiB, over max_batch_memory_mb (1.0 MiB); raise it or "
            "leave a column out");
  EXPECT_EQ(run("narrow", WideBatch::kFail).value().rows, 200'000);
}

// The encoder does nothing but yield from its first file on: what comes in meets no other check.
TEST_F(ExportTableTest, WhatIsReceivedAheadIsHeldAgainstTheBudget) {
  db_.Exec("CREATE TABLE t AS SELECT repeat('y', 600000) AS big FROM generate_series(1, 40)");
  const auto source = Source::Open(RequestOf("t"), never_).value();
  ExportOptions options;
  options.batch_bytes = 1;
  const NewWriter writers =
      [&](int part, const file::Yield& yield) -> Result<std::unique_ptr<file::TableWriter>> {
    while (budget_.peak_bytes() <= budget_.limit_bytes()) yield();
    return CsvWriters(*source)(part, yield);
  };
  budget_.SetLimit(2 << 20);
  const auto totals = Run(*source, writers, options);
  ASSERT_FALSE(totals.ok());
  EXPECT_EQ(totals.error().code, Code::kExhausted) << totals.error().message;
}

TEST_F(ExportTableTest, AFullBudgetIsExhausted) {
  db_.Exec("CREATE TABLE t AS SELECT repeat('y', 2000000) AS big FROM generate_series(1, 4)");
  const auto source = Source::Open(RequestOf("t"), never_).value();
  budget_.SetLimit(1 << 20);
  const auto totals = Run(*source, CsvWriters(*source));
  ASSERT_FALSE(totals.ok());
  EXPECT_EQ(totals.error().code, Code::kExhausted) << totals.error().message;
}

}  // namespace
}  // namespace weir::extract
