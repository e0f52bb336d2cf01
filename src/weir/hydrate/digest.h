#pragma once
// What an index holds, as a number that other programs can compute from the rows.
#include <string>

#include "weir/hydrate/index.h"
#include "weir/mem/block_allocator.h"
#include "weir/sys/stop.h"

namespace weir::hydrate {

/// "rows:hash" of the index's rows at `time`, their columns in the table's order:
/// file/content_hash.h says how, and PostgreSQL and DuckDB compute the same from the table.
///
/// Cost:   one read of the index, decoding it, and an MD5 of every row.
/// Errors: of Index::ReadAt; kCancelled when `stop` was asked for.
Result<std::string> ContentHashOf(const Index& index, delta::Time time,
                                  mem::BlockAllocator& blocks, const sys::Stop& stop);

}  // namespace weir::hydrate
