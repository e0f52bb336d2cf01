#include "weir/table/arrow_batch.h"

#include <arrow/array/data.h>
#include <arrow/buffer.h>
#include <arrow/extension_type.h>
#include <arrow/extension/json.h>
#include <arrow/extension/uuid.h>
#include <arrow/record_batch.h>
#include <arrow/status.h>
#include <arrow/type.h>
#include <arrow/util/key_value_metadata.h>

namespace weir::table {
namespace {

std::shared_ptr<arrow::DataType> ToArrowType(const Type& type) {
  switch (type.kind) {
    case Kind::kBool: return arrow::boolean();
    case Kind::kInt16: return arrow::int16();
    case Kind::kInt32: return arrow::int32();
    case Kind::kInt64: return arrow::int64();
    case Kind::kFloat32: return arrow::float32();
    case Kind::kFloat64: return arrow::float64();
    case Kind::kDecimal: return arrow::decimal128(type.precision, type.scale);
    case Kind::kDate: return arrow::date32();
    case Kind::kTime: return arrow::time64(arrow::TimeUnit::MICRO);
    case Kind::kTimestamp: return arrow::timestamp(arrow::TimeUnit::MICRO);
    case Kind::kTimestampTz: return arrow::timestamp(arrow::TimeUnit::MICRO, "UTC");
    case Kind::kText: return arrow::utf8();
    case Kind::kJson: return arrow::extension::json(arrow::utf8());
    case Kind::kBinary: return arrow::binary();
    case Kind::kUuid: return arrow::extension::uuid();
    case Kind::kList: return arrow::list(arrow::field("element", ToArrowType(*type.element)));
  }
  AssertionFailed("every kind has an Arrow type", __FILE__, __LINE__);
}

Buffer CopyOf(const uint8_t* bytes, int64_t size, mem::BlockAllocator& blocks) {
  Buffer copy(blocks);
  if (size > 0) std::memcpy(copy.Extend(size), bytes, static_cast<size_t>(size));
  return copy;
}

bool BitAt(const uint8_t* bits, int64_t at) { return (bits[at / 8] >> (at % 8) & 1) != 0; }

// Arrow arrays may start at any row of their buffers; ours start at the first.
std::optional<Buffer> CopyValidity(const arrow::ArrayData& data, mem::BlockAllocator& blocks) {
  if (data.GetNullCount() == 0) return std::nullopt;
  Buffer validity(blocks);
  std::memset(validity.Extend((data.length + 7) / 8), 0,
              static_cast<size_t>((data.length + 7) / 8));
  for (int64_t row = 0; row < data.length; ++row) {
    if (BitAt(data.buffers[0]->data(), data.offset + row)) {
      validity.data()[row / 8] |= static_cast<uint8_t>(1 << (row % 8));
    }
  }
  return validity;
}

Result<ColumnData> FromArrowData(const arrow::ArrayData& data, const Type& type,
                                 mem::BlockAllocator& blocks);

// Text, json, binary and lists: offsets from zero, then bytes or elements between the first and the
// last.
Result<ColumnData> FromArrowOffsets(const arrow::ArrayData& data, ColumnData column,
                                    mem::BlockAllocator& blocks) {
  const auto* offsets = data.GetValues<int32_t>(1);
  column.offsets.emplace(blocks);
  column.offsets->Reserve((data.length + 1) * 4);
  const int32_t first = offsets == nullptr ? 0 : offsets[0];
  for (int64_t row = 0; row <= data.length; ++row) {
    column.offsets->Push(offsets == nullptr ? 0 : offsets[row] - first);
  }
  const int64_t size = column.OffsetAt(data.length);
  if (column.type.kind != Kind::kList) {
    const uint8_t* bytes = size == 0 ? nullptr : data.buffers[2]->data() + first;
    column.values = CopyOf(bytes, size, blocks);
    return column;
  }
  const auto elements = data.child_data[0]->Slice(first, size);
  WEIR_TRY(ColumnData element, FromArrowData(*elements, *column.type.element, blocks));
  column.element = std::make_unique<ColumnData>(std::move(element));
  return column;
}

Result<ColumnData> FromArrowData(const arrow::ArrayData& data, const Type& type,
                                 mem::BlockAllocator& blocks) {
  const auto* extension = dynamic_cast<const arrow::ExtensionType*>(data.type.get());
  const arrow::DataType& stored = extension == nullptr ? *data.type : *extension->storage_type();
  const auto wanted = ToArrowType(type);
  const auto* wanted_extension = dynamic_cast<const arrow::ExtensionType*>(wanted.get());
  const arrow::DataType& expected =
      wanted_extension == nullptr ? *wanted : *wanted_extension->storage_type();
  const bool is_list = type.kind == Kind::kList;  // Its element is looked at in its turn.
  if (is_list ? stored.id() != expected.id() : !stored.Equals(expected)) {
    return Fail(Code::kCorrupt, "a column of {} holds {}", type.Name(), stored.ToString());
  }
  ColumnData column;
  column.type = type;
  column.length = data.length;
  column.null_count = data.GetNullCount();
  column.validity = CopyValidity(data, blocks);
  const int64_t width = FixedWidth(type.kind);
  if (width == 0) return FromArrowOffsets(data, std::move(column), blocks);
  const uint8_t* values = data.length == 0 ? nullptr : data.buffers[1]->data();
  if (type.kind != Kind::kBool) {
    column.values = CopyOf(values + data.offset * width, data.length * width, blocks);
    return column;
  }
  column.values.emplace(blocks);
  for (int64_t row = 0; row < data.length; ++row) {
    column.values->Push(static_cast<uint8_t>(BitAt(values, data.offset + row) ? 1 : 0));
  }
  return column;
}

}  // namespace

Error FromArrow(const arrow::Status& status) {
  if (status.IsOutOfMemory()) return {Code::kExhausted, status.message()};
  if (status.IsIOError()) return {Code::kUnavailable, status.message()};
  return {Code::kInvalid, status.message()};
}

std::shared_ptr<arrow::Schema> ToArrow(const Schema& schema, const std::string& schema_json) {
  arrow::FieldVector fields;
  for (const Column& column : schema.columns) {
    auto metadata = arrow::key_value_metadata({"weir.pg_type"}, {column.pg_type});
    if (column.attnum > 0) metadata->Append("PARQUET:field_id", std::to_string(column.attnum));
    fields.push_back(
        arrow::field(column.name, ToArrowType(column.type), column.nullable, std::move(metadata)));
  }
  return arrow::schema(std::move(fields),
                       arrow::key_value_metadata({"weir.schema"}, {schema_json}));
}

Result<Batch> FromArrow(const arrow::RecordBatch& batch, const Schema& schema,
                        mem::BlockAllocator& blocks) {
  if (batch.num_columns() != static_cast<int>(schema.columns.size())) {
    return Fail(Code::kCorrupt, "{} columns where the schema has {}", batch.num_columns(),
                schema.columns.size());
  }
  Batch out;
  out.row_count = batch.num_rows();
  for (int at = 0; at < batch.num_columns(); ++at) {
    const Column& column = schema.columns[static_cast<size_t>(at)];
    WEIR_TRY(ColumnData data, FromArrowData(*batch.column_data(at), column.type, blocks),
             "column {}", column.name);
    out.size_bytes += data.size_bytes();
    out.columns.push_back(std::move(data));
  }
  return out;
}

}  // namespace weir::table
