#pragma once
// ParquetSource: the Parquet files of a folder, as tables that do not change.
#include "weir/feed/source.h"
#include "weir/mem/block_allocator.h"
#include "weir/sys/files.h"

namespace weir::feed {

/// The table of `folder`, or else those of the folders in it. A folder with a manifest is an export
/// of `weir run`, named as that was: "public.orders" is found by that and, if no other table ends
/// so, by "orders". Any other folder with "*.parquet" files is a table of the folder's name.
///
/// Errors: of Snapshot::Open and OpenFiles; kNotFound when there is no table at all.
Result<std::unique_ptr<Source>> OpenParquetSource(sys::Files& files, const std::string& folder,
                                                  mem::BlockAllocator& blocks);

}  // namespace weir::feed
