#include "weir/table/column.h"

namespace weir::table {
namespace {

// What to reserve for the next batch: a little more than this one held, but the same as last time
// while that fits, so that the allocator can hand the same blocks out again and again.
int64_t NextHint(int64_t hint, int64_t used) {
  constexpr int64_t kMostHinted = 16 << 20;  // One huge value must not be reserved for ever after.
  if (used <= hint && used >= hint / 2) return hint;
  return std::min(used + used / 8, kMostHinted);
}

bool HasOffsets(Kind kind) { return FixedWidth(kind) == 0; }

}  // namespace

Bytes ColumnData::BytesAt(int64_t row) const {
  const int32_t begin = OffsetAt(row);
  return {values->data() + begin, static_cast<size_t>(OffsetAt(row + 1) - begin)};
}

int64_t ColumnData::size_bytes() const {
  int64_t bytes = 0;
  for (const auto* buffer : {&values, &offsets, &validity}) {
    if (buffer->has_value()) bytes += (*buffer)->size();
  }
  return element == nullptr ? bytes : bytes + element->size_bytes();
}

ColumnBuilder::ColumnBuilder(Type type, mem::BlockAllocator& blocks)
    : type_(std::move(type)),
      blocks_(&blocks),
      width_(FixedWidth(type_.kind)),
      values_(blocks),
      offsets_(blocks),
      validity_(blocks) {
  if (type_.kind == Kind::kList) element_ = std::make_unique<ColumnBuilder>(*type_.element, blocks);
  Restart();
}

void ColumnBuilder::Restart() {
  length_ = 0;
  null_count_ = 0;
  values_ = Buffer(*blocks_);
  offsets_ = Buffer(*blocks_);
  validity_ = Buffer(*blocks_);
  values_.Reserve(values_hint_);
  if (HasOffsets(type_.kind)) {
    offsets_.Reserve(offsets_hint_);
    offsets_.Push(int32_t{0});
  }
}

void ColumnBuilder::AppendNull() {
  if (null_count_ == 0) {
    for (int64_t row = 0; row < length_; ++row) SetBit(row, true);
  }
  SetBit(length_, false);
  ++null_count_;
  ++length_;
  if (HasOffsets(type_.kind)) {
    offsets_.Push(static_cast<int32_t>(element_ ? element_->length_ : values_.size()));
  } else {
    std::memset(values_.Extend(width_), 0, static_cast<size_t>(width_));
  }
}

void ColumnBuilder::SetBit(int64_t row, bool valid) {
  if (row / 8 >= validity_.size()) *validity_.Extend(1) = 0;
  if (valid) validity_.data()[row / 8] |= static_cast<uint8_t>(1 << (row % 8));
}

ColumnData ColumnBuilder::Finish() {
  ColumnData data;
  data.type = type_;
  data.length = length_;
  data.null_count = null_count_;
  values_hint_ = NextHint(values_hint_, values_.size());
  offsets_hint_ = NextHint(offsets_hint_, offsets_.size());
  if (HasOffsets(type_.kind)) data.offsets = std::move(offsets_);
  if (null_count_ != 0) data.validity = std::move(validity_);
  if (element_ != nullptr) {
    data.element = std::make_unique<ColumnData>(element_->Finish());
  } else {
    data.values = std::move(values_);
  }
  Restart();
  return data;
}

std::vector<ColumnBuilder> BuildersFor(const Schema& schema, mem::BlockAllocator& blocks) {
  std::vector<ColumnBuilder> builders;
  builders.reserve(schema.columns.size());
  for (const Column& column : schema.columns) builders.emplace_back(column.type, blocks);
  return builders;
}

Batch FinishBatch(std::span<ColumnBuilder> builders) {
  Batch batch;
  batch.row_count = builders.front().length();
  for (ColumnBuilder& builder : builders) {
    batch.columns.push_back(builder.Finish());
    batch.size_bytes += batch.columns.back().size_bytes();
  }
  return batch;
}

}  // namespace weir::table
