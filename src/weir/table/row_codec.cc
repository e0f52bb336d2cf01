#include "weir/table/row_codec.h"

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

int64_t RowCodec::MostBytes(const Batch& batch, int64_t row) const {
  int64_t bytes = most_bounded_bytes_;
  for (const size_t at : unbounded_fields_) {
    const Field& field = fields_[at];
    bytes += MostValueBytes(field.form, batch.columns[static_cast<size_t>(field.column)], row);
  }
  return bytes;
}

void RowCodec::Encode(const Batch& batch, int64_t begin, int64_t end, EncodedRows& out) const {
  if (out.starts.size() == 0) out.starts.Push(int64_t{0});
  for (int64_t row = begin; row < end; ++row) {
    const int64_t room = MostBytes(batch, row) + kRowSlack;
    uint8_t* const start = out.bytes.Extend(room);
    uint8_t* to = start;
    for (size_t at = 0; at < fields_.size(); ++at) {
      const Field& field = fields_[at];
      if (at == key_field_count_) out.key_sizes.Push(static_cast<int32_t>(to - start));
      to = PutValue(field.form, field.nullable,
                    batch.columns[static_cast<size_t>(field.column)], row, to);
    }
    if (key_field_count_ == fields_.size()) {
      out.key_sizes.Push(static_cast<int32_t>(to - start));
    }
    out.bytes.DropBack(room - (to - start));
    out.starts.Push(out.bytes.size());
  }
  out.row_count += end - begin;
}

void RowCodec::Decode(Bytes row, std::span<ColumnBuilder> builders) const {
  const uint8_t* from = row.data();
  for (const Field& field : fields_) {
    from = TakeValue(field.form, field.nullable, from,
                     builders[static_cast<size_t>(field.column)]);
  }
}

}  // namespace weir::table
