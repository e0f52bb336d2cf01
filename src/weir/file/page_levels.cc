#include <parquet/column_writer.h>

#include <cstring>

#include "weir/file/page_levels_internal.h"

namespace weir::file {
namespace {

// `level_count` levels; where none are kept, all are the highest.
void AppendLevels(const std::vector<uint8_t>& kept, int64_t level_count, int16_t max_level,
                  std::vector<uint8_t>& bytes) {
  if (max_level == 0) return;
  std::vector<int16_t> levels(kept.begin(), kept.end());
  if (levels.empty()) levels.assign(static_cast<size_t>(level_count), max_level);
  const int count = static_cast<int>(levels.size());
  const int room = parquet::LevelEncoder::MaxBufferSize(parquet::Encoding::RLE, max_level, count);
  const size_t start = bytes.size();
  bytes.resize(start + sizeof(int32_t) + static_cast<size_t>(room));
  parquet::LevelEncoder encoder;
  encoder.Init(parquet::Encoding::RLE, max_level, count, bytes.data() + start + sizeof(int32_t),
               room);
  encoder.Encode(count, levels.data());
  const int32_t length = encoder.len();
  std::memcpy(bytes.data() + start, &length, sizeof length);
  bytes.resize(start + sizeof length + static_cast<size_t>(length));
}

}  // namespace

PageLevels::PageLevels(const parquet::ColumnDescriptor& descriptor)
    : max_definition_(descriptor.max_definition_level()),
      max_repetition_(descriptor.max_repetition_level()) {}

void PageLevels::Add(const table::ColumnData& column, int64_t first, int64_t count) {
  rows_ += count;
  if (max_repetition_ == 0) return AddFlat(column, first, count);
  for (int64_t row = first; row < first + count; ++row) AddList(column, row);
}

void PageLevels::AddFlat(const table::ColumnData& column, int64_t first, int64_t count) {
  size_ += count;
  const bool all_highest = definitions_.empty() && column.null_count == 0;
  if (max_definition_ == 0 || all_highest) return;
  definitions_.resize(static_cast<size_t>(size_), 1);
  if (column.null_count == 0) return;
  uint8_t* const added = definitions_.data() + (size_ - count);
  for (int64_t row = 0; row < count; ++row) {
    if (column.IsNull(first + row)) added[row] = 0;
  }
}

void PageLevels::AddList(const table::ColumnData& column, int64_t row) {
  // A value has the highest level, a null element one less, an empty list one less again; below
  // that only lists that may be null have a level.
  const int32_t begin = column.OffsetAt(row);
  const int32_t end = column.OffsetAt(row + 1);
  if (begin == end) {
    definitions_.push_back(static_cast<uint8_t>(column.IsNull(row) ? 0 : max_definition_ - 2));
    repetitions_.push_back(0);
    ++size_;
    return;
  }
  for (int32_t at = begin; at < end; ++at) {
    const bool is_null = column.element->IsNull(at);
    definitions_.push_back(static_cast<uint8_t>(is_null ? max_definition_ - 1 : max_definition_));
    repetitions_.push_back(at == begin ? 0 : 1);
  }
  size_ += end - begin;
}

void PageLevels::AppendEncoded(std::vector<uint8_t>& bytes) const {
  AppendLevels(repetitions_, size_, max_repetition_, bytes);
  AppendLevels(definitions_, size_, max_definition_, bytes);
}

void PageLevels::Clear() {
  definitions_.clear();
  repetitions_.clear();
  rows_ = 0;
  size_ = 0;
}

}  // namespace weir::file
