#pragma once
// CopyParser: the byte stream of COPY (FORMAT binary) into column builders.
#include <vector>

#include "weir/pg/field_decoder.h"
#include "weir/table/column.h"

namespace weir::pg {

/// One column of the stream.
struct CopyColumn {
  table::Column column;
  bool is_jsonb = false;
};

/// Reads rows out of a COPY BINARY stream fed in pieces of any size.
///
/// Shape:   11-byte signature, flags, header extension; per row an int16 field count and per field
///          an int32 length (-1: NULL) and that many bytes; an int16 -1 ends the stream (PostgreSQL
///          manual, COPY).
/// Memory:  a row that ends in a later piece is kept until it is whole; no allocation per row or
///          field else.
/// Errors:  kCorrupt for bytes that are not such a stream; kInvalid for a value the column's type
///          cannot say and for one over max_value_bytes; both name the column and the row, counted
///          from 1.
/// Threads: one.
class CopyParser {
 public:
  /// `leave_out` ends the sentence about a value that cannot be taken: what people may do there to
  /// leave its column out.
  CopyParser(std::vector<CopyColumn> columns, mem::BlockAllocator& blocks, int64_t max_value_bytes,
             std::string leave_out = "leave the column out");

  /// Decodes all rows that are whole with `bytes` appended to what was fed before.
  Status Feed(Bytes bytes);
  /// The stream ended. Errors: kCorrupt when it ended before its trailer.
  Status End() const;

  int64_t row_count() const { return row_count_; }          ///< Since the start.
  int64_t batch_rows() const { return batch_rows_; }        ///< Since the last TakeBatch.
  int64_t batch_bytes() const { return batch_bytes_; }      ///< Stream bytes of those rows.
  /// The rows since the last call; may be empty.
  table::Batch TakeBatch();

 private:
  Result<int64_t> Parse(Bytes bytes);
  Result<int64_t> ParseHeader(Bytes bytes);
  Result<int64_t> RowLength(Bytes bytes) const;
  Status DecodeRow(const uint8_t* row);
  Error FieldError(size_t column, FieldFault fault, const uint8_t* bytes, int64_t size) const;

  struct Slot {
    FieldDecoder decode;
    table::ColumnBuilder builder;
    bool nullable;
  };

  std::vector<CopyColumn> columns_;
  mem::BlockAllocator& blocks_;
  const std::string leave_out_;
  std::vector<Slot> slots_;
  const int64_t max_value_bytes_;
  table::Buffer carry_;  // The start of a row whose end has not come yet.
  bool header_done_ = false;
  bool trailer_seen_ = false;
  int64_t row_count_ = 0;
  int64_t batch_rows_ = 0;
  int64_t batch_bytes_ = 0;
};

}  // namespace weir::pg
