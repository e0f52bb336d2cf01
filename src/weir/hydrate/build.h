#pragma once
// BuildIndexes: indexes of one table, hydrated together from one scan of it.
#include <span>

#include "weir/delta/arranger.h"
#include "weir/feed/source.h"
#include "weir/hydrate/index.h"
#include "weir/sys/stop.h"

namespace weir::hydrate {

struct BuildOptions {
  delta::BatcherKind batcher = delta::BatcherKind::kSnapshot;
  int worker_count = 1;
  delta::Time as_of = 0;
  delta::LadderOptions ladder;
  delta::SnapshotOptions snapshot;  ///< expected_bytes is set here.
  int64_t batch_rows = 4096;
};

/// Reads the table once, on as many threads as there are workers, and feeds all the indexes with
/// it; each is hydrated when all its shards are. They are read at options.as_of.
///
/// Errors: the first failure. One of an arranger (delta::Arranger) is that index's, and the others
///         go on; of feed::TableScan or sys::StartThread, and kCancelled when `stop` was asked for,
///         all fail that are not hydrated yet.
/// Requires: fresh indexes, with as many shards as there are workers.
Status BuildIndexes(const feed::SourceTable& table, std::span<Index* const> indexes,
                    const BuildOptions& options, mem::Pool& pool, mem::BlockAllocator& blocks,
                    sys::Clock& clock, const sys::Stop& stop);

}  // namespace weir::hydrate
