#pragma once
// ParquetSource: the exports in a folder, as tables that do not change.
#include "weir/feed/source.h"
#include "weir/mem/block_allocator.h"
#include "weir/sys/files.h"

namespace weir::feed {

/// Every folder in `folder` that has a manifest, or `folder` itself if it has one. A table is named
/// as the export was: "public.orders" is found by that and, if no other table ends so, by "orders".
///
/// Errors: of Snapshot::Open; kNotFound when there is no export at all.
Result<std::unique_ptr<Source>> OpenParquetSource(sys::Files& files, const std::string& folder,
                                                  mem::BlockAllocator& blocks);

}  // namespace weir::feed
