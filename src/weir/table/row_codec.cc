#include "weir/table/row_codec.h"

#include <algorithm>
#include <array>
#include <numeric>

#include "weir/table/row_form_internal.h"

namespace weir::table {

RowCodec::RowCodec(const Schema& schema, const std::vector<int>& key_columns,
                   const std::vector<int>& value_columns) {
  AddFields(schema, key_columns, true);
  key_field_count_ = fields_.size();
  AddFields(schema, value_columns, false);
}

void RowCodec::AddFields(const Schema& schema, const std::vector<int>& columns, bool in_key) {
  for (const int column : columns) {
    const Column& from = schema.columns.at(static_cast<size_t>(column));
    const RowForm form = FormOf(from.type, in_key);
    const int64_t most = MostFormBytes(form);
    if (most == 0) unbounded_fields_.push_back(fields_.size());
    most_bounded_bytes_ += most;
    fields_.push_back({column, form, from.nullable});
  }
}

// Rows that are encoded together, and where they are until their sizes are known.
struct RowCodec::Block {
  static constexpr int64_t kMostRows = 256;
  static constexpr int64_t kMostBytes = 128 << 10;  // Within the cache; one row may have more.

  explicit Block(const Buffer& out) : scratch(out.NewEmpty()) {}

  std::array<int64_t, kMostRows> room;
  std::array<uint8_t*, kMostRows> starts;
  std::array<uint8_t*, kMostRows> ends;
  Buffer scratch;
};

void RowCodec::Encode(const Batch& batch, int64_t begin, int64_t end, EncodedRows& out) const {
  if (out.starts.size() == 0) out.starts.Push(int64_t{0});
  // Encoded rows are hardly ever larger than their values.
  if (batch.row_count > 0) {
    out.bytes.Reserve(out.bytes.size() + batch.size_bytes * (end - begin) / batch.row_count);
  }
  Block block(out.bytes);
  while (begin < end) {
    const int64_t count = ChooseRows(batch, begin, std::min(end - begin, Block::kMostRows), block);
    if (count == 1) {
      EncodeOne(batch, begin, block, out);
    } else {
      EncodeBlock(batch, begin, count, block, out);
    }
    out.row_count += count;
    begin += count;
  }
}

// How many of the rows from `first` on make a block, and the room that each takes at most.
int64_t RowCodec::ChooseRows(const Batch& batch, int64_t first, int64_t most, Block& block) const {
  const std::span room = std::span(block.room).first(static_cast<size_t>(most));
  std::fill(room.begin(), room.end(), most_bounded_bytes_ + kRowSlack);
  for (const size_t at : unbounded_fields_) {
    const Field& field = fields_[at];
    AddMostBytes(field.form, batch.columns[static_cast<size_t>(field.column)], first, room);
  }
  int64_t count = 1;
  int64_t bytes = room[0];
  while (count < most && bytes + room[static_cast<size_t>(count)] <= Block::kMostBytes) {
    bytes += room[static_cast<size_t>(count++)];
  }
  return count;
}

// Moves each of `ends` behind its row, and notes where keys end.
void RowCodec::PutRows(const Batch& batch, int64_t first, std::span<uint8_t* const> starts,
                       std::span<uint8_t*> ends, EncodedRows& out) const {
  for (size_t at = 0; at <= fields_.size(); ++at) {
    if (at == key_field_count_) {
      for (size_t row = 0; row < ends.size(); ++row) {
        out.key_sizes.Push(static_cast<int32_t>(ends[row] - starts[row]));
      }
    }
    if (at == fields_.size()) break;
    const Field& field = fields_[at];
    PutValues(field.form, field.nullable, batch.columns[static_cast<size_t>(field.column)], first,
              ends);
  }
}

void RowCodec::EncodeOne(const Batch& batch, int64_t row, const Block& block,
                         EncodedRows& out) const {
  const int64_t room = block.room[0];
  uint8_t* const start = out.bytes.Extend(room);
  uint8_t* end = start;
  PutRows(batch, row, {&start, 1}, {&end, 1}, out);
  out.bytes.DropBack(room - (end - start));
  out.starts.Push(out.bytes.size());
}

void RowCodec::EncodeBlock(const Batch& batch, int64_t first, int64_t count, Block& block,
                           EncodedRows& out) const {
  const auto rows = static_cast<size_t>(count);
  uint8_t* to = block.scratch.data();
  if (block.scratch.size() == 0) to = block.scratch.Extend(Block::kMostBytes);
  for (size_t row = 0; row < rows; to += block.room[row++]) {
    block.starts[row] = block.ends[row] = to;
  }
  PutRows(batch, first, std::span(block.starts).first(rows), std::span(block.ends).first(rows),
          out);
  for (size_t row = 0; row < rows; ++row) {
    const int64_t size = block.ends[row] - block.starts[row];
    CopyRow(out.bytes.Extend(size + kRowSlack), block.starts[row], size);
    out.bytes.DropBack(kRowSlack);
    out.starts.Push(out.bytes.size());
  }
}

void RowCodec::Decode(std::span<const Bytes> rows, std::span<ColumnBuilder> builders) const {
  std::array<const uint8_t*, Block::kMostRows> at;
  while (!rows.empty()) {
    const size_t count = std::min<size_t>(rows.size(), at.size());
    for (size_t row = 0; row < count; ++row) at[row] = rows[row].data();
    for (const Field& field : fields_) {
      TakeValues(field.form, field.nullable, std::span(at).first(count),
                 builders[static_cast<size_t>(field.column)]);
    }
    rows = rows.subspan(count);
  }
}

}  // namespace weir::table
