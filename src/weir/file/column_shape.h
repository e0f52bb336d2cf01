#pragma once
// ColumnShape: what a first batch tells of a column, for choosing encodings and page sizes.
#include "weir/table/column.h"

namespace weir::file {

struct ColumnShape {
  int64_t sampled = 0;         ///< Values looked at; nulls are left out.
  int64_t distinct = 0;        ///< Different ones among them.
  double bytes_per_value = 0;  ///< Mean, over all values of the batch.

  /// True if a dictionary would hold far fewer values than the column has.
  bool repeats() const { return sampled >= 16 && distinct * 2 <= sampled; }
};

/// Looks at no more than kSampledValues values. Lists are judged by their elements.
ColumnShape ShapeOf(const table::ColumnData& column);

inline constexpr int64_t kSampledValues = 4096;

}  // namespace weir::file
