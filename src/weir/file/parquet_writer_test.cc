#include "weir/file/parquet_writer.h"

#include <parquet/file_reader.h>
#include <parquet/metadata.h>
#include <parquet/page_index.h>
#include <parquet/schema.h>
#include <parquet/statistics.h>

#include <random>

#include "tests/support/folder.h"
#include "weir/file/manifest.h"
#include "weir/file/parquet_reader.h"
#include "weir/file/value_text.h"

namespace weir::file {
namespace {

using table::Kind;
using table::Type;

table::Column NamedColumn(const std::string& name, Type type) {
  static int attnum = 0;
  table::Column column;
  column.name = name;
  column.attnum = ++attnum;
  column.pg_type = type.Name();
  column.type = std::move(type);
  return column;
}

Type OfKind(Kind kind) { return {.kind = kind, .precision = 0, .scale = 0, .element = {}}; }

class ParquetWriterTest : public testing::Test {
 protected:
  // Makes `rows` values of a text column, by row number.
  table::Batch TextBatch(int64_t rows, const std::function<std::string(int64_t)>& value) {
    table::ColumnBuilder builder(OfKind(Kind::kText), blocks_);
    for (int64_t row = 0; row < rows; ++row) {
      const std::string text = value(row);
      const Bytes bytes = AsBytes(text);
      builder.AppendBytes(bytes.data(), static_cast<int64_t>(bytes.size()));
    }
    table::Batch batch;
    batch.row_count = rows;
    batch.columns.push_back(builder.Finish());
    batch.size_bytes = batch.columns[0].size_bytes();
    return batch;
  }
  static table::Schema TextSchema() {
    table::Schema schema;
    schema.columns.push_back(NamedColumn("t", OfKind(Kind::kText)));
    return schema;
  }
  std::unique_ptr<TableWriter> NewWriter(const table::Schema& schema, ParquetOptions options = {}) {
    return NewParquetWriter(files_, folder_.Path("t.parquet"), "t.parquet", schema,
                            SchemaJson(schema), options, blocks_)
        .value();
  }
  std::unique_ptr<parquet::ParquetFileReader> OpenRaw() {
    return parquet::ParquetFileReader::OpenFile(folder_.Path("t.parquet"));
  }
  static bool HasDictionary(const parquet::ColumnChunkMetaData& chunk) {
    return chunk.has_dictionary_page();
  }
  // All values as text, rows divided by newlines.
  std::string ReadBack() {
    const auto reader = OpenParquet(folder_.Path("t.parquet"), 1000, blocks_).value();
    std::string text;
    while (true) {
      const auto batch = reader->Next();
      EXPECT_TRUE(batch.ok());
      if (!batch.ok() || batch.value().row_count == 0) return text;
      for (int64_t row = 0; row < batch.value().row_count; ++row) {
        for (const auto& column : batch.value().columns) {
          column.IsNull(row) ? text.append("NULL") : (AppendValueText(column, row, text), text);
          text += '|';
        }
        text += '\n';
      }
    }
  }

