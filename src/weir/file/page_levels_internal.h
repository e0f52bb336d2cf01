#pragma once
// PageLevels: the repetition and definition levels of a page, from the nulls and lists of a column.
#include <parquet/schema.h>

#include <cstdint>
#include <vector>

#include "weir/table/column.h"

namespace weir::file {

/// Levels of a column that is flat or a list of flat values, as Dremel defines them: a definition
/// level says how much of list, element and value is there, a repetition level of 0 begins a row.
///
/// Memory: a byte per level of each kind, none while a flat column has no nulls: with a thousand
///         columns open, the levels of their pages are much of what is held.
class PageLevels {
 public:
  explicit PageLevels(const parquet::ColumnDescriptor& descriptor);

  /// Adds `count` rows of `column`, from row `first` on.
  void Add(const table::ColumnData& column, int64_t first, int64_t count);
  /// Appends the levels as a data page of v1 begins with them: RLE, each kind after its length.
  void AppendEncoded(std::vector<uint8_t>& bytes) const;
  void Clear();

  int64_t rows() const { return rows_; }
  /// Values, nulls and empty lists, which is what a page counts as its values.
  int64_t size() const { return size_; }

 private:
  void AddFlat(const table::ColumnData& column, int64_t first, int64_t count);
  void AddList(const table::ColumnData& column, int64_t row);

  int16_t max_definition_;
  int16_t max_repetition_;
  std::vector<uint8_t> definitions_;  // Of flat columns empty as long as all are the highest.
  std::vector<uint8_t> repetitions_;  // Empty for flat columns.
  int64_t rows_ = 0;
  int64_t size_ = 0;
};

}  // namespace weir::file
