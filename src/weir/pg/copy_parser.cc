#include "weir/pg/copy_parser.h"

#include "weir/base/units.h"
#include "weir/pg/wire_internal.h"

namespace weir::pg {
namespace {

constexpr uint8_t kSignature[11] = {'P', 'G', 'C', 'O', 'P', 'Y', '\n', 0xFF, '\r', '\n', 0};
constexpr int64_t kHeaderBytes = 19;         // Signature, flags, extension length.
constexpr uint32_t kCriticalFlags = 0xFFFF0000;  // A reader must refuse those it does not know.
constexpr int64_t kMostExtensionBytes = 1 << 20;
constexpr int64_t kIncomplete = -1;
constexpr int64_t kTrailer = -2;

}  // namespace

CopyParser::CopyParser(std::vector<CopyColumn> columns, mem::BlockAllocator& blocks,
                       int64_t max_value_bytes, std::string leave_out)
    : columns_(std::move(columns)),
      blocks_(blocks),
      leave_out_(std::move(leave_out)),
      max_value_bytes_(max_value_bytes),
      carry_(blocks) {
  slots_.reserve(columns_.size());
  for (const CopyColumn& column : columns_) {
    slots_.push_back({DecoderOf(column.column.type, column.is_jsonb),
                      table::ColumnBuilder(column.column.type, blocks), column.column.nullable});
  }
}

Status CopyParser::Feed(Bytes bytes) {
  if (bytes.empty()) return Ok();
  if (carry_.size() == 0) {
    WEIR_TRY(const int64_t used, Parse(bytes));
    const Bytes rest = bytes.subspan(static_cast<size_t>(used));
    if (!rest.empty())
      std::memcpy(carry_.Extend(static_cast<int64_t>(rest.size())), rest.data(), rest.size());
    return Ok();
  }
  std::memcpy(carry_.Extend(static_cast<int64_t>(bytes.size())), bytes.data(), bytes.size());
  WEIR_TRY(const int64_t used, Parse(carry_.bytes()));
  carry_.DropFront(used);
  return Ok();
}

// Decodes whole rows from the front of `bytes`; gives the bytes used.
Result<int64_t> CopyParser::Parse(Bytes bytes) {
  int64_t at = 0;
  if (!header_done_) {
    WEIR_TRY(const int64_t used, ParseHeader(bytes));
    if (!header_done_) return 0;
    at = used;
  }
  while (at < static_cast<int64_t>(bytes.size())) {
    if (trailer_seen_) return Fail(Code::kCorrupt, "COPY stream goes on after its trailer");
    const Bytes rest = bytes.subspan(static_cast<size_t>(at));
    WEIR_TRY(const int64_t length, RowLength(rest));
    if (length == kIncomplete) break;
    if (length == kTrailer) {
      trailer_seen_ = true;
      at += 2;
      continue;
    }
    WEIR_DO(DecodeRow(rest.data()));
    at += length;
    batch_bytes_ += length;
  }
  return at;
}

Result<int64_t> CopyParser::ParseHeader(Bytes bytes) {
  const size_t known = std::min(bytes.size(), sizeof kSignature);
  if (std::memcmp(bytes.data(), kSignature, known) != 0) {
    return Fail(Code::kCorrupt, "not a COPY BINARY stream: its signature is wrong");
  }
  if (static_cast<int64_t>(bytes.size()) < kHeaderBytes) return 0;
  if ((ReadU32(bytes.data() + 11) & kCriticalFlags) != 0) {
    return Fail(Code::kCorrupt, "COPY stream has flags {:#x} that this version does not know",
                ReadU32(bytes.data() + 11));
  }
  const int64_t extension = ReadI32(bytes.data() + 15);
  if (extension < 0 || extension > kMostExtensionBytes) {
    return Fail(Code::kCorrupt, "COPY stream has a header extension of {} bytes", extension);
  }
  if (static_cast<int64_t>(bytes.size()) < kHeaderBytes + extension) return 0;
  header_done_ = true;
  return kHeaderBytes + extension;
}

// Bytes of the row at the front of `bytes`, kIncomplete, or kTrailer. Checks every length, so that
// DecodeRow need not.
Result<int64_t> CopyParser::RowLength(Bytes bytes) const {
  const int64_t size = static_cast<int64_t>(bytes.size());
  if (size < 2) return kIncomplete;
  const int fields = ReadI16(bytes.data());
  if (fields == -1) return kTrailer;
  if (fields != static_cast<int>(slots_.size())) {
    return Fail(Code::kCorrupt, "row {} of the COPY stream has {} fields, not {}", row_count_ + 1,
                fields, slots_.size());
  }
  int64_t at = 2;
  for (int field = 0; field < fields; ++field) {
    if (size - at < 4) return kIncomplete;
    const int64_t length = ReadI32(bytes.data() + at);
    at += 4;
    if (length == -1) continue;
    if (length < 0) {
      return Fail(Code::kCorrupt, "row {} of the COPY stream has a field of {} bytes",
                  row_count_ + 1, length);
    }
    if (length > max_value_bytes_) {
      return Fail(Code::kInvalid,
                  "column {}, row {}: a value of {} is over max_value_mb ({}); raise it in "
                  "weir.yaml or {}",
                  columns_[static_cast<size_t>(field)].column.name, row_count_ + 1,
                  FormatBytes(length), FormatBytes(max_value_bytes_), leave_out_);
    }
    if (length > size - at) return kIncomplete;
    at += length;
  }
  return at;
}

Status CopyParser::DecodeRow(const uint8_t* row) {
  const uint8_t* at = row + 2;
  for (Slot& slot : slots_) {
    const int32_t length = ReadI32(at);
    at += 4;
    if (length < 0) {
      if (!slot.nullable) {
        return Fail(Code::kCorrupt, "column {}, row {}: NULL in a column declared NOT NULL",
                    columns_[static_cast<size_t>(&slot - slots_.data())].column.name,
                    row_count_ + 1);
      }
      slot.builder.AppendNull();
      continue;
    }
    const FieldFault fault = slot.decode(slot.builder, at, length);
    if (fault != FieldFault::kNone) [[unlikely]] {
      return FieldError(static_cast<size_t>(&slot - slots_.data()), fault, at, length);
    }
    at += length;
  }
  ++row_count_;
  ++batch_rows_;
  return Ok();
}

Error CopyParser::FieldError(size_t column, FieldFault fault, const uint8_t* bytes,
                             int64_t size) const {
  const table::Column& named = columns_[column].column;
  if (fault == FieldFault::kMalformed) {
    return Fail(Code::kCorrupt, "column {}, row {}: {} bytes are not a value of type {}",
                named.name, row_count_ + 1, size, named.pg_type);
  }
  return Fail(Code::kInvalid, "column {}, row {}: {}; {}", named.name, row_count_ + 1,
              DescribeUnsayable(named.type, bytes, size, blocks_), leave_out_);
}

Status CopyParser::End() const {
  if (trailer_seen_ && carry_.size() == 0) return Ok();
  return Fail(Code::kCorrupt, "COPY stream ended after {} rows without its trailer", row_count_);
}

table::Batch CopyParser::TakeBatch() {
  table::Batch batch;
  batch.row_count = batch_rows_;
  batch.columns.reserve(slots_.size());
  for (Slot& slot : slots_) {
    batch.columns.push_back(slot.builder.Finish());
    batch.size_bytes += batch.columns.back().size_bytes();
  }
  batch_rows_ = 0;
  batch_bytes_ = 0;
  return batch;
}

}  // namespace weir::pg