  test::TempFolder folder_;
  sys::DiskFiles files_;
  mem::Budget budget_{"test", mem::kUnlimited};
  mem::BlockAllocator blocks_{budget_, 0};
};

// One value of any kind, from a number; every third is null.
void AppendExample(table::ColumnBuilder& builder, int64_t number) {
  const Type& type = builder.type();
  if (number % 3 == 2) return builder.AppendNull();
  switch (type.kind) {
    case Kind::kBool: return builder.AppendValue(static_cast<uint8_t>(number % 2));
    case Kind::kInt16: return builder.AppendValue(static_cast<int16_t>(-number));
    case Kind::kInt32:
    case Kind::kDate: return builder.AppendValue(static_cast<int32_t>(number * 1'000'003));
    case Kind::kFloat32: return builder.AppendValue(static_cast<float>(number) / 3);
    case Kind::kFloat64: return builder.AppendValue(static_cast<double>(number) / 7);
    case Kind::kInt64:
    case Kind::kTimestamp:
    case Kind::kTimestampTz: return builder.AppendValue(number * 1'000'000'000'007);
    case Kind::kTime: return builder.AppendValue(number * 1'000'003);
    case Kind::kDecimal: return builder.AppendValue(static_cast<__int128>(number) - 50);
    case Kind::kUuid:
      std::memset(builder.AppendFixed(16), static_cast<int>(number), 16);
      return;
    case Kind::kText:
    case Kind::kJson:
    case Kind::kBinary: {
      const std::string text = std::string(static_cast<size_t>(number % 5), '7');
      return builder.AppendBytes(AsBytes(text).data(), static_cast<int64_t>(text.size()));
    }
    case Kind::kList:
      for (int64_t at = 0; at < number % 4; ++at) AppendExample(builder.element(), number + at);
      return builder.AppendList();
  }
}

std::vector<Type> AllTypes() {
  std::vector<Type> types;
  for (int kind = 0; kind < static_cast<int>(Kind::kList); ++kind) {
    Type type = OfKind(static_cast<Kind>(kind));
    if (type.kind == Kind::kDecimal) type.precision = type.scale = 38;
    types.push_back(type);
  }
  types.push_back({.kind = Kind::kDecimal, .precision = 9, .scale = 2, .element = {}});
  types.push_back({.kind = Kind::kDecimal, .precision = 18, .scale = 0, .element = {}});
  for (size_t at = types.size(); at-- > 0;) {
    Type list = OfKind(Kind::kList);
    list.element = std::make_shared<const Type>(types[at]);
    types.push_back(list);
  }
  return types;
}

TEST_F(ParquetWriterTest, AllKindsReadBackAsTheyWere) {
  constexpr int64_t kRows = 100;
  table::Schema schema;
  std::vector<table::ColumnBuilder> builders;
  for (const Type& type : AllTypes()) {
    schema.columns.push_back(NamedColumn(fmt::format("c.{}", builders.size()), type));
    builders.emplace_back(type, blocks_);
  }
  const auto writer = NewWriter(schema);
  std::string want;
  for (int64_t batch_number = 0; batch_number < 2; ++batch_number) {
    table::Batch batch;
    batch.row_count = kRows;
    for (auto& builder : builders) {
      for (int64_t row = 0; row < kRows; ++row) AppendExample(builder, row + batch_number);
      batch.columns.push_back(builder.Finish());
    }
    for (int64_t row = 0; row < kRows; ++row) {
      for (const auto& column : batch.columns) {
        column.IsNull(row) ? want.append("NULL") : (AppendValueText(column, row, want), want);
        want += '|';
      }
      want += '\n';
    }
    ASSERT_TRUE(writer->Write(std::move(batch)).ok());
  }
  const auto part = writer->Finish();
  ASSERT_TRUE(part.ok()) << part.error().message;
  EXPECT_EQ(part.value().rows, 2 * kRows);
  EXPECT_EQ(part.value().bytes, files_.SizeBytes(folder_.Path("t.parquet")).value());
  EXPECT_EQ(ReadBack(), want);

  const auto raw = OpenRaw();
  EXPECT_EQ(raw->metadata()->num_rows(), 2 * kRows);
  const auto& root = *raw->metadata()->schema()->group_node();
  for (size_t at = 0; at < schema.columns.size(); ++at) {
    EXPECT_EQ(root.field(static_cast<int>(at))->field_id(), schema.columns[at].attnum);
  }
}

TEST_F(ParquetWriterTest, KindsHaveTheirParquetType) {
  table::Schema schema;
  for (const Type& type : AllTypes()) {
    if (type.kind != Kind::kList) schema.columns.push_back(NamedColumn(type.Name(), type));
  }
  ASSERT_TRUE(NewWriter(schema)->Finish().ok());
  std::string types;
  const auto raw = OpenRaw();
  for (int at = 0; at < raw->metadata()->num_columns(); ++at) {
    const auto& column = *raw->metadata()->schema()->Column(at);
    types += fmt::format("{}: {} {}\n", column.name(),
                         parquet::TypeToString(column.physical_type()),
                         column.logical_type()->ToString());
  }
  EXPECT_EQ(types,
            "bool: BOOLEAN None\n"
            "int16: INT32 Int(bitWidth=16, isSigned=true)\n"
            "int32: INT32 None\n"
            "int64: INT64 None\n"
            "float32: FLOAT None\n"
            "float64: DOUBLE None\n"
            "decimal(38,38): FIXED_LEN_BYTE_ARRAY Decimal(precision=38, scale=38)\n"
            "date: INT32 Date\n"
            "time: INT64 Time(isAdjustedToUTC=false, timeUnit=microseconds)\n"
            "timestamp: INT64 Timestamp(isAdjustedToUTC=false, timeUnit=microseconds, "
            "is_from_converted_type=false, force_set_converted_type=false)\n"
            "timestamptz: INT64 Timestamp(isAdjustedToUTC=true, timeUnit=microseconds, "
            "is_from_converted_type=false, force_set_converted_type=false)\n"
            "text: BYTE_ARRAY String\n"
            "json: BYTE_ARRAY JSON\n"
            "binary: BYTE_ARRAY None\n"
            "uuid: FIXED_LEN_BYTE_ARRAY UUID\n"
            "decimal(9,2): INT32 Decimal(precision=9, scale=2)\n"
            "decimal(18,0): INT64 Decimal(precision=18, scale=0)\n");
}

TEST_F(ParquetWriterTest, NoRowsIsAWholeFileWithASchema) {
  for (const bool empty_batch : {false, true}) {
    const table::Schema schema = TextSchema();
    const auto writer = NewWriter(schema);
    if (empty_batch) {
      ASSERT_TRUE(writer->Write(TextBatch(0, {})).ok());
    }
    const auto part = writer->Finish();
    ASSERT_TRUE(part.ok()) << part.error().message;
    EXPECT_EQ(part.value().rows, 0);
    const auto reader = OpenParquet(folder_.Path("t.parquet"), 10, blocks_);
    ASSERT_TRUE(reader.ok()) << reader.error().message;
    EXPECT_EQ(reader.value()->row_count(), 0);
    EXPECT_EQ(reader.value()->schema().columns[0].name, "t");
    EXPECT_EQ(reader.value()->Next().value().row_count, 0);
    ASSERT_TRUE(files_.Remove(folder_.Path("t.parquet")).ok());
  }
}

// Tables too wide for all columns to be open at once obey the same bounds.
TEST_F(ParquetWriterTest, WideTablesEndTheirRowGroupsAtTheirBoundsToo) {
  table::Schema schema;
  std::vector<table::ColumnBuilder> builders;
  Type type;
  type.kind = Kind::kInt64;
  for (int at = 0; at < 33; ++at) {
    schema.columns.push_back(NamedColumn(fmt::format("c{}", at), type));
    builders.emplace_back(type, blocks_);
  }
  const auto group_rows = [&](const ParquetOptions& options) {
    const auto writer = NewWriter(schema, options);
    for (int64_t number = 0; number < 10; ++number) {
      table::Batch batch;
      batch.row_count = 100;
      for (auto& builder : builders) {
        for (int64_t row = 0; row < batch.row_count; ++row) builder.AppendValue(number * row);
        batch.columns.push_back(builder.Finish());
        batch.size_bytes += batch.columns.back().size_bytes();
      }
      EXPECT_TRUE(writer->Write(std::move(batch)).ok());
    }
    EXPECT_TRUE(writer->Finish().ok());
    std::vector<int64_t> rows;
    const auto raw = OpenRaw();
    for (int at = 0; at < raw->metadata()->num_row_groups(); ++at) {
      rows.push_back(raw->metadata()->RowGroup(at)->num_rows());
    }
    EXPECT_TRUE(files_.Remove(folder_.Path("t.parquet")).ok());
    return rows;
  };
  EXPECT_EQ(group_rows({}), (std::vector<int64_t>{1000}));
  ParquetOptions by_rows;
  by_rows.row_group_rows = 300;
  EXPECT_EQ(group_rows(by_rows), (std::vector<int64_t>{300, 300, 300, 100}));
  ParquetOptions by_bytes;
  by_bytes.row_group_raw_bytes = 4 * 33 * 100 * 8;
  EXPECT_EQ(group_rows(by_bytes), (std::vector<int64_t>{400, 400, 200}));
}

TEST_F(ParquetWriterTest, RowGroupsEndAtTheirBounds) {
  const auto groups = [&](const ParquetOptions& options) {
    const auto writer = NewWriter(TextSchema(), options);
    std::mt19937_64 random(1);
    for (int batch = 0; batch < 10; ++batch) {  // Ten batches of about 100 KB that do not compress.
      const auto noise = [&](int64_t) {
        std::string text;
        for (int word = 0; word < 125; ++word) text += fmt::format("{:08x}", random() >> 32);
        return text;
      };
      EXPECT_TRUE(writer->Write(TextBatch(100, noise)).ok());
    }
    EXPECT_TRUE(writer->Finish().ok());
    std::vector<int64_t> rows;
    const auto raw = OpenRaw();
    for (int group = 0; group < raw->metadata()->num_row_groups(); ++group) {
      rows.push_back(raw->metadata()->RowGroup(group)->num_rows());
    }
    EXPECT_TRUE(files_.Remove(folder_.Path("t.parquet")).ok());
    return rows;
  };
  using Rows = std::vector<int64_t>;
  EXPECT_EQ(groups({}), (Rows{1000}));
  ParquetOptions options;
  options.row_group_rows = 250;
  EXPECT_EQ(groups(options), (Rows{300, 300, 300, 100}));
  options = {};
  options.row_group_raw_bytes = 400'000;
  EXPECT_EQ(groups(options), (Rows{400, 400, 200}));
  options = {};
  options.row_group_encoded_bytes = 100'000;  // The page being filled is not encoded yet.
  const Rows encoded = groups(options);
  EXPECT_GE(encoded.size(), 2U);
  EXPECT_LE(encoded[0], 700);
}

TEST_F(ParquetWriterTest, EveryCompressionReadsBack) {
  using enum Compression;
  for (const Compression compression : {kZstd, kSnappy, kGzip, kLz4, kNone}) {
    ParquetOptions options;
    options.compression = compression;
    const auto writer = NewWriter(TextSchema(), options);
    ASSERT_TRUE(writer->Write(TextBatch(10, [](int64_t row) { return std::to_string(row); })).ok());
    ASSERT_TRUE(writer->Finish().ok());
    EXPECT_EQ(ReadBack(), "0|\n1|\n2|\n3|\n4|\n5|\n6|\n7|\n8|\n9|\n");
    ASSERT_TRUE(files_.Remove(folder_.Path("t.parquet")).ok());
  }
}

TEST_F(ParquetWriterTest, DictionariesOnlyWhereValuesRepeat) {
  const auto has_dictionary = [&](const std::function<std::string(int64_t)>& value) {
    const auto writer = NewWriter(TextSchema());
    EXPECT_TRUE(writer->Write(TextBatch(5000, value)).ok());
    EXPECT_TRUE(writer->Finish().ok());
    const bool found = HasDictionary(*OpenRaw()->metadata()->RowGroup(0)->ColumnChunk(0));
    EXPECT_TRUE(files_.Remove(folder_.Path("t.parquet")).ok());
    return found;
  };
  EXPECT_TRUE(has_dictionary([](int64_t row) { return std::to_string(row % 7); }));
  EXPECT_FALSE(has_dictionary([](int64_t row) { return std::to_string(row); }));
}

// The first batch repeats itself, so a dictionary is begun; what follows does not, and outgrows it.
TEST_F(ParquetWriterTest, ADictionaryThatOutgrowsAPageIsGivenUp) {
  const auto value = [](int64_t row) { return fmt::format("{:0100}", row); };
  const auto writer = NewWriter(TextSchema());
  ASSERT_TRUE(writer->Write(TextBatch(100, [&](int64_t row) { return value(row % 7); })).ok());
  std::string expected;
  for (int64_t row = 0; row < 100; ++row) expected += value(row % 7) + "|\n";
  for (int64_t batch = 0; batch < 10; ++batch) {
    const int64_t first = batch * 1000;
    ASSERT_TRUE(
        writer->Write(TextBatch(1000, [&](int64_t row) { return value(first + row); })).ok());
    for (int64_t row = 0; row < 1000; ++row) expected += value(first + row) + "|\n";
  }
  ASSERT_TRUE(writer->Finish().ok());
  const auto raw = OpenRaw();
  const auto chunk = raw->metadata()->RowGroup(0)->ColumnChunk(0);
  EXPECT_TRUE(chunk->has_dictionary_page());
  const auto& encodings = chunk->encodings();
  EXPECT_TRUE(std::count(encodings.begin(), encodings.end(), parquet::Encoding::RLE_DICTIONARY));
  EXPECT_EQ(chunk->statistics()->EncodeMax(), value(9999));
  EXPECT_EQ(ReadBack(), expected);
}

// Rows per page of the first column, as its offset index has them.
std::vector<int64_t> PageRows(parquet::ParquetFileReader& raw) {
  const auto index = raw.GetPageIndexReader()->RowGroup(0)->GetOffsetIndex(0);
  const auto& locations = index->page_locations();
  std::vector<int64_t> rows;
  for (size_t at = 0; at < locations.size(); ++at) {
    const int64_t end = at + 1 < locations.size() ? locations[at + 1].first_row_index
                                                  : raw.metadata()->num_rows();
    rows.push_back(end - locations[at].first_row_index);
  }
  return rows;
}

TEST_F(ParquetWriterTest, PagesEndAtTheirBytesOrRows) {
  const auto pages = [&](int64_t rows, size_t width) {
    const auto writer = NewWriter(TextSchema());
    const auto value = [&](int64_t row) { return fmt::format("{:0{}}", row, width); };
    for (int64_t first = 0; first < rows; first += 1000) {
      EXPECT_TRUE(
          writer->Write(TextBatch(1000, [&](int64_t row) { return value(first + row); })).ok());
    }
    EXPECT_TRUE(writer->Finish().ok());
    const auto found = PageRows(*OpenRaw());
    EXPECT_TRUE(files_.Remove(folder_.Path("t.parquet")).ok());
    return found;
  };
  EXPECT_EQ(pages(45'000, 5), (std::vector<int64_t>{20'000, 20'000, 5'000}));
  const auto by_bytes = pages(8'000, 200);
  ASSERT_GE(by_bytes.size(), 3U);
  for (size_t at = 0; at + 1 < by_bytes.size(); ++at) {
    EXPECT_LE(by_bytes[at] * 204, (512 << 10) + 204) << at;
    EXPECT_GT(by_bytes[at] * 204, 500 << 10) << at;
  }
}

TEST_F(ParquetWriterTest, BoolsOfAnyNumberReadBack) {
  table::Schema schema;
  schema.columns.push_back(NamedColumn("b", OfKind(Kind::kBool)));
  for (int64_t length = 1; length < 40; ++length) {
    table::ColumnBuilder builder(OfKind(Kind::kBool), blocks_);
    std::string expected;
    for (int64_t row = 0; row < length; ++row) {
      if (row % 5 == 4) {
        builder.AppendNull();
        expected += "NULL|\n";
      } else {
        builder.AppendValue(static_cast<uint8_t>(row % 3 == 0));
        expected += row % 3 == 0 ? "t|\n" : "f|\n";
      }
    }
    table::Batch batch;
    batch.row_count = length;
    batch.columns.push_back(builder.Finish());
    const auto writer = NewWriter(schema);
    ASSERT_TRUE(writer->Write(std::move(batch)).ok());
    ASSERT_TRUE(writer->Finish().ok());
    EXPECT_EQ(ReadBack(), expected);
    ASSERT_TRUE(files_.Remove(folder_.Path("t.parquet")).ok());
  }
}

// Nulls that begin in the middle of a page, and pages without any after pages with some.
TEST_F(ParquetWriterTest, NullsBeginAndEndAnywhere) {
  table::Schema schema;
  schema.columns.push_back(NamedColumn("n", OfKind(Kind::kInt32)));
  const auto writer = NewWriter(schema);
  table::ColumnBuilder builder(OfKind(Kind::kInt32), blocks_);
  std::string expected;
  for (int batch = 0; batch < 90; ++batch) {
    for (int row = 0; row < 700; ++row) {
      const bool is_null = batch % 30 > 10 && batch % 30 < 20 && row % 3 == 0;
      is_null ? builder.AppendNull() : builder.AppendValue(batch * 700 + row);
      expected += (is_null ? "NULL" : std::to_string(batch * 700 + row)) + "|\n";
    }
    table::Batch rows;
    rows.row_count = 700;
    rows.columns.push_back(builder.Finish());
    ASSERT_TRUE(writer->Write(std::move(rows)).ok());
  }
  ASSERT_TRUE(writer->Finish().ok());
  EXPECT_EQ(ReadBack(), expected);
  EXPECT_EQ(OpenRaw()->metadata()->RowGroup(0)->ColumnChunk(0)->statistics()->null_count(),
            3 * 9 * 234);
}

// Pages, indices and levels of a thousand open columns together stay near what pages may take.
TEST_F(ParquetWriterTest, AThousandColumnsTakeNoMoreThanTheirPages) {
  constexpr int kColumns = 1000;
  table::Schema schema;
  std::vector<table::ColumnBuilder> builders;
  for (int at = 0; at < kColumns; ++at) {
    schema.columns.push_back(NamedColumn(fmt::format("c{}", at), OfKind(Kind::kInt32)));
    builders.emplace_back(OfKind(Kind::kInt32), blocks_);
  }
  const auto writer = NewWriter(schema);
  for (int batch = 0; batch < 40; ++batch) {
    table::Batch rows;
    rows.row_count = 500;
    for (auto& builder : builders) {
      for (int32_t row = 0; row < 500; ++row) {
        row % 7 == 0 ? builder.AppendNull() : builder.AppendValue(row % 100);
      }
      rows.columns.push_back(builder.Finish());
    }
    ASSERT_TRUE(writer->Write(std::move(rows)).ok());
  }
  EXPECT_LT(budget_.peak_bytes(), 56 << 20);
  ASSERT_TRUE(writer->Finish().ok());
}

// Levels that do not compress, of lists that fill a page with them: they outgrow the room before
// the values.
TEST_F(ParquetWriterTest, LongLevelsOfListsReadBack) {
  Type list = OfKind(Kind::kList);
  list.element = std::make_shared<const Type>(OfKind(Kind::kInt32));
  table::Schema schema;
  schema.columns.push_back(NamedColumn("l", list));
  table::ColumnBuilder builder(list, blocks_);
  std::mt19937_64 random(7);
  std::string expected;
  for (int row = 0; row < 12'000; ++row) {
    const uint64_t kind = random() % 8;
    if (kind == 0) {
      builder.AppendNull();
      expected += "NULL|\n";
      continue;
    }
    std::string text = "{";
    for (uint64_t at = 0; at + 1 < kind * 3; ++at) {
      if (text.size() > 1) text += ',';
      const bool is_null = random() % 2 == 0;
      is_null ? builder.element().AppendNull() : builder.element().AppendValue(row);
      text += is_null ? "NULL" : std::to_string(row);
    }
    builder.AppendList();
    expected += text + "}|\n";
  }
  table::Batch batch;
  batch.row_count = 12'000;
  batch.columns.push_back(builder.Finish());
  const auto writer = NewWriter(schema);
  ASSERT_TRUE(writer->Write(std::move(batch)).ok());
  ASSERT_TRUE(writer->Finish().ok());
  EXPECT_EQ(ReadBack(), expected);
}

// Neither chunk statistics nor the page index may hold a value over 4 KiB.
TEST_F(ParquetWriterTest, LongValuesAreNotInStatistics) {
  for (const int64_t long_rows : {int64_t{1}, int64_t{1000}}) {
    const auto writer = NewWriter(TextSchema());
    const auto value = [&](int64_t row) {
      return std::string(row < long_rows ? 5000 : 3, static_cast<char>('a' + row % 26));
    };
    ASSERT_TRUE(writer->Write(TextBatch(1000, value)).ok());
    ASSERT_TRUE(writer->Finish().ok());
    EXPECT_LE(LongestStatisticBytes(folder_.Path("t.parquet"), blocks_).value(), 4096);
    ASSERT_TRUE(files_.Remove(folder_.Path("t.parquet")).ok());
  }
}

TEST_F(ParquetWriterTest, ShortValuesHaveStatisticsAndAPageIndex) {
  const auto writer = NewWriter(TextSchema());
  ASSERT_TRUE(writer->Write(TextBatch(100, [](int64_t row) { return std::to_string(row); })).ok());
  ASSERT_TRUE(writer->Finish().ok());
  const auto raw = OpenRaw();
  const auto chunk = raw->metadata()->RowGroup(0)->ColumnChunk(0);
  ASSERT_TRUE(chunk->is_stats_set());
  EXPECT_EQ(chunk->statistics()->EncodeMin(), "0");
  EXPECT_EQ(chunk->statistics()->EncodeMax(), "99");
  EXPECT_EQ(LongestStatisticBytes(folder_.Path("t.parquet"), blocks_).value(), 2);
  ASSERT_NE(raw->GetPageIndexReader()->RowGroup(0), nullptr);
}

// Goal: whatever step the disk fails at, the error is the disk's own, and memory comes back.
TEST_F(ParquetWriterTest, AFailingDiskGivesItsOwnError) {
  for (int64_t steps = 0;; ++steps) {
    ASSERT_LT(steps, 100);
    sys::MemoryFiles below;
    ASSERT_TRUE(below.MakeFolder("out").ok());
    sys::FailingFiles files(below, steps, {Code::kExhausted, "the disk is full"});
    const auto written = [&]() -> Status {
      WEIR_TRY(const auto writer, NewParquetWriter(files, "out/t", "t", TextSchema(), "{}", {},
                                                   blocks_));
      for (int batch = 0; batch < 2; ++batch) {
        WEIR_DO(writer->Write(TextBatch(100, [](int64_t row) { return std::to_string(row); })));
      }
      WEIR_TRY([[maybe_unused]] const auto part, writer->Finish());
      return Ok();
    }();
    if (written.ok()) break;
    EXPECT_EQ(written.error().code, Code::kExhausted) << written.error().message;
    EXPECT_EQ(written.error().message, "the disk is full");
    EXPECT_EQ(budget_.used_bytes(), 0);
  }
}

// Goal: a budget that is too small to read with is told as such, never as damage to the file.
// A batch of a thousand rows of a megabyte would not fit anywhere.
TEST_F(ParquetWriterTest, WideRowsAreReadFewAtATime) {
  std::mt19937_64 rng(1);
  auto writer = NewWriter(TextSchema());
  const auto wide = [&](int64_t) {
    std::string text(1 << 20, ' ');
    for (char& letter : text) letter = static_cast<char>('a' + rng() % 26);
    return text;
  };
  ASSERT_TRUE(writer->Write(TextBatch(60, wide)).ok());
  ASSERT_TRUE(writer->Finish().ok());
  const auto reader = OpenParquet(folder_.Path("t.parquet"), 1000, blocks_).value();
  int64_t rows = 0;
  for (int64_t taken = 1; taken > 0; rows += taken) {
    const auto batch = reader->Next().value();
    taken = batch.row_count;
    EXPECT_LE(batch.size_bytes, 16 << 20);
  }
  EXPECT_EQ(rows, 60);
}

// Values that stay in Arrow's memory keep it, whatever becomes of their reader.
TEST_F(ParquetWriterTest, BatchesOutliveTheirReader) {
  auto writer = NewWriter(TextSchema());
  const auto text = [](int64_t row) { return fmt::format("value {}", row * row); };
  ASSERT_TRUE(writer->Write(TextBatch(1000, text)).ok());
  ASSERT_TRUE(writer->Finish().ok());
  auto reader = OpenParquet(folder_.Path("t.parquet"), 1000, blocks_).value();
  const table::Batch batch = reader->Next().value();
  reader.reset();
  ASSERT_EQ(batch.row_count, 1000);
  for (int64_t row = 0; row < 1000; ++row) {
    ASSERT_EQ(AsText(batch.columns[0].BytesAt(row)), text(row));
  }
}

TEST_F(ParquetWriterTest, AFullBudgetIsNoDamageToTheFile) {
  const auto writer = NewWriter(TextSchema());
  const auto value = [](int64_t row) { return fmt::format("{:0300}", row * 7'919); };
  for (int batch = 0; batch < 4; ++batch) ASSERT_TRUE(writer->Write(TextBatch(500, value)).ok());
  ASSERT_TRUE(writer->Finish().ok());
  int exhausted = 0;
  bool enough = false;
  for (int64_t limit = 1 << 10; !enough; limit += limit / 4) {
    ASSERT_LT(limit, int64_t{1} << 30);
    mem::Budget budget("small", limit);
    mem::BlockAllocator blocks(budget, 0);
    const auto read = [&]() -> Status {
      WEIR_TRY([[maybe_unused]] const auto sizes,
               RowGroupSizes(folder_.Path("t.parquet"), blocks));
      WEIR_TRY(const auto reader, OpenRowGroup(folder_.Path("t.parquet"), 0, 100, blocks));
      while (true) {
        WEIR_TRY(const table::Batch batch, reader->Next());
        if (batch.row_count == 0) return Ok();
      }
    }();
    enough = read.ok();
    if (enough) continue;
    ++exhausted;
    EXPECT_EQ(read.error().code, Code::kExhausted) << limit << ": " << read.error().message;
    EXPECT_EQ(budget.used_bytes(), 0);
  }
  EXPECT_GT(exhausted, 5);
}

// Goal: a budget of any size is either enough, or full with kExhausted; memory comes back.
TEST_F(ParquetWriterTest, AFullBudgetIsExhaustedAndLeaksNothing) {
  int exhausted = 0;
  bool enough = false;
  for (int64_t limit = 1 << 14; !enough; limit += limit / 4) {
    ASSERT_LT(limit, int64_t{1} << 30);
    mem::Budget budget("small", limit);
    mem::BlockAllocator blocks(budget, 0);
    sys::MemoryFiles files;
    ASSERT_TRUE(files.MakeFolder("out").ok());
    const auto written = [&]() -> Status {
      ParquetOptions options;
      options.row_group_rows = 200;
      WEIR_TRY(const auto writer,
               NewParquetWriter(files, "out/t", "t", TextSchema(), "{}", options, blocks));
      for (int batch = 0; batch < 4; ++batch) {
        const auto value = [](int64_t row) { return fmt::format("{:0300}", row * 7'919); };
        WEIR_DO(writer->Write(TextBatch(500, value)));
      }
      WEIR_TRY([[maybe_unused]] const auto part, writer->Finish());
      return Ok();
    }();
    enough = written.ok();
    if (enough) continue;
    ++exhausted;
    EXPECT_EQ(written.error().code, Code::kExhausted) << limit << ": " << written.error().message;
    EXPECT_EQ(budget.used_bytes(), 0);
  }
  EXPECT_GT(exhausted, 5);
}

}  // namespace
}  // namespace weir::file
