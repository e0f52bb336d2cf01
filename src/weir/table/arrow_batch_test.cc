#include "weir/table/arrow_batch.h"

#include <arrow/array.h>
#include <arrow/buffer.h>
#include <arrow/record_batch.h>
#include <arrow/status.h>
#include <arrow/type.h>
#include <arrow/util/key_value_metadata.h>

namespace weir::table {
namespace {

Type OfKind(Kind kind) { return {.kind = kind, .precision = 0, .scale = 0, .element = {}}; }

Column NamedColumn(const std::string& name, int attnum, Type type) {
  Column column;
  column.name = name;
  column.attnum = attnum;
  column.pg_type = "pg's " + name;
  column.nullable = attnum % 2 == 0;
  column.type = std::move(type);
  return column;
}

// Columns of every kind, and lists of them.
Schema AllKinds() {
  Schema schema;
  for (int kind = 0; kind < static_cast<int>(Kind::kList); ++kind) {
    Type type = OfKind(static_cast<Kind>(kind));
    if (type.kind == Kind::kDecimal) {
      type.precision = 12;
      type.scale = 2;
    }
    schema.columns.push_back(NamedColumn(type.Name(), 2 * kind, type));
    Type list = OfKind(Kind::kList);
    list.element = std::make_shared<const Type>(type);
    schema.columns.push_back(NamedColumn(list.Name(), 2 * kind + 100, list));
  }
  return schema;
}

class ArrowBatchTest : public testing::Test {
 protected:
  mem::Budget budget_{"test", mem::kUnlimited};
  mem::BlockAllocator blocks_{budget_, 0};
};

TEST_F(ArrowBatchTest, SchemasCarryIdsTypesAndTheirOwnText) {
  const Schema schema = AllKinds();
  const auto arrow_schema = ToArrow(schema, "{the schema}");
  EXPECT_EQ(arrow_schema->metadata()->Get("weir.schema").ValueOrDie(), "{the schema}");
  for (size_t at = 0; at < schema.columns.size(); ++at) {
    const Column& column = schema.columns[at];
    const auto& field = *arrow_schema->field(static_cast<int>(at));
    EXPECT_EQ(field.name(), column.name);
    EXPECT_EQ(field.nullable(), column.nullable);
    EXPECT_EQ(field.metadata()->Get("weir.pg_type").ValueOrDie(), column.pg_type);
    const auto id = field.metadata()->Get("PARQUET:field_id");
    EXPECT_EQ(id.ok() ? id.ValueOrDie() : "0", std::to_string(column.attnum));
  }
  EXPECT_EQ(arrow_schema->GetFieldByName("uuid")->type()->ToString(), "extension<arrow.uuid>");
  EXPECT_EQ(arrow_schema->GetFieldByName("json")->type()->ToString(), "extension<arrow.json>");
  EXPECT_EQ(arrow_schema->GetFieldByName("decimal(12,2)")->type()->ToString(),
            "decimal128(12, 2)");
  EXPECT_EQ(arrow_schema->GetFieldByName("timestamptz")->type()->ToString(),
            "timestamp[us, tz=UTC]");
}

// ---- Batches as Arrow would have read them ------------------------------------------------------

std::shared_ptr<arrow::Buffer> CopyToArrow(const std::optional<Buffer>& buffer) {
  if (!buffer.has_value()) return nullptr;
  return arrow::Buffer::FromString(std::string(AsText(buffer->bytes())));
}

std::shared_ptr<arrow::Buffer> PackedBools(const Buffer& bytes) {
  std::string packed(static_cast<size_t>((bytes.size() + 7) / 8), '\0');
  for (int64_t at = 0; at < bytes.size(); ++at) {
    if (bytes.data()[at] == 0) continue;
    packed[static_cast<size_t>(at / 8)] |= static_cast<char>(1 << at % 8);
  }
  return arrow::Buffer::FromString(std::move(packed));
}

std::shared_ptr<arrow::ArrayData> AsArrow(const ColumnData& column,
                                          const std::shared_ptr<arrow::DataType>& type) {
  std::vector<std::shared_ptr<arrow::Buffer>> buffers = {CopyToArrow(column.validity)};
  std::vector<std::shared_ptr<arrow::ArrayData>> children;
  if (column.offsets.has_value()) buffers.push_back(CopyToArrow(column.offsets));
  if (column.element != nullptr) {
    children.push_back(AsArrow(*column.element, type->field(0)->type()));
  } else if (column.type.kind == Kind::kBool) {
    buffers.push_back(PackedBools(*column.values));
  } else {
    buffers.push_back(CopyToArrow(column.values));
  }
  return arrow::ArrayData::Make(type, column.length, std::move(buffers), std::move(children),
                                column.null_count);
}

std::shared_ptr<arrow::RecordBatch> AsArrow(const Batch& batch, const Schema& schema) {
  const auto arrow_schema = ToArrow(schema, "{}");
  std::vector<std::shared_ptr<arrow::ArrayData>> columns;
  for (size_t at = 0; at < batch.columns.size(); ++at) {
    const auto& field = arrow_schema->field(static_cast<int>(at));
    columns.push_back(AsArrow(batch.columns[at], field->type()));
  }
  return arrow::RecordBatch::Make(arrow_schema, batch.row_count, std::move(columns));
}

// One batch of every kind with nulls, by row number.
Batch MakeBatch(const Schema& schema, int64_t rows, mem::BlockAllocator& blocks) {
  Batch batch;
  batch.row_count = rows;
  const auto append = [](ColumnBuilder& builder, int64_t row) {
    const int64_t width = FixedWidth(builder.type().kind);
    if (row % 3 == 1) {
      builder.AppendNull();
    } else if (width == 0) {
      const std::string text(static_cast<size_t>(row % 5), 'x');
      builder.AppendBytes(AsBytes(text).data(), static_cast<int64_t>(text.size()));
    } else {
      uint8_t* value = builder.AppendFixed(width);
      std::memset(value, 0, static_cast<size_t>(width));
      value[0] = static_cast<uint8_t>(row % 2);
    }
  };
  for (const Column& column : schema.columns) {
    ColumnBuilder builder(column.type, blocks);
    for (int64_t row = 0; row < rows; ++row) {
      if (column.type.kind != Kind::kList) {
        append(builder, row);
      } else if (row % 4 == 3) {
        builder.AppendNull();
      } else {
        for (int64_t at = 0; at < row % 4; ++at) append(builder.element(), row + at);
        builder.AppendList();
      }
    }
    batch.columns.push_back(builder.Finish());
    batch.size_bytes += batch.columns.back().size_bytes();
  }
  return batch;
}

bool SameBuffer(const std::optional<Buffer>& a, const std::optional<Buffer>& b) {
  if (!a.has_value() || !b.has_value()) return a.has_value() == b.has_value();
  return AsText(a->bytes()) == AsText(b->bytes());
}

void ExpectSame(const ColumnData& a, const ColumnData& b) {
  EXPECT_EQ(a.length, b.length);
  EXPECT_EQ(a.null_count, b.null_count);
  for (int64_t row = 0; row < a.length; ++row) ASSERT_EQ(a.IsNull(row), b.IsNull(row));
  EXPECT_TRUE(SameBuffer(a.values, b.values));
  EXPECT_TRUE(SameBuffer(a.offsets, b.offsets));
  ASSERT_EQ(a.element == nullptr, b.element == nullptr);
  if (a.element != nullptr) ExpectSame(*a.element, *b.element);
}

TEST_F(ArrowBatchTest, EveryKindComesFromArrow) {
  const Schema schema = AllKinds();
  for (const int64_t rows : {0, 1, 7, 8, 9, 100}) {
    const Batch want = MakeBatch(schema, rows, blocks_);
    const auto record = AsArrow(MakeBatch(schema, rows, blocks_), schema);
    ASSERT_TRUE(record->ValidateFull().ok()) << record->ValidateFull().ToString();
    const auto back = FromArrow(*record, schema, blocks_);
    ASSERT_TRUE(back.ok()) << back.error().message;
    EXPECT_EQ(back.value().row_count, rows);
    for (size_t at = 0; at < schema.columns.size(); ++at) {
      SCOPED_TRACE(schema.columns[at].name);
      ExpectSame(want.columns[at], back.value().columns[at]);
    }
  }
}

TEST_F(ArrowBatchTest, ASliceComesBackFromItsOwnRows) {
  const Schema schema = AllKinds();
  const auto record = AsArrow(MakeBatch(schema, 100, blocks_), schema);
  const auto slice = FromArrow(*record->Slice(13, 20), schema, blocks_);
  ASSERT_TRUE(slice.ok());
  const Batch whole = MakeBatch(schema, 100, blocks_);
  for (size_t at = 0; at < schema.columns.size(); ++at) {
    SCOPED_TRACE(schema.columns[at].name);
    const ColumnData& part = slice.value().columns[at];
    const ColumnData& all = whole.columns[at];
    for (int64_t row = 0; row < 20; ++row) {
      ASSERT_EQ(part.IsNull(row), all.IsNull(row + 13));
      const int64_t width = FixedWidth(part.type.kind);
      if (part.type.kind == Kind::kList) {
        EXPECT_EQ(part.OffsetAt(row + 1) - part.OffsetAt(row),
                  all.OffsetAt(row + 14) - all.OffsetAt(row + 13));
      } else if (width == 0) {
        EXPECT_EQ(AsText(part.BytesAt(row)), AsText(all.BytesAt(row + 13)));
      } else {
        EXPECT_EQ(std::memcmp(part.values->data() + row * width,
                              all.values->data() + (row + 13) * width, static_cast<size_t>(width)),
                  0);
      }
    }
  }
}

// A file's own schema text may say something else than its columns are.
TEST_F(ArrowBatchTest, OtherTypesThanTheSchemasAreCorrupt) {
  const auto uuid_as_eight_bytes = arrow::fixed_size_binary(8);
  const std::vector<std::pair<Type, std::shared_ptr<arrow::DataType>>> pairs = {
      {OfKind(Kind::kInt32), arrow::int64()},
      {OfKind(Kind::kUuid), uuid_as_eight_bytes},
      {OfKind(Kind::kText), arrow::large_utf8()},
      {OfKind(Kind::kTimestamp), arrow::timestamp(arrow::TimeUnit::MILLI)},
      {{.kind = Kind::kDecimal, .precision = 12, .scale = 2, .element = {}},
       arrow::decimal128(12, 3)},
  };
  for (const auto& [type, arrow_type] : pairs) {
    Schema schema;
    schema.columns.push_back(NamedColumn("c", 1, type));
    const auto record =
        arrow::RecordBatch::MakeEmpty(arrow::schema({arrow::field("c", arrow_type)}));
    const auto batch = FromArrow(**record, schema, blocks_);
    ASSERT_FALSE(batch.ok()) << arrow_type->ToString();
    EXPECT_EQ(batch.error().code, Code::kCorrupt);
  }
  const auto none = arrow::RecordBatch::MakeEmpty(arrow::schema(arrow::FieldVector{}));
  EXPECT_EQ(FromArrow(**none, AllKinds(), blocks_).error().code, Code::kCorrupt);
}

}  // namespace
}  // namespace weir::table
