#pragma once
// ExportTable: one source into the files of one folder. The server goes on sending while its rows
// are decoded, encoded and written.
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "weir/extract/pace.h"
#include "weir/extract/progress.h"
#include "weir/extract/source.h"
#include "weir/file/manifest.h"
#include "weir/file/output_folder.h"
#include "weir/file/table_writer.h"
#include "weir/mem/block_allocator.h"

namespace weir::extract {

/// Bytes of the COPY stream: in a batch; received ahead of the decoder at most; given to it at
/// once.
inline constexpr int64_t kBatchBytes = 4 << 20;
inline constexpr int64_t kAheadBytes = 2 << 20;
inline constexpr int64_t kBlockBytes = 512 << 10;

/// What to do with a row over max_batch_bytes, which is then a batch of its own. Batches of several
/// rows are cut near that size in any case.
enum class WideBatch { kWarn, kFail, kAllow };

struct ExportOptions {
  int64_t batch_bytes = kBatchBytes;       ///< Of the COPY stream per batch.
  int64_t max_value_bytes = 256 << 20;
  int64_t max_batch_bytes = 0;             ///< Decoded; zero: none.
  WideBatch wide_batch = WideBatch::kWarn;
  sys::Duration byte_timeout{0};           ///< Longest wait for the next byte; zero: for ever.
  ThrottlePace pace;
  int64_t max_file_bytes = 0;              ///< A new part begins past this; zero: one part.
  bool skip_empty = false;                 ///< No part at all when there are no rows.
};

/// Makes the writer of part number `part`, counted from 0, which calls `yield` while it works.
using NewWriter = std::function<Result<std::unique_ptr<file::TableWriter>>(
    int part, const file::Yield& yield)>;

/// What one export did, and where its time went; of one that failed, as far as it came.
struct ExportTotals {
  std::vector<file::FilePart> parts;  ///< None when it failed.
  int64_t rows = 0;            ///< Taken out of the stream; it may have brought more.
  int64_t read_bytes = 0;      ///< Of the COPY stream.
  int64_t batches = 0;
  int64_t wide_batches = 0;    ///< Over max_batch_bytes.
  std::optional<sys::Duration> copy;  ///< From COPY's start to its end: the longest statement.
                                      ///< Absent: it was not begun, so the rest is unknown.
  sys::Duration wait{0};       ///< For the source, with nothing else to do.
  sys::Duration receive{0};    ///< Taking in what the source had sent.
  sys::Duration slept{0};      ///< Not receiving, as the pace says; the rest goes on meanwhile.
  sys::Duration decode{0};     ///< The stream into columns.
  sys::Duration encode{0};     ///< Columns into files.
  sys::Duration write{0};      ///< In the file system.
};

/// Reads `source` to its end on this thread. `totals` is filled in also when it fails.
///
/// Errors: of the connection, the parser and the writer; the first one wins. kCancelled when `stop`
///         was asked for; the server's query is then cancelled. Files already begun are left for
///         OutputFolder to remove.
Status ExportTable(Source& source, const NewWriter& new_writer, const ExportOptions& options,
                   mem::BlockAllocator& blocks, sys::Clock& clock, const sys::Stop& stop,
                   Progress& progress, ExportTotals& totals);

}  // namespace weir::extract
