#include "weir/table/arrow_batch.h"

#include <arrow/array/data.h>
#include <arrow/buffer.h>
#include <arrow/extension/json.h>
#include <arrow/extension/uuid.h>
#include <arrow/record_batch.h>
#include <arrow/status.h>
#include <arrow/type.h>
#include <arrow/util/key_value_metadata.h>

namespace weir::table {
namespace {

// An Arrow buffer that owns one of ours.
class OwnedBuffer final : public arrow::Buffer {
 public:
  explicit OwnedBuffer(table::Buffer buffer)
      : arrow::Buffer(buffer.data(), buffer.size()), buffer_(std::move(buffer)) {}

 private:
  table::Buffer buffer_;
};

std::shared_ptr<arrow::Buffer> Own(std::optional<Buffer> buffer) {
  if (!buffer.has_value()) return nullptr;
  return std::make_shared<OwnedBuffer>(std::move(*buffer));
}

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

// One byte per value to one bit per value, in place: bit i lands at or before byte i.
void PackBits(Buffer& bytes) {
  uint8_t* data = bytes.data();
  for (int64_t base = 0; base < bytes.size(); base += 8) {
    uint8_t packed = 0;
    for (int64_t bit = 0; bit < 8 && base + bit < bytes.size(); ++bit) {
      packed |= static_cast<uint8_t>((data[base + bit] & 1) << bit);
    }
    data[base / 8] = packed;
  }
}

std::shared_ptr<arrow::ArrayData> ToArrowData(ColumnData column) {
  const auto type = ToArrowType(column.type);
  std::vector<std::shared_ptr<arrow::Buffer>> buffers = {Own(std::move(column.validity))};
  std::vector<std::shared_ptr<arrow::ArrayData>> children;
  if (column.type.kind == Kind::kBool) PackBits(*column.values);
  if (column.offsets.has_value()) buffers.push_back(Own(std::move(column.offsets)));
  if (column.element != nullptr) {
    children.push_back(ToArrowData(std::move(*column.element)));
  } else {
    buffers.push_back(Own(std::move(column.values)));
  }
  return arrow::ArrayData::Make(type, column.length, std::move(buffers), std::move(children),
                                column.null_count);
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
  return arrow::schema(std::move(fields), arrow::key_value_metadata({"weir.schema"}, {schema_json}));
}

std::shared_ptr<arrow::RecordBatch> ToArrow(Batch batch,
                                            const std::shared_ptr<arrow::Schema>& schema) {
  std::vector<std::shared_ptr<arrow::ArrayData>> columns;
  for (ColumnData& column : batch.columns) columns.push_back(ToArrowData(std::move(column)));
  return arrow::RecordBatch::Make(schema, batch.row_count, std::move(columns));
}

}  // namespace weir::table
