#pragma once
// The way between weir's batches and Arrow's, without copying values.
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

/// The batch's buffers handed over to Arrow. `schema` is ToArrow's of the same columns.
///
/// Cost: O(columns), but for booleans, whose bytes are packed into bits.
std::shared_ptr<arrow::RecordBatch> ToArrow(Batch batch,
                                            const std::shared_ptr<arrow::Schema>& schema);

/// An Arrow batch of columns of `schema` as one of ours: values are copied.
/// Errors: kCorrupt when a column is not of the schema's type.
Result<Batch> FromArrow(const arrow::RecordBatch& batch, const Schema& schema,
                        mem::BlockAllocator& blocks);

}  // namespace weir::table
