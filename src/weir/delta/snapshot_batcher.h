#pragma once
// SnapshotBatcher: sorts a snapshot once, and what comes after it on a ladder.
#include <memory>

#include "weir/delta/batcher.h"
#include "weir/delta/ladder_batcher.h"
#include "weir/delta/snapshot_sorter.h"

namespace weir::delta {

/// Rows that come once at `as_of`, before the first Seal(), go into a SnapshotSorter; all others
/// into a LadderBatcher.
///
/// Threads: one.
class SnapshotBatcher final : public Batcher {
 public:
  SnapshotBatcher(mem::Pool& pool, Time as_of, SnapshotOptions snapshot, LadderOptions ladder);
  ~SnapshotBatcher() override;

  Status Push(const table::EncodedRows& rows, Time time, Diff diff) override;
  Result<std::unique_ptr<Batch>> Seal(Frontier upper) override;

 private:
  Result<std::unique_ptr<Batch>> Merge(std::unique_ptr<LeafBatch> snapshot,
                                       std::unique_ptr<Batch> others) const;

  mem::Pool& pool_;
  const Time as_of_;
  const SnapshotOptions options_;
  std::unique_ptr<SnapshotSorter> sorter_;  // Null after the snapshot was sealed.
  LadderBatcher ladder_;
};

}  // namespace weir::delta
