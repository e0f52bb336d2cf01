#pragma once
// Digest: what a bench checks of the files an export left: how many rows, their content hash
// (which PostgreSQL computes too), and their longest statistic.
#include <string>

#include "weir/mem/block_allocator.h"
#include "weir/sys/files.h"
#include "weir/sys/stop.h"

namespace weir::experiment {

/// "rows:hash" of all columns of the table whose stored name, without a schema, is `table`, by
/// PostgreSQL; file/content_hash.h says how.
/// Cost: one sequential scan, and an MD5 of every row.
Result<std::string> DigestOfTable(const std::string& url, const std::string& table,
                                  const sys::Stop& stop);

/// The same of the Parquet files that an export left in `folder`, read back from the disk.
/// Errors: kCorrupt and kNotFound of manifest and files; kCancelled when `stop` was asked for.
Result<std::string> DigestOfFiles(sys::Files& files, const std::string& folder,
                                  mem::BlockAllocator& blocks, const sys::Stop& stop);

/// Bytes of the longest minimum or maximum in those files: see file::LongestStatisticBytes.
Result<int64_t> LongestStatisticOfFiles(sys::Files& files, const std::string& folder);

}  // namespace weir::experiment
