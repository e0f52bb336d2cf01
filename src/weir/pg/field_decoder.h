#pragma once
// Field decoders: one binary field of PostgreSQL's wire into one column builder.
#include "weir/table/column.h"

namespace weir::pg {

/// Why a field could not be decoded.
enum class FieldFault : uint8_t {
  kNone,
  kMalformed,  ///< The bytes are not what the type's send function writes.
  kUnsayable,  ///< A value the column's type has no room for: infinity, NaN, 24:00:00, a matrix.
};

/// Appends the value in `bytes` (not a NULL). On a fault nothing may have been appended.
using FieldDecoder = FieldFault (*)(table::ColumnBuilder& column, const uint8_t* bytes,
                                    int64_t size);

/// The decoder of `type`; `is_jsonb` for jsonb's leading version byte (json and jsonb are one
/// kind).
FieldDecoder DecoderOf(const table::Type& type, bool is_jsonb);

/// What was unsayable, for the error: "infinity cannot be written as date", "element 2, NaN, cannot
/// be written as decimal(5,2)". `blocks` gives memory to look at the elements of an array.
std::string DescribeUnsayable(const table::Type& type, const uint8_t* bytes, int64_t size,
                              mem::BlockAllocator& blocks);

}  // namespace weir::pg
