#include "weir/file/column_shape.h"

#include <unordered_set>

#include "weir/sys/hash.h"

namespace weir::file {

ColumnShape ShapeOf(const table::ColumnData& column) {
  if (column.element != nullptr) return ShapeOf(*column.element);
  ColumnShape shape;
  if (column.length == 0) return shape;
  shape.bytes_per_value =
      static_cast<double>(column.values->size()) / static_cast<double>(column.length);
  const int64_t width = table::FixedWidth(column.type.kind);
  const int64_t stride = std::max<int64_t>(1, column.length / kSampledValues);
  std::unordered_set<uint64_t> hashes;
  for (int64_t row = 0; row < column.length && shape.sampled < kSampledValues; row += stride) {
    if (column.IsNull(row)) continue;
    const Bytes value = width == 0 ? column.BytesAt(row)
                                   : Bytes(column.values->data() + row * width,
                                           static_cast<size_t>(width));
    hashes.insert(sys::Xxh3(value));
    ++shape.sampled;
  }
  shape.distinct = static_cast<int64_t>(hashes.size());
  return shape;
}

}  // namespace weir::file
