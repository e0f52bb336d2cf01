#include "tests/support/copy_stream.h"

#include "weir/base/assert.h"
#include "weir/pg/catalog.h"
#include "weir/pg/select_sql.h"

namespace weir::test {
namespace {

constexpr uint32_t kJsonbOid = 3802;

std::string Big(int64_t value, int bytes) {
  std::string text;
  for (int shift = 8 * (bytes - 1); shift >= 0; shift -= 8) {
    text += static_cast<char>(static_cast<uint64_t>(value) >> shift & 0xFF);
  }
  return text;
}

}  // namespace

std::string Big16(int value) { return Big(value, 2); }
std::string Big32(int64_t value) { return Big(value, 4); }
std::string Big64(int64_t value) { return Big(value, 8); }

std::string CopyHeader(uint32_t flags, std::string_view extension) {
  constexpr std::string_view kSignature("PGCOPY\n\xff\r\n\0", 11);
  std::string header(kSignature);
  header += Big32(flags) + Big32(static_cast<int64_t>(extension.size()));
  return header + std::string(extension);
}

std::string CopyRow(const std::vector<std::optional<std::string>>& fields) {
  std::string row = Big16(static_cast<int>(fields.size()));
  for (const auto& field : fields) {
    row += Big32(field ? static_cast<int64_t>(field->size()) : -1) + field.value_or("");
  }
  return row;
}

pg::CopyColumn PlainColumn(const std::string& name, table::Kind kind) {
  pg::CopyColumn column;
  column.column.name = name;
  column.column.pg_type = table::KindName(kind);
  column.column.type.kind = kind;
  return column;
}

std::vector<pg::CopyColumn> ColumnsOf(pg::Connection& connection, const std::string& select) {
  std::vector<pg::CopyColumn> columns;
  const auto described = pg::DescribeQuery(connection, select);
  for (const auto& found : described.value()) {
    pg::CopyColumn& column = columns.emplace_back();
    column.column.name = found.name;
    column.column.pg_type = found.type.name;
    column.column.type = pg::MapType(found.type).value();
    column.is_jsonb = found.type.oid == kJsonbOid || found.type.element_oid == kJsonbOid;
  }
  return columns;
}

CopyReader::CopyReader(pg::Connection& connection, sys::Duration byte_timeout)
    : connection_(connection), byte_timeout_(byte_timeout) {}

Result<std::string> CopyReader::Next() {
  while (messages_.empty()) {
    if (ended_) return std::string();
    WEIR_TRY(const pg::CopyProgress progress, connection_.ReceiveCopy(block_));
    ended_ = progress == pg::CopyProgress::kEnd;
    WEIR_DO(block_.ForEach([&](Bytes held) {
      messages_.emplace_back(AsText(held));
      return Ok();
    }));
    block_ = block_.SplitRest();
    if (messages_.empty() && progress == pg::CopyProgress::kNothing) {
      WEIR_DO(connection_.AwaitCopy(byte_timeout_, &waited_));
    }
  }
  std::string next = std::move(messages_.front());
  messages_.pop_front();
  return next;
}

Result<std::string> CopyReader::Rest() {
  std::string all;
  while (true) {
    WEIR_TRY(const std::string next, Next());
    if (next.empty()) return all;
    all += next;
  }
}

std::string CaptureStream(pg::Connection& connection, const std::string& copy) {
  const Status started = connection.StartCopyOut(copy);
  if (!started.ok()) AssertionFailed(started.error().message.c_str(), __FILE__, __LINE__);
  return CopyReader(connection).Rest().value();
}

std::string CaptureCopy(pg::Connection& connection, const std::string& select) {
  return CaptureStream(connection, pg::CopySql(select));
}

std::string ShowValue(const table::ColumnData& column, int64_t row) {
  if (column.IsNull(row)) return "NULL";
  if (column.element != nullptr) {
    std::string text = "[";
    for (int64_t at = column.OffsetAt(row); at < column.OffsetAt(row + 1); ++at) {
      if (at != column.OffsetAt(row)) text += ",";
      text += ShowValue(*column.element, at);
    }
    return text + "]";
  }
  const int64_t width = table::FixedWidth(column.type.kind);
  if (width == 0) return std::string(AsText(column.BytesAt(row)));
  std::string text;
  for (int64_t at = width - 1; at >= 0; --at) {  // Stored little-endian: most significant first.
    text += fmt::format("{:02x}", column.values->data()[row * width + at]);
  }
  return text;
}

std::string ShowBatch(const table::Batch& batch) {
  std::string text;
  for (int64_t row = 0; row < batch.row_count; ++row) {
    for (const table::ColumnData& column : batch.columns) text += ShowValue(column, row) + "|";
    text += "\n";
  }
  return text;
}

}  // namespace weir::test
