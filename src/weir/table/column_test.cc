#include "weir/table/column.h"

#include <random>
#include <string>

namespace weir::table {
namespace {

Type OfKind(Kind kind) { return {.kind = kind, .precision = 0, .scale = 0, .element = {}}; }

Type ListOf(Type element) {
  Type list = OfKind(Kind::kList);
  list.element = std::make_shared<const Type>(std::move(element));
  return list;
}

void AppendText(ColumnBuilder& builder, std::string_view text) {
  builder.AppendBytes(AsBytes(text).data(), static_cast<int64_t>(text.size()));
}

class ColumnTest : public testing::Test {
 protected:
  mem::Budget budget_{"test", mem::kUnlimited};  // Aborts unless all memory comes back.
  mem::BlockAllocator blocks_{budget_, 0};
};

TEST_F(ColumnTest, TypesHaveNamesAndWidths) {
  EXPECT_EQ(ListOf({.kind = Kind::kDecimal, .precision = 12, .scale = 2, .element = {}}).Name(),
            "list<decimal(12,2)>");
  EXPECT_EQ(OfKind(Kind::kTimestampTz).Name(), "timestamptz");
  for (int kind = 0; kind <= static_cast<int>(Kind::kList); ++kind) {
    EXPECT_NE(KindName(static_cast<Kind>(kind)), "unknown");
  }
  EXPECT_EQ(FixedWidth(Kind::kUuid), 16);
  EXPECT_EQ(FixedWidth(Kind::kJson), 0);
}

TEST_F(ColumnTest, AnEmptyBuilderGivesAnEmptyColumn) {
  for (int kind = 0; kind < static_cast<int>(Kind::kList); ++kind) {
    const Type type = OfKind(static_cast<Kind>(kind));
    for (const Type& each : {type, ListOf(type)}) {
      const ColumnData column = ColumnBuilder(each, blocks_).Finish();
      EXPECT_EQ(column.length, 0);
      EXPECT_EQ(column.null_count, 0);
      EXPECT_FALSE(column.validity.has_value());
      EXPECT_EQ(column.offsets.has_value(), FixedWidth(each.kind) == 0);
    }
  }
}

TEST_F(ColumnTest, NullsMayComeFirstLateOrOnly) {
  for (const int64_t first : {0, 1, 7, 8, 9, 63, 64, 1000}) {
    ColumnBuilder builder(OfKind(Kind::kInt32), blocks_);
    for (int64_t row = 0; row < first; ++row) builder.AppendValue(static_cast<int32_t>(row));
    builder.AppendNull();
    builder.AppendValue(int32_t{-1});
    builder.AppendNull();
    const ColumnData column = builder.Finish();
    EXPECT_EQ(column.length, first + 3);
    EXPECT_EQ(column.null_count, 2);
    EXPECT_EQ(column.validity->size(), (first + 3 + 7) / 8);
    for (int64_t row = 0; row < first; ++row) {
      EXPECT_FALSE(column.IsNull(row));
      EXPECT_EQ(column.At<int32_t>(row), row);
    }
    EXPECT_TRUE(column.IsNull(first));
    EXPECT_EQ(column.At<int32_t>(first), 0);
    EXPECT_EQ(column.At<int32_t>(first + 1), -1);
    EXPECT_TRUE(column.IsNull(first + 2));
  }
}

TEST_F(ColumnTest, NullTextsAreEmpty) {
  ColumnBuilder builder(OfKind(Kind::kText), blocks_);
  AppendText(builder, "ab");
  builder.AppendNull();
  AppendText(builder, "");
  AppendText(builder, "c");
  const ColumnData column = builder.Finish();
  EXPECT_EQ(AsText(column.BytesAt(0)), "ab");
  EXPECT_TRUE(column.IsNull(1));
  EXPECT_EQ(column.BytesAt(1).size(), 0U);
  EXPECT_FALSE(column.IsNull(2));
  EXPECT_EQ(column.BytesAt(2).size(), 0U);
  EXPECT_EQ(AsText(column.BytesAt(3)), "c");
  EXPECT_EQ(column.size_bytes(), 3 + 5 * 4 + 1);
}

TEST_F(ColumnTest, ListsHoldNullsAndMayBeNullOrEmpty) {
  ColumnBuilder builder(ListOf(OfKind(Kind::kText)), blocks_);
  AppendText(builder.element(), "a");
  builder.element().AppendNull();
  builder.AppendList();
  builder.AppendList();
  builder.AppendNull();
  AppendText(builder.element(), "b");
  builder.AppendList();
  const ColumnData column = builder.Finish();
  EXPECT_EQ(column.length, 4);
  EXPECT_EQ(column.null_count, 1);
  const std::vector<int32_t> offsets = {0, 2, 2, 2, 3};
  for (int64_t row = 0; row <= 4; ++row) {
    EXPECT_EQ(column.OffsetAt(row), offsets[static_cast<size_t>(row)]);
  }
  EXPECT_EQ(column.element->length, 3);
  EXPECT_EQ(column.element->null_count, 1);
  EXPECT_EQ(AsText(column.element->BytesAt(2)), "b");
}

// Goal:   a builder that is used again and again gives each batch its own values only.
// Method: random values in batches of random lengths against plain vectors.
TEST_F(ColumnTest, BatchesDoNotMix) {
  std::mt19937_64 random(7);
  ColumnBuilder builder(OfKind(Kind::kText), blocks_);
  for (int batch = 0; batch < 50; ++batch) {
    std::vector<std::optional<std::string>> values(random() % 200);
    for (auto& value : values) {
      if (random() % 4 == 0) {
        builder.AppendNull();
        continue;
      }
      value = std::string(random() % 300, static_cast<char>('a' + random() % 26));
      AppendText(builder, *value);
    }
    const ColumnData column = builder.Finish();
    ASSERT_EQ(column.length, static_cast<int64_t>(values.size()));
    for (int64_t row = 0; row < column.length; ++row) {
      const auto& value = values[static_cast<size_t>(row)];
      ASSERT_EQ(column.IsNull(row), !value.has_value());
      ASSERT_EQ(AsText(column.BytesAt(row)), value.value_or(""));
    }
  }
}

TEST_F(ColumnTest, BuffersGrowMoveAndDropTheirFront) {
  Buffer buffer(blocks_);
  std::string want;
  for (int step = 0; step < 2000; ++step) {
    const std::string piece = fmt::format("{},", step * 977);
    std::memcpy(buffer.Extend(static_cast<int64_t>(piece.size())), piece.data(), piece.size());
    want += piece;
  }
  EXPECT_EQ(AsText(buffer.bytes()), want);
  buffer.DropFront(100);
  EXPECT_EQ(AsText(buffer.bytes()), want.substr(100));
  Buffer moved = std::move(buffer);
  EXPECT_EQ(AsText(moved.bytes()), want.substr(100));
  moved.DropFront(moved.size());
  EXPECT_EQ(moved.size(), 0);
  buffer = std::move(moved);
  EXPECT_EQ(buffer.size(), 0);
}

TEST_F(ColumnTest, GrowthIsChargedPastTheLimit) {
  budget_.SetLimit(1);
  Buffer buffer(blocks_);
  buffer.Extend(100'000);
  EXPECT_GE(budget_.used_bytes(), 100'000);
}

}  // namespace
}  // namespace weir::table
