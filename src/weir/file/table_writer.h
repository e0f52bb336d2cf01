#pragma once
// TableWriter: batches of one table into one file, whatever its format.
#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "weir/base/result.h"
#include "weir/table/column.h"

namespace weir::file {

/// A finished file: what the manifest and the ledger record of it.
struct FilePart {
  std::string path;  ///< Relative to the export's folder.
  int64_t rows = 0;
  int64_t bytes = 0;
  std::string xxh3;  ///< xxh3-64 of the whole file, 16 hex digits.
};

/// Where a writer's time went.
struct WriteTimes {
  int64_t encode_nanos = 0;  ///< Encoding and compressing.
  int64_t write_nanos = 0;   ///< In the file system: write and sync.
};

/// What a writer calls between pieces of work of a tenth of a millisecond or so, for a caller that
/// has something else to do at times. May be empty.
using Yield = std::function<void()>;

/// Writes one file from its first row to its last.
///
/// Errors:  of sys::Files; kExhausted when the memory budget is full. After an error only
///          destruction is left; the file is then incomplete and must be removed by the caller.
/// Threads: one at a time.
class TableWriter {
 public:
  virtual ~TableWriter() = default;

  virtual Status Write(table::Batch batch) = 0;
  /// Writes what is left and syncs the file. FilePart::path is what the writer was made with.
  virtual Result<FilePart> Finish() = 0;
  /// Bytes in the file so far.
  virtual int64_t file_bytes() const = 0;
  virtual WriteTimes times() const = 0;
};

}  // namespace weir::file
