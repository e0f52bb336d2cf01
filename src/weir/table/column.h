#pragma once
// ColumnData: the values of one column of a batch; ColumnBuilder: how they get there, one value at
// a time.
#include <memory>
#include <optional>
#include <span>

#include "weir/table/buffer.h"
#include "weir/table/schema.h"

namespace weir::table {

/// Values of one column, laid out as Apache Arrow lays out arrays.
///
/// values    fixed-width kinds: length × FixedWidth bytes, zero where null; var-length: all bytes.
/// offsets   var-length kinds and lists: length + 1 int32, rising from 0.
/// validity  one bit per value, 1 = not null; absent when null_count is 0.
/// element   lists: the values of all lists, one after another.
struct ColumnData {
  Type type;
  int64_t length = 0;
  int64_t null_count = 0;
  std::optional<Buffer> values;
  std::optional<Buffer> offsets;
  std::optional<Buffer> validity;
  std::unique_ptr<ColumnData> element;

  bool IsNull(int64_t row) const {
    return validity.has_value() && (validity->data()[row / 8] >> (row % 8) & 1) == 0;
  }
  /// Bytes of a text, json or binary value. Requires: not null is not needed; a null is empty.
  Bytes BytesAt(int64_t row) const;
  template <typename T>
  T At(int64_t row) const {
    T value;
    std::memcpy(&value, values->data() + row * static_cast<int64_t>(sizeof(T)), sizeof value);
    return value;
  }
  int32_t OffsetAt(int64_t row) const {
    int32_t offset;
    std::memcpy(&offset, offsets->data() + row * 4, sizeof offset);
    return offset;
  }
  int64_t size_bytes() const;  ///< Bytes of values, offsets and validity, elements included.
};

/// Appends values of one column. No allocation per value: buffers start at the last batch's size.
///
/// Requires: Append* fits the type's kind. At most 2^31 - 1 bytes of values between two Finish().
/// Threads:  one.
class ColumnBuilder {
 public:
  ColumnBuilder(Type type, mem::BlockAllocator& blocks);

  /// T has the kind's fixed width.
  template <typename T>
  void AppendValue(T value) {
    values_.Push(value);
    MarkValid();
  }
  /// The place of one new fixed-width value, for the caller to fill.
  uint8_t* AppendFixed(int64_t width) {
    MarkValid();
    return values_.Extend(width);
  }
  void AppendBytes(const uint8_t* bytes, int64_t size) {
    if (size != 0) std::memcpy(values_.Extend(size), bytes, static_cast<size_t>(size));
    offsets_.Push(static_cast<int32_t>(values_.size()));
    MarkValid();
  }
  void AppendNull();
  /// Lists: ends a list that holds the elements appended to element() since the last one ended.
  void AppendList() {
    offsets_.Push(static_cast<int32_t>(element_->length_));
    MarkValid();
  }
  ColumnBuilder& element() { return *element_; }

  const Type& type() const { return type_; }
  int64_t length() const { return length_; }
  /// All values since the last Finish(); the builder is empty again.
  ColumnData Finish();

 private:
  void MarkValid() {
    if (null_count_ != 0) [[unlikely]] SetBit(length_, true);
    ++length_;
  }
  void SetBit(int64_t row, bool valid);
  void Restart();

  Type type_;
  mem::BlockAllocator* blocks_;
  int64_t width_;
  int64_t length_ = 0;
  int64_t null_count_ = 0;
  Buffer values_;
  Buffer offsets_;
  Buffer validity_;
  std::unique_ptr<ColumnBuilder> element_;
  int64_t values_hint_ = 0;
  int64_t offsets_hint_ = 0;
};

/// One builder for each column of `schema`.
std::vector<ColumnBuilder> BuildersFor(const Schema& schema, mem::BlockAllocator& blocks);

/// A slice of a table: all columns have row_count values. The only unit that moves between threads.
struct Batch {
  int64_t row_count = 0;
  int64_t size_bytes = 0;  ///< Of the columns' buffers.
  std::vector<ColumnData> columns;
};

/// All values since the last time, which are as many in each column. Requires: builders not empty.
Batch FinishBatch(std::span<ColumnBuilder> builders);

}  // namespace weir::table
