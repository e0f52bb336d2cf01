#pragma once
// ColumnChunkWriter: the values of one column, page by page, into one column chunk of a Parquet
// file.
#include <parquet/column_writer.h>
#include <parquet/schema.h>

#include <memory>

#include "weir/file/table_writer.h"
#include "weir/mem/block_allocator.h"

namespace weir::file {

struct ChunkOptions {
  int64_t page_bytes = 0;   ///< Of encoded values: a page ends with the value that fills it.
  bool dictionary = false;  ///< Given up for plain values when it outgrows a page.
  bool statistics = false;
};

/// Writes data pages of v1, PLAIN or RLE_DICTIONARY, to a buffered PageWriter.
///
/// Values are encoded where they will be compressed: a page is a buffer that keeps room for the
/// levels before the values, and is used again for the next page.
///
/// Memory:  the open page and the pages that wait for their dictionary, charged past the budget's
///          limit if need be. The pager holds the others.
/// Errors:  parquet::ParquetException, from the library.
/// Threads: one at a time.
class ColumnChunkWriter {
 public:
  /// No page has more rows, as in other writers: the page index lets readers skip this many.
  static constexpr int64_t kMostPageRows = 20'000;

  virtual ~ColumnChunkWriter() = default;

  /// Appends every row of `column`, which has the type of the leaf, or is a list of it.
  virtual void Append(const table::ColumnData& column) = 0;
  /// Bytes of finished pages, compressed.
  virtual int64_t encoded_bytes() const = 0;
  /// Memory that all its pages take, the open one included.
  virtual int64_t held_bytes() const = 0;
  /// Writes what is left, then the chunk to the file; gives its bytes before compression.
  virtual int64_t Close() = 0;
};

/// What all chunks of a file share.
struct ChunkContext {
  mem::BlockAllocator& blocks;
  arrow::MemoryPool& pool;
  const Yield& yield;  ///< Called before and after a page is compressed.
};

/// `descriptor` is the leaf's, `metadata` and `pager` belong to the chunk's row group.
/// Requires: `descriptor` and `metadata` outlive the writer.
std::unique_ptr<ColumnChunkWriter> NewColumnChunkWriter(
    const parquet::ColumnDescriptor& descriptor, const ChunkOptions& options,
    std::unique_ptr<parquet::PageWriter> pager, parquet::ColumnChunkMetaDataBuilder& metadata,
    const ChunkContext& context);

}  // namespace weir::file
