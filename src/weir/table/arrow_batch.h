#pragma once
// The way from Arrow's batches to weir's, and from weir's schemas to Arrow's.
#include <arrow/type_fwd.h>

#include <memory>
#include <string>

#include "weir/base/result.h"
#include "weir/table/column.h"

namespace weir::table {

/// An Arrow failure as ours: OutOfMemory is kExhausted, IOError kUnavailable, the rest kInvalid.
Error FromArrow(const arrow::Status& status);

/// The Arrow schema of `schema`: attnum as PARQUET:field_id, json and uuid as extension types, and
/// `schema_json` as the file-level key "weir.schema".
std::shared_ptr<arrow::Schema> ToArrow(const Schema& schema, const std::string& schema_json);

/// The schema that carries the columns of an Arrow schema whose makers do not know weir: narrow
/// integers as wider ones, times in microseconds, dictionaries as their values.
/// Errors: kInvalid names a column whose values weir has no type for.
Result<Schema> SchemaFrom(const arrow::Schema& schema);

/// The columns of a batch in the types that ToArrow() gives for `schema`.
/// Errors:   kInvalid names a column with a value that would change on the way; kExhausted.
/// Requires: SchemaFrom() made `schema` of the batch's.
Result<std::shared_ptr<arrow::RecordBatch>> CastTo(const Schema& schema,
                                                   const arrow::RecordBatch& batch,
                                                   arrow::MemoryPool& pool);

/// An Arrow batch of columns of `schema` as one of ours. Values stay where they are, if `pool` is
/// the owner of the memory that Arrow's buffers come from, and are copied if it is null.
/// Errors: kCorrupt when a column is not of the schema's type.
Result<Batch> FromArrow(const arrow::RecordBatch& batch, const Schema& schema,
                        mem::BlockAllocator& blocks,
                        const std::shared_ptr<const void>& pool = nullptr);

}  // namespace weir::table
