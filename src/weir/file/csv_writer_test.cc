#include "weir/file/csv_writer.h"

#include "weir/mem/block_allocator.h"
#include "weir/sys/hash.h"

namespace weir::file {
namespace {

using table::Kind;

table::Column NamedColumn(const std::string& name, Kind kind) {
  table::Column column;
  column.name = name;
  column.type.kind = kind;
  return column;
}

class CsvWriterTest : public testing::Test {
 protected:
  CsvWriterTest() { EXPECT_TRUE(files_.MakeFolder("out").ok()); }

  // A batch of text columns; nullopt is NULL.
  table::Batch Texts(const std::vector<std::vector<std::optional<std::string>>>& rows) {
    table::Batch batch;
    batch.row_count = static_cast<int64_t>(rows.size());
    for (size_t at = 0; at < rows[0].size(); ++at) {
      table::ColumnBuilder builder(NamedColumn("", Kind::kText).type, blocks_);
      for (const auto& row : rows) {
        if (!row[at].has_value()) {
          builder.AppendNull();
          continue;
        }
        const Bytes bytes = AsBytes(*row[at]);
        builder.AppendBytes(bytes.data(), static_cast<int64_t>(bytes.size()));
      }
      batch.columns.push_back(builder.Finish());
    }
    return batch;
  }
  static table::Schema TextSchema(const std::vector<std::string>& names) {
    table::Schema schema;
    for (const std::string& name : names) schema.columns.push_back(NamedColumn(name, Kind::kText));
    return schema;
  }
  std::string Contents() { return files_.Read("out/t.csv", 1 << 20).value(); }

  mem::Budget budget_{"test", mem::kUnlimited};
  mem::BlockAllocator blocks_{budget_, 0};
  sys::MemoryFiles files_;
};

TEST_F(CsvWriterTest, QuotesAsRfc4180AndTellsNullFromEmpty) {
  const auto writer =
      NewCsvWriter(files_, "out/t.csv", "t.csv", TextSchema({"plain", "a,b", "say \"hi\""}));
  ASSERT_TRUE(writer.value()
                  ->Write(Texts({{"x", "", std::nullopt},
                                 {"a,b", "\"", "\"\""},
                                 {"line\nbreak", "carriage\rreturn", "both\r\n"},
                                 {" blanks ", "tab\t", "ü"},
                                 {std::nullopt, std::nullopt, std::nullopt}}))
                  .ok());
  const auto part = writer.value()->Finish();
  ASSERT_TRUE(part.ok());
  const std::string want =
      "plain,\"a,b\",\"say \"\"hi\"\"\"\r\n"
      "x,\"\",\r\n"
      "\"a,b\",\"\"\"\",\"\"\"\"\"\"\r\n"
      "\"line\nbreak\",\"carriage\rreturn\",\"both\r\n\"\r\n"
      " blanks ,tab\t,ü\r\n"
      ",,\r\n";
  EXPECT_EQ(Contents(), want);
  EXPECT_EQ(part.value().path, "t.csv");
  EXPECT_EQ(part.value().rows, 5);
  EXPECT_EQ(part.value().bytes, static_cast<int64_t>(want.size()));
  EXPECT_EQ(part.value().xxh3, fmt::format("{:016x}", sys::Xxh3(AsBytes(want))));
}

TEST_F(CsvWriterTest, NoRowsIsTheHeaderAlone) {
  const auto writer = NewCsvWriter(files_, "out/t.csv", "t.csv", TextSchema({"a", "b"}));
  EXPECT_EQ(writer.value()->Finish().value().rows, 0);
  EXPECT_EQ(Contents(), "a,b\r\n");
}

TEST_F(CsvWriterTest, WhatIsLongerThanTheBufferIsWritten) {
  const std::string longer(300 << 10, 'x');
  const auto writer = NewCsvWriter(files_, "out/t.csv", "t.csv", TextSchema({"a"}));
  ASSERT_TRUE(writer.value()->Write(Texts({{longer}, {"y"}})).ok());
  EXPECT_GE(writer.value()->file_bytes(), 300 << 10);
  ASSERT_TRUE(writer.value()->Finish().ok());
  EXPECT_EQ(Contents(), "a\r\n" + longer + "\r\ny\r\n");
}

TEST_F(CsvWriterTest, AnyStepMayFailAndSaysWhy) {
  for (int64_t steps = 0;; ++steps) {
    sys::MemoryFiles below;
    ASSERT_TRUE(below.MakeFolder("out").ok());
    sys::FailingFiles files(below, steps, {Code::kExhausted, "the disk is full"});
    const auto written = [&]() -> Status {
      WEIR_TRY(const auto writer, NewCsvWriter(files, "out/t.csv", "t.csv", TextSchema({"a"})));
      WEIR_DO(writer->Write(Texts({{std::string(300 << 10, 'x')}})));
      WEIR_TRY([[maybe_unused]] const auto part, writer->Finish());
      return Ok();
    }();
    if (written.ok()) break;
    EXPECT_EQ(written.error().code, Code::kExhausted);
    EXPECT_EQ(written.error().message, "the disk is full");
    ASSERT_LT(steps, 10);
  }
}

}  // namespace
}  // namespace weir::file
