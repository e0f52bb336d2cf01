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

/// An Arrow batch of columns of `schema` as one of ours: values are copied.
/// Errors: kCorrupt when a column is not of the schema's type.
Result<Batch> FromArrow(const arrow::RecordBatch& batch, const Schema& schema,
                        mem::BlockAllocator& blocks);

}  // namespace weir::table
