#include "weir/delta/snapshot_batcher.h"

#include "weir/delta/merge_internal.h"

namespace weir::delta {

SnapshotBatcher::SnapshotBatcher(mem::Pool& pool, Time as_of, SnapshotOptions snapshot,
                                 LadderOptions ladder)
    : pool_(pool),
      as_of_(as_of),
      options_(snapshot),
      sorter_(std::make_unique<SnapshotSorter>(pool, snapshot, as_of, 1, 1)),
      ladder_(pool, ladder) {}

SnapshotBatcher::~SnapshotBatcher() = default;

Status SnapshotBatcher::Push(const table::EncodedRows& rows, Time time, Diff diff) {
  const bool snapshot = sorter_ != nullptr && time == as_of_ && diff == 1;
  return snapshot ? sorter_->Push(0, rows) : ladder_.Push(rows, time, diff);
}

Result<std::unique_ptr<Batch>> SnapshotBatcher::Seal(Frontier upper) {
  WEIR_TRY(auto others, ladder_.Seal(upper));
  if (sorter_ == nullptr || IsOpen(upper, as_of_)) return others;
  const auto sorter = std::move(sorter_);
  WEIR_DO(sorter->Close(0));
  WEIR_TRY(auto snapshot, sorter->Seal(0, others->description()));
  if (others->update_count() == 0) return std::unique_ptr<Batch>(std::move(snapshot));
  return Merge(std::move(snapshot), std::move(others));
}

Result<std::unique_ptr<Batch>> SnapshotBatcher::Merge(std::unique_ptr<LeafBatch> snapshot,
                                                      std::unique_ptr<Batch> others) const {
  constexpr int kDepth = 2;
  LeafBatchBuilder builder(pool_, options_.leaf_bytes, kDepth);
  WEIR_TRY(auto left, snapshot->Seek({}));
  WEIR_TRY(auto right, others->Seek({}));
  WEIR_DO(builder.AddAll(*MergeCursors(std::move(left), std::move(right), 0)));
  WEIR_TRY(auto merged, builder.Finish(others->description()));
  return std::unique_ptr<Batch>(std::move(merged));
}

}  // namespace weir::delta
