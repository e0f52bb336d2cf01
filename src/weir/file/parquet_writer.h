#pragma once
// ParquetWriter: batches into a Parquet file, in bounded memory whatever the width of the rows.
#include <optional>

#include "weir/file/table_writer.h"
#include "weir/mem/block_allocator.h"
#include "weir/sys/files.h"
#include "weir/table/schema.h"

namespace weir::file {

enum class Compression { kZstd, kSnappy, kGzip, kLz4, kNone };

struct ParquetOptions {
  Compression compression = Compression::kZstd;
  std::optional<int> level;  ///< zstd 1-22, gzip 0-9; unset: kDefaultZstdLevel, gzip's 6.

  /// A row group ends at the first of: this many bytes of values, ...
  int64_t row_group_raw_bytes = 128 << 20;
  /// ... or this many encoded bytes held in memory, or 5/3 of that in pages finished and not, ...
  int64_t row_group_encoded_bytes = 24 << 20;
  /// ... or this many rows.
  int64_t row_group_rows = 10'000'000;
};

/// Chosen by measurement: see docs/decisions/parquet-writer.md.
inline constexpr int kDefaultZstdLevel = 1;

/// Opens `path` in `files` for rows of `schema`. Dictionaries are chosen per column from the first
/// batch.
///
/// Layout:  data pages of v1, statistics and page index on columns of values up to 256 bytes on
///          average (and none on a value over 4 KiB), weir.schema = `schema_json`.
/// Memory:  charged to `blocks`: one row group encoded, one page per column; pages shrink as
///          columns grow in number, so that all of them together stay near 12 MiB.
/// Requires: `files` and `blocks` outlive the writer.
Result<std::unique_ptr<TableWriter>> NewParquetWriter(sys::Files& files, const std::string& path,
                                                      const std::string& relative_path,
                                                      const table::Schema& schema,
                                                      const std::string& schema_json,
                                                      const ParquetOptions& options,
                                                      mem::BlockAllocator& blocks,
                                                      Yield yield = {});

}  // namespace weir::file
