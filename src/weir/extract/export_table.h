#pragma once
// ExportTable: one source into the files of one folder. Receiving overlaps with decoding, encoding
// and writing.
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

/// Bytes of the COPY stream: in a batch; that wait for the decoder at most; that are handed over at
/// once. Large enough that hand-over costs nothing, small enough that all of them together stay
/// under 20 MB.
inline constexpr int64_t kBatchBytes = 4 << 20;
inline constexpr int64_t kQueueBytes = 4 << 20;
inline constexpr int64_t kChunkBytes = 512 << 10;

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

/// Makes the writer of part number `part`, counted from 0.
using NewWriter =
    std::function<Result<std::unique_ptr<file::TableWriter>>(int part)>;

/// What one export did, and where its time went; of one that failed, as far as it came.
struct ExportTotals {
  std::vector<file::FilePart> parts;  ///< None when it failed.
  int64_t rows = 0;            ///< Taken out of the stream; it may have brought more.
  int64_t read_bytes = 0;      ///< Of the COPY stream.
  int64_t batches = 0;
  int64_t wide_batches = 0;    ///< Over max_batch_bytes.
  std::optional<sys::Duration> copy;  ///< From COPY's start to its end: the longest statement.
                                      ///< Absent: it was not begun, so the rest is unknown.
  sys::Duration wait{0};       ///< Receiver waiting for the source.
  sys::Duration blocked{0};    ///< Receiver waiting for room in the queue.
  sys::Duration slept{0};      ///< Receiver resting, as the pace says.
  sys::Duration decode{0};     ///< Encoder decoding the stream.
  sys::Duration encode{0};     ///< Encoder encoding files.
  sys::Duration write{0};      ///< Encoder in the file system.
};

/// Reads `source` to its end. Uses this thread to receive and one more for the rest. `totals` is
/// filled in also when it fails.
///
/// Errors: of the connection, the parser and the writer; the first one wins. kCancelled when `stop`
///         was asked for; the server's query is then cancelled. Files already begun are left for
///         OutputFolder to remove.
Status ExportTable(Source& source, const NewWriter& new_writer, const ExportOptions& options,
                   mem::BlockAllocator& blocks, sys::Clock& clock, const sys::Stop& stop,
                   Progress& progress, ExportTotals& totals);

}  // namespace weir::extract
