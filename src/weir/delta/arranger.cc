#include "weir/delta/arranger.h"

#include "weir/base/assert.h"
#include "weir/delta/exchange_internal.h"
#include "weir/delta/legacy_batcher.h"
#include "weir/delta/merge.h"
#include "weir/sys/accounting.h"

namespace weir::delta {
namespace {

// A batcher per shard behind an exchange.
class ExchangeArranger final : public Arranger {
 public:
  ExchangeArranger(const ArrangerOptions& options, mem::Pool& pool, mem::BlockAllocator& blocks)
      : exchange_(options.worker_count, blocks) {
    for (int at = 0; at < options.worker_count; ++at) {
      if (options.kind == BatcherKind::kLegacy) {
        batchers_.push_back(std::make_unique<LegacyBatcher>(blocks));
      } else {
        batchers_.push_back(std::make_unique<LadderBatcher>(pool, options.ladder));
      }
    }
  }

  Status Push(int worker, const table::EncodedRows& rows, Time time, Diff diff) override {
    if (batchers_.size() == 1) return batchers_.front()->Push(rows, time, diff);
    return exchange_.Send(worker, rows, time, diff, Into(worker));
  }
  Status Receive(int worker) override { return exchange_.Receive(worker, Into(worker)); }
  Status Finish(int worker) override { return exchange_.Flush(worker, Into(worker)); }
  Result<std::unique_ptr<Batch>> Seal(int worker, Frontier upper) override {
    return batchers_[static_cast<size_t>(worker)]->Seal(upper);
  }

 private:
  Exchange::Take Into(int worker) {
    Batcher& batcher = *batchers_[static_cast<size_t>(worker)];
    return [&batcher](const Parcel& parcel) {
      return batcher.Push(parcel.rows, parcel.time, parcel.diff);
    };
  }

  Exchange exchange_;
  std::vector<std::unique_ptr<Batcher>> batchers_;
};

// The snapshot's rows go to their shard's ranges at once; later ones through an exchange.
class SnapshotArranger final : public Arranger {
 public:
  SnapshotArranger(const ArrangerOptions& options, mem::Pool& pool, mem::BlockAllocator& blocks)
      : options_(options),
        pool_(pool),
        sorter_(std::make_unique<SnapshotSorter>(pool, options.snapshot, options.as_of,
                                                 options.worker_count, options.worker_count)),
        later_(options, pool, blocks),
        sealed_(static_cast<size_t>(options.worker_count)) {}

  Status Push(int worker, const table::EncodedRows& rows, Time time, Diff diff) override {
    const bool snapshot = !IsSealed(worker) && time == options_.as_of && diff == 1;
    return snapshot ? sorter_->Push(worker, rows) : later_.Push(worker, rows, time, diff);
  }
  Status Receive(int worker) override { return later_.Receive(worker); }
  Status Finish(int worker) override {
    if (!IsSealed(worker)) WEIR_DO(sorter_->Close(worker));
    return later_.Finish(worker);
  }

  Result<std::unique_ptr<Batch>> Seal(int worker, Frontier upper) override {
    WEIR_TRY(auto later, later_.Seal(worker, upper));
    WEIR_ASSERT(!IsOpen(upper, options_.as_of));
    if (std::exchange(sealed_[static_cast<size_t>(worker)].value, true)) return later;
    WEIR_TRY(auto snapshot, sorter_->Seal(worker, later->description()));
    if (later->update_count() == 0) return std::unique_ptr<Batch>(std::move(snapshot));
    const sys::ActivityScope activity(sys::Activity::kMerge);
    constexpr int kDepth = 2;
    LeafBatchBuilder builder(pool_, options_.snapshot.leaf_bytes, kDepth);
    WEIR_TRY(auto left, snapshot->Seek({}));
    WEIR_TRY(auto right, later->Seek({}));
    WEIR_DO(builder.AddAll(*MergeCursors(std::move(left), std::move(right), 0)));
    WEIR_TRY(auto merged, builder.Finish(later->description()));
    return std::unique_ptr<Batch>(std::move(merged));
  }

 private:
  // Its own worker's only: workers seal at different moments.
  struct alignas(64) Flag {
    bool value = false;
  };
  bool IsSealed(int worker) const { return sealed_[static_cast<size_t>(worker)].value; }

  const ArrangerOptions options_;
  mem::Pool& pool_;
  const std::unique_ptr<SnapshotSorter> sorter_;
  ExchangeArranger later_;
  std::vector<Flag> sealed_;
};

}  // namespace

std::string_view BatcherName(BatcherKind kind) {
  switch (kind) {
    case BatcherKind::kSnapshot: return "snapshot";
    case BatcherKind::kLegacy: return "legacy";
    case BatcherKind::kPaged: return "paged";
  }
  WEIR_ASSERT(false);
}

std::unique_ptr<Arranger> NewArranger(const ArrangerOptions& options, mem::Pool& pool,
                                      mem::BlockAllocator& blocks) {
  if (options.kind == BatcherKind::kSnapshot) {
    return std::make_unique<SnapshotArranger>(options, pool, blocks);
  }
  return std::make_unique<ExchangeArranger>(options, pool, blocks);
}

}  // namespace weir::delta
