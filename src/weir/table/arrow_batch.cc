#include "weir/table/arrow_batch.h"

#include <arrow/array/data.h>
#include <arrow/buffer.h>
#include <arrow/compute/cast.h>
#include <arrow/compute/exec.h>
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

// Where the memory comes from that Arrow's buffers are in, and one of those.
struct ArrowOwner {
  std::shared_ptr<const void> pool;
  std::shared_ptr<arrow::Buffer> buffer;
};

// Takes values over from Arrow's buffers: in place where `pool` keeps them, else as a copy.
struct Source {
  mem::BlockAllocator& blocks;
  const std::shared_ptr<const void>& pool;

  Buffer Take(const std::shared_ptr<arrow::Buffer>& from, int64_t at, int64_t size) const {
    if (from == nullptr || size == 0) return Buffer(blocks);
    const Bytes bytes(from->data() + at, static_cast<size_t>(size));
    if (pool == nullptr) return CopyOf(bytes.data(), size, blocks);
    return {blocks, bytes, std::make_shared<const ArrowOwner>(ArrowOwner{pool, from})};
  }
};

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
                                 const Source& source);

// Text, json, binary and lists: offsets from zero, then bytes or elements between the first and the
// last.
Result<ColumnData> FromArrowOffsets(const arrow::ArrayData& data, ColumnData column,
                                    const Source& source) {
  const auto* offsets = data.GetValues<int32_t>(1);
  const int32_t first = offsets == nullptr ? 0 : offsets[0];
  if (data.length > 0 && first == 0) {
    column.offsets = source.Take(data.buffers[1], data.offset * 4, (data.length + 1) * 4);
  } else {
    column.offsets.emplace(source.blocks);
    column.offsets->Reserve((data.length + 1) * 4);
    for (int64_t row = 0; row <= data.length; ++row) {
      column.offsets->Push(offsets == nullptr ? 0 : offsets[row] - first);
    }
  }
  const int64_t size = column.OffsetAt(data.length);
  if (column.type.kind != Kind::kList) {
    column.values = source.Take(data.buffers[2], first, size);
    return column;
  }
  const auto elements = data.child_data[0]->Slice(first, size);
  WEIR_TRY(ColumnData element, FromArrowData(*elements, *column.type.element, source));
  column.element = std::make_unique<ColumnData>(std::move(element));
  return column;
}

// Texts that are indices into a dictionary: each in its place.
Result<ColumnData> FromDictionary(const arrow::ArrayData& data, ColumnData column,
                                  mem::BlockAllocator& blocks) {
  const auto* const indices = data.GetValues<int32_t>(1);
  const arrow::ArrayData& dictionary = *data.dictionary;
  bool inside = true;
  for (int64_t row = 0; row < data.length; ++row) {
    const bool there = indices[row] >= 0 && indices[row] < dictionary.length;
    inside &= there || column.IsNull(row);
  }
  if (!inside) return Fail(Code::kCorrupt, "a value is none of the dictionary's");
  const auto* const ends = dictionary.GetValues<int32_t>(1);
  const uint8_t* const texts = ends == nullptr ? nullptr : dictionary.buffers[2]->data();
  column.offsets.emplace(blocks);
  auto* const offsets = column.offsets->Extend((data.length + 1) * 4);
  const auto size_at = [&](int64_t row) {
    return column.IsNull(row) ? 0 : ends[indices[row] + 1] - ends[indices[row]];
  };
  int32_t end = 0;
  for (int64_t row = 0; row <= data.length; ++row) {
    std::memcpy(offsets + row * 4, &end, sizeof end);
    if (row < data.length) end += size_at(row);
  }
  column.values.emplace(blocks);
  uint8_t* to = column.values->Extend(end);
  for (int64_t row = 0; row < data.length; ++row) {
    const int32_t size = size_at(row);
    if (size == 0) continue;
    std::memcpy(to, texts + ends[indices[row]], static_cast<size_t>(size));
    to += size;
  }
  return column;
}

Result<ColumnData> FromArrowData(const arrow::ArrayData& data, const Type& type,
                                 const Source& source) {
  const auto* extension = dynamic_cast<const arrow::ExtensionType*>(data.type.get());
  const bool in_dictionary = data.type->id() == arrow::Type::DICTIONARY;
  const arrow::DataType& stored =
      in_dictionary ? *static_cast<const arrow::DictionaryType&>(*data.type).value_type()
      : extension == nullptr ? *data.type
                             : *extension->storage_type();
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
  column.validity = CopyValidity(data, source.blocks);
  if (in_dictionary) return FromDictionary(data, std::move(column), source.blocks);
  const int64_t width = FixedWidth(type.kind);
  if (width == 0) return FromArrowOffsets(data, std::move(column), source);
  if (type.kind != Kind::kBool) {
    column.values = source.Take(data.buffers[1], data.offset * width, data.length * width);
    return column;
  }
  const uint8_t* values = data.length == 0 ? nullptr : data.buffers[1]->data();
  column.values.emplace(source.blocks);
  for (int64_t row = 0; row < data.length; ++row) {
    column.values->Push(static_cast<uint8_t>(BitAt(values, data.offset + row) ? 1 : 0));
  }
  return column;
}

Type TypeOf(Kind kind, int precision = 0, int scale = 0) {
  Type type;
  type.kind = kind;
  type.precision = precision;
  type.scale = scale;
  return type;
}

std::optional<Type> ElementsOf(const arrow::DataType& list);

