#pragma once
// WriteTpchSnapshot: the tables of TPC-H as files, as `weir run` would have left them.
#include "weir/feed/tpch_generator.h"
#include "weir/sys/files.h"

namespace weir::feed {

/// In what order the rows of a table are written.
enum class RowOrder : uint8_t {
  kGenerated,  ///< By their primary keys.
  kShuffled,   ///< In a random order that follows from the seed.
};

/// Writes every table to folder/<table>: Parquet and a manifest (docs/formats/manifest.md).
///
/// Memory: 16 bytes per row of the largest table when shuffled, and a row group.
/// Errors: of file::OutputFolder and sys::Files.
Status WriteTpchSnapshot(const TpchGenerator& generator, RowOrder order, uint64_t seed,
                         sys::Files& files, const std::string& folder,
                         mem::BlockAllocator& blocks);

}  // namespace weir::feed
