#pragma once
// ParquetReader: the rows of a Parquet file as batches.
#include <memory>
#include <string>
#include <vector>

#include "weir/mem/block_allocator.h"
#include "weir/table/column.h"

namespace weir::file {

/// Reads one file from its first row to its last.
///
/// Memory:  one page per column and the batch, charged to `blocks`.
/// Threads: one at a time.
class ParquetReader {
 public:
  virtual ~ParquetReader() = default;

  /// Columns as weir.schema in the file says; where it has none, as table::SchemaFrom() makes them
  /// of the file's own.
  virtual const table::Schema& schema() const = 0;
  virtual int64_t row_count() const = 0;
  /// The next rows; a batch of none is the end.
  /// Errors: kCorrupt for bytes that are not what the footer promises; kExhausted as when opened;
  ///         kInvalid, in files of others, for values that weir's types cannot hold.
  virtual Result<table::Batch> Next() = 0;
};

/// Errors: kNotFound; kCorrupt for what is not a Parquet file; kInvalid for a column that weir has
///         no type for; kExhausted when the budget of `blocks` is full.
/// Requires: `blocks` outlives the reader and its batches.
Result<std::unique_ptr<ParquetReader>> OpenParquet(const std::string& path, int64_t batch_rows,
                                                   mem::BlockAllocator& blocks);

/// As OpenParquet, but of row group `group` alone. Errors: also kCorrupt when there is none.
Result<std::unique_ptr<ParquetReader>> OpenRowGroup(const std::string& path, int group,
                                                    int64_t batch_rows,
                                                    mem::BlockAllocator& blocks);

/// Its columns, as a reader has them. Errors: as OpenParquet.
Result<table::Schema> ParquetSchema(const std::string& path, mem::BlockAllocator& blocks);

/// What a footer says of one row group.
struct RowGroupSize {
  int64_t rows = 0;
  int64_t value_bytes = 0;  ///< Decoded, as the writer counted them.
};

/// Of all row groups of a file, the first first. Errors: as OpenParquet.
Result<std::vector<RowGroupSize>> RowGroupSizes(const std::string& path,
                                                mem::BlockAllocator& blocks);

/// Bytes of the longest minimum or maximum in the file, of column chunks and (where it has a column
/// index) of pages; 0 when it holds none. Reads the footer and the indexes only.
/// Errors: as OpenParquet.
Result<int64_t> LongestStatisticBytes(const std::string& path, mem::BlockAllocator& blocks);

}  // namespace weir::file
