#pragma once
// RowCodec: rows as bytes that memcmp puts in order, and back.
#include <span>
#include <vector>

#include "weir/table/column.h"

namespace weir::table {

enum class RowForm : uint8_t;

/// Unused bytes that must be there, readable and writable, after the last byte of encoded rows:
/// integers are written and read eight bytes at a time.
inline constexpr int64_t kRowSlack = 16;

/// Copies `size` bytes sixteen at a time. kRowSlack bytes after both may be touched.
inline void CopyRow(uint8_t* to, const uint8_t* from, int64_t size) {
  static_assert(kRowSlack >= 16);
  int64_t at = 0;
  do {
    std::memcpy(to + at, from + at, 16);
    at += 16;
  } while (at < size);
}

/// Encoded rows one after another.
///
/// Shape: row i is bytes [start(i), start(i + 1)); its first key_size(i) bytes are its key.
struct EncodedRows {
  explicit EncodedRows(mem::BlockAllocator& blocks)
      : bytes(blocks), starts(blocks), key_sizes(blocks) {}

  Buffer bytes;      ///< kRowSlack more are there, reserved.
  Buffer starts;     ///< row_count + 1 int64, rising from 0; empty before the first row.
  Buffer key_sizes;  ///< row_count int32.
  int64_t row_count = 0;

  int64_t start(int64_t row) const {
    return reinterpret_cast<const int64_t*>(starts.data())[row];
  }
  int32_t key_size(int64_t row) const {
    return reinterpret_cast<const int32_t*>(key_sizes.data())[row];
  }
  Bytes row(int64_t row) const {
    return {bytes.data() + start(row), static_cast<size_t>(start(row + 1) - start(row))};
  }
};

/// How the rows of one schema are written as a key and a value (docs/formats/rows.md).
///
/// Order:   memcmp over two rows, the shorter length, is the order of their key columns, then of
///          their value columns: ascending, NULL last. Texts in keys go by their bytes ("C"), NaN
///          after all numbers (before them when its sign bit is set), -0.0 before 0.0. Texts in
///          values go by length first: quicker to read back, and any total order serves there. No
///          row is the beginning of another.
/// Threads: any, once made.
class RowCodec {
 public:
  /// A column each row holds at most once; columns named in neither are left out.
  /// Requires: indexes of columns of `schema`.
  RowCodec(const Schema& schema, const std::vector<int>& key_columns,
           const std::vector<int>& value_columns);

  /// Appends rows [begin, end) of `batch`, whose columns are those of the schema.
  ///
  /// Cost: column by column over some hundred rows at a time, which are then put together; no
  ///       allocation per row. A wide row is written where it stays.
  void Encode(const Batch& batch, int64_t begin, int64_t end, EncodedRows& out) const;

  /// Appends every column that the rows hold to the builder of that column; builders of other
  /// columns are left alone. Best of some hundred rows.
  /// Requires: Encode() of the same codec made the rows; kRowSlack bytes after each may be read.
  void Decode(std::span<const Bytes> rows, std::span<ColumnBuilder> builders) const;

 private:
  struct Field {
    int column;
    RowForm form;
    bool nullable;
  };

  void AddFields(const Schema& schema, const std::vector<int>& columns, bool in_key);
  struct Block;
  int64_t ChooseRows(const Batch& batch, int64_t first, int64_t most, Block& block) const;
  void PutRows(const Batch& batch, int64_t first, std::span<uint8_t* const> starts,
               std::span<uint8_t*> ends, EncodedRows& out) const;
  void EncodeOne(const Batch& batch, int64_t row, const Block& block, EncodedRows& out) const;
  void EncodeBlock(const Batch& batch, int64_t first, int64_t count, Block& block,
                   EncodedRows& out) const;

  std::vector<Field> fields_;  // The key's first.
  size_t key_field_count_ = 0;
  std::vector<size_t> unbounded_fields_;  // Texts and lists.
  int64_t most_bounded_bytes_ = 0;        // Of all other fields together.
};

}  // namespace weir::table