// What carries values of an Arrow type; none where nothing does.
std::optional<Type> TypeFrom(const arrow::DataType& type) {
  using Id = arrow::Type;
  switch (type.id()) {
    case Id::BOOL: return TypeOf(Kind::kBool);
    case Id::INT8:
    case Id::UINT8:
    case Id::INT16: return TypeOf(Kind::kInt16);
    case Id::UINT16:
    case Id::INT32: return TypeOf(Kind::kInt32);
    case Id::UINT32:
    case Id::INT64: return TypeOf(Kind::kInt64);
    case Id::UINT64: return TypeOf(Kind::kDecimal, 20);
    case Id::HALF_FLOAT:
    case Id::FLOAT: return TypeOf(Kind::kFloat32);
    case Id::DOUBLE: return TypeOf(Kind::kFloat64);
    case Id::DECIMAL32:
    case Id::DECIMAL64:
    case Id::DECIMAL128:
    case Id::DECIMAL256: {
      constexpr int kMostDigits = 38;
      const auto& decimal = static_cast<const arrow::DecimalType&>(type);
      if (decimal.precision() > kMostDigits || decimal.scale() < 0) return std::nullopt;
      return TypeOf(Kind::kDecimal, decimal.precision(), decimal.scale());
    }
    case Id::DATE32:
    case Id::DATE64: return TypeOf(Kind::kDate);
    case Id::TIME32:
    case Id::TIME64: return TypeOf(Kind::kTime);
    case Id::TIMESTAMP: {
      const bool zoned = !static_cast<const arrow::TimestampType&>(type).timezone().empty();
      return TypeOf(zoned ? Kind::kTimestampTz : Kind::kTimestamp);
    }
    case Id::STRING:
    case Id::LARGE_STRING:
    case Id::STRING_VIEW: return TypeOf(Kind::kText);
    case Id::BINARY:
    case Id::LARGE_BINARY:
    case Id::BINARY_VIEW:
    case Id::FIXED_SIZE_BINARY: return TypeOf(Kind::kBinary);
    case Id::DICTIONARY:
      return TypeFrom(*static_cast<const arrow::DictionaryType&>(type).value_type());
    case Id::LIST:
    case Id::LARGE_LIST:
    case Id::FIXED_SIZE_LIST: return ElementsOf(type);
    case Id::EXTENSION: {
      const auto& extension = static_cast<const arrow::ExtensionType&>(type);
      if (extension.extension_name() == "arrow.uuid") return TypeOf(Kind::kUuid);
      if (extension.extension_name() == "arrow.json") return TypeOf(Kind::kJson);
      return std::nullopt;
    }
    default: return std::nullopt;
  }
}

std::optional<Type> ElementsOf(const arrow::DataType& list) {
  const auto element = TypeFrom(*list.field(0)->type());
  if (!element.has_value()) return std::nullopt;
  Type type = TypeOf(Kind::kList);
  type.element = std::make_shared<const Type>(*element);
  return type;
}

}  // namespace

Result<Schema> SchemaFrom(const arrow::Schema& schema) {
  Schema out;
  for (const auto& field : schema.fields()) {
    const auto type = TypeFrom(*field->type());
    if (!type.has_value()) {
      return Fail(Code::kInvalid, "column {} is of the type {}, which weir has none for; leave it "
                  "out of the file", field->name(), field->type()->ToString());
    }
    Column& column = out.columns.emplace_back();
    column.name = field->name();
    column.nullable = field->nullable();
    column.type = *type;
  }
  return out;
}

Result<std::shared_ptr<arrow::RecordBatch>> CastTo(const Schema& schema,
                                                   const arrow::RecordBatch& batch,
                                                   arrow::MemoryPool& pool) {
  arrow::compute::ExecContext context(&pool);
  arrow::ArrayVector columns;
  arrow::FieldVector fields;
  for (int at = 0; at < batch.num_columns(); ++at) {
    const Column& column = schema.columns[static_cast<size_t>(at)];
    const auto wanted = ToArrowType(column.type);
    auto array = batch.column(at);
    if (!array->type()->Equals(wanted)) {
      const auto cast = arrow::compute::Cast(*array, wanted, arrow::compute::CastOptions::Safe(),
                                             &context);
      if (!cast.ok()) {
        return FromArrow(cast.status()).In(fmt::format("column {}", column.name));
      }
      array = *cast;
    }
    fields.push_back(arrow::field(column.name, wanted, column.nullable));
    columns.push_back(std::move(array));
  }
  return arrow::RecordBatch::Make(arrow::schema(std::move(fields)), batch.num_rows(),
                                  std::move(columns));
}

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
                        mem::BlockAllocator& blocks,
                        const std::shared_ptr<const void>& pool) {
  if (batch.num_columns() != static_cast<int>(schema.columns.size())) {
    return Fail(Code::kCorrupt, "{} columns where the schema has {}", batch.num_columns(),
                schema.columns.size());
  }
  Batch out;
  out.row_count = batch.num_rows();
  for (int at = 0; at < batch.num_columns(); ++at) {
    const Column& column = schema.columns[static_cast<size_t>(at)];
    WEIR_TRY(ColumnData data, FromArrowData(*batch.column_data(at), column.type, {blocks, pool}),
             "column {}", column.name);
    out.size_bytes += data.size_bytes();
    out.columns.push_back(std::move(data));
  }
  return out;
}

}  // namespace weir::table
