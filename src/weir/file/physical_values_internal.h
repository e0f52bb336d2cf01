#pragma once
// PhysicalValues: the values of a column that are not null, as Parquet's physical types.
#include <parquet/types.h>

#include <span>
#include <type_traits>
#include <vector>

#include "weir/table/column.h"

namespace weir::file {

/// Gives values of one column as DType::c_type: 16-bit integers become INT32, decimals INT32, INT64
/// or big-endian bytes by their precision, texts and UUIDs pointers into the column.
///
/// Threads: one.
template <typename DType>
class PhysicalValues {
 public:
  using T = typename DType::c_type;

  /// `fixed_width`: bytes of a FIXED_LEN_BYTE_ARRAY value.
  explicit PhysicalValues(int fixed_width) : fixed_width_(fixed_width) {}

  /// The non-null values among `count` from `first` on. Valid until the next call, while `column`
  /// is.
  std::span<const T> Take(const table::ColumnData& column, int64_t first, int64_t count) {
    if constexpr (std::is_same_v<DType, parquet::ByteArrayType>) {
      return Gather(column, first, count, [&](int64_t row) {
        const Bytes bytes = column.BytesAt(row);
        return parquet::ByteArray(static_cast<uint32_t>(bytes.size()), bytes.data());
      });
    } else if constexpr (std::is_same_v<DType, parquet::FLBAType>) {
      return TakeFixed(column, first, count);
    } else {
      return TakeNumbers(column, first, count);
    }
  }

 private:
  template <typename Convert>
  std::span<const T> Gather(const table::ColumnData& column, int64_t first, int64_t count,
                            Convert convert) {
    taken_.clear();
    taken_.reserve(static_cast<size_t>(count));
    const bool has_nulls = column.null_count != 0;
    for (int64_t row = first; row < first + count; ++row) {
      if (has_nulls && column.IsNull(row)) continue;
      taken_.push_back(convert(row));
    }
    return taken_;
  }

  std::span<const T> TakeNumbers(const table::ColumnData& column, int64_t first, int64_t count) {
    if constexpr (std::is_same_v<DType, parquet::Int32Type> ||
                  std::is_same_v<DType, parquet::Int64Type>) {
      if (column.type.kind == table::Kind::kDecimal) {
        return Gather(column, first, count,
                      [&](int64_t row) { return static_cast<T>(column.At<__int128>(row)); });
      }
    }
    if constexpr (std::is_same_v<DType, parquet::Int32Type>) {
      if (column.type.kind == table::Kind::kInt16) {
        return Gather(column, first, count,
                      [&](int64_t row) { return T{column.At<int16_t>(row)}; });
      }
    }
    if (column.null_count == 0) {
      return {reinterpret_cast<const T*>(column.values->data()) + first,
              static_cast<size_t>(count)};
    }
    return Gather(column, first, count, [&](int64_t row) { return column.At<T>(row); });
  }

  std::span<const T> TakeFixed(const table::ColumnData& column, int64_t first, int64_t count) {
    if (column.type.kind == table::Kind::kUuid) {
      return Gather(column, first, count, [&](int64_t row) {
        return parquet::FixedLenByteArray(column.values->data() + row * fixed_width_);
      });
    }
    // Two's complement, the highest byte first.
    bytes_.resize(static_cast<size_t>(count * fixed_width_));
    uint8_t* at = bytes_.data();
    return Gather(column, first, count, [&](int64_t row) {
      const auto value = static_cast<unsigned __int128>(column.At<__int128>(row));
      for (int byte = 0; byte < fixed_width_; ++byte) {
        at[byte] = static_cast<uint8_t>(value >> (8 * (fixed_width_ - 1 - byte)));
      }
      at += fixed_width_;
      return parquet::FixedLenByteArray(at - fixed_width_);
    });
  }

  // Not std::vector<bool>, which has no array of bool.
  struct BoolList {
    void clear() { values.clear(); }
    void reserve(size_t count) { values.reserve(count); }
    void push_back(bool value) { values.push_back(value ? 1 : 0); }
    operator std::span<const bool>() const {
      return {reinterpret_cast<const bool*>(values.data()), values.size()};
    }
    std::vector<uint8_t> values;
  };

  const int fixed_width_;
  std::conditional_t<std::is_same_v<T, bool>, BoolList, std::vector<T>> taken_;
  std::vector<uint8_t> bytes_;
};

}  // namespace weir::file
