#include "weir/delta/snapshot_sorter.h"

#include <algorithm>

#include "weir/base/assert.h"
#include "weir/delta/merge.h"
#include "weir/delta/range_sort_internal.h"
#include "weir/sys/accounting.h"
#include "weir/sys/hash.h"

namespace weir::delta {
namespace {

// Rows of a lane that are looked at before it is decided how to go on.
constexpr int64_t kFirstRows = 16'384;

}  // namespace

int ShardOf(Bytes key, int shard_count) {
  if (shard_count == 1) return 0;
  return static_cast<int>(sys::Xxh3(key) % static_cast<uint64_t>(shard_count));
}

// The rows that one thread pushes: first they wait; then, while they are in order, they go into
// runs, one per shard; from the first that is not, into ranges.
class SnapshotSorter::Lane {
 public:
  explicit Lane(SnapshotSorter& sorter)
      : sorter_(sorter),
        pool_(sorter.pool_),
        staging_bytes_(sorter.options_.staging_bytes),
        runs_(static_cast<size_t>(sorter.shard_count_)) {}

  Status Add(Bytes row, int32_t key_size) {
    if (partition_ != nullptr) [[likely]] return AddToRange(row, key_size);
    if (!builders_.empty()) {
      WEIR_TRY(const bool in_order, AddToRun(row, key_size));
      if (in_order) return Ok();
      WEIR_DO(EndRuns());
    }
    return AddToWaiting(row, key_size);
  }

  Status Close() {
    if (!builders_.empty()) WEIR_DO(EndRuns());
    if (waiting_.count() > 0) WEIR_DO(StartRanges());
    for (StagedRows& range : ranges_) range.Close(pool_);
    return Ok();
  }

  /// Of one shard, from the first range on. Requires: closed.
  std::span<StagedRows> RangesOf(int shard) {
    const size_t count = ranges_.size() / runs_.size();
    return std::span(ranges_).subspan(static_cast<size_t>(shard) * count, count);
  }
  std::vector<std::unique_ptr<LeafBatch>> TakeRunsOf(int shard) {
    return std::exchange(runs_[static_cast<size_t>(shard)], {});
  }

 private:
  Status AddToWaiting(Bytes row, int32_t key_size) {
    WEIR_DO(waiting_.Add(pool_, staging_bytes_, row.data(), std::ssize(row), key_size));
    waiting_bytes_ += std::ssize(row);
    if (in_order_) {
      in_order_ = waiting_.count() == 1 || CompareRows(last_, row) < 0;
      last_.assign(row.begin(), row.end());
    }
    if (waiting_.count() < kFirstRows) return Ok();
    return in_order_ && sorter_.HasRoomForRuns() ? StartRuns() : StartRanges();
  }

  Status StartRuns() {
    for (size_t shard = 0; shard < runs_.size(); ++shard) {
      builders_.push_back(
          std::make_unique<LeafBatchBuilder>(pool_, sorter_.options_.leaf_bytes, kRunDepth));
    }
    waiting_.Close(pool_);
    return std::exchange(waiting_, {}).TakeEach([&](const Record& record) -> Status {
      WEIR_TRY(const bool in_order, AddToRun(record.bytes(), record.key_size));
      WEIR_ASSERT(in_order);
      return Ok();
    });
  }

  // False: it does not come after the last one of its shard.
  Result<bool> AddToRun(Bytes row, int32_t key_size) {
    const int shard = ShardOf(row.first(static_cast<size_t>(key_size)), sorter_.shard_count_);
    LeafBatchBuilder& builder = *builders_[static_cast<size_t>(shard)];
    if (builder.update_count() > 0 && CompareRows(builder.last_row(), row) >= 0) return false;
    WEIR_DO(builder.Add({row, key_size, sorter_.time_, 1}));
    return true;
  }

  Status EndRuns() {
    in_order_ = false;
    auto builders = std::exchange(builders_, {});
    for (size_t shard = 0; shard < builders.size(); ++shard) {
      WEIR_TRY(auto run, builders[shard]->Finish({}));
      if (run->update_count() > 0) runs_[shard].push_back(std::move(run));
    }
    return Ok();
  }

  Status StartRanges() {
    waiting_.Close(pool_);
    WEIR_TRY(partition_, sorter_.RangesFor(waiting_, waiting_bytes_));
    ranges_.resize(runs_.size() * static_cast<size_t>(partition_->range_count()));
    return std::exchange(waiting_, {}).TakeEach([&](const Record& record) {
      return AddToRange(record.bytes(), record.key_size);
    });
  }

  Status AddToRange(Bytes row, int32_t key_size) {
    const int shard = ShardOf(row.first(static_cast<size_t>(key_size)), sorter_.shard_count_);
    const int range =
        shard * partition_->range_count() + partition_->Of(row.data(), std::ssize(row));
    return ranges_[static_cast<size_t>(range)].Add(pool_, staging_bytes_, row.data(),
                                                   std::ssize(row), key_size);
  }

  static constexpr int kRunDepth = 1;

  SnapshotSorter& sorter_;
  mem::Pool& pool_;
  const int64_t staging_bytes_;
  StagedRows waiting_;
  int64_t waiting_bytes_ = 0;
  bool in_order_ = true;       // So far, of those waiting.
  std::vector<uint8_t> last_;  // Row of them.
  std::vector<std::unique_ptr<LeafBatchBuilder>> builders_;  // One per shard, while in order.
  std::vector<std::vector<std::unique_ptr<LeafBatch>>> runs_;  // Of each shard.
  std::shared_ptr<const RangePartition> partition_;  // Null until rows go into ranges.
  std::vector<StagedRows> ranges_;                   // Those of the first shard first.
};

SnapshotSorter::SnapshotSorter(mem::Pool& pool, SnapshotOptions options, Time time,
                               int shard_count, int lane_count)
    : pool_(pool), options_(options), time_(time), shard_count_(shard_count) {
  for (int at = 0; at < lane_count; ++at) lanes_.push_back(std::make_unique<Lane>(*this));
}

SnapshotSorter::~SnapshotSorter() = default;

Status SnapshotSorter::Push(int lane, const table::EncodedRows& rows) {
  Lane& into = *lanes_[static_cast<size_t>(lane)];
  for (int64_t at = 0; at < rows.row_count; ++at) {
    WEIR_DO(into.Add(rows.row(at), rows.key_size(at)));
  }
  return Ok();
}

Status SnapshotSorter::Close(int lane) { return lanes_[static_cast<size_t>(lane)]->Close(); }

// Each lane has a leaf open for each shard.
bool SnapshotSorter::HasRoomForRuns() const {
  constexpr int64_t kMostShare = 4;
  const int64_t leaves = std::ssize(lanes_) * shard_count_ * options_.sorter_count;
  return leaves * options_.leaf_bytes <= pool_.RoomBytes() / kMostShare;
}

// The ranges that all lanes share: chosen by the rows of the first that asks.
Result<std::shared_ptr<const RangePartition>> SnapshotSorter::RangesFor(const StagedRows& rows,
                                                                        int64_t bytes) {
  const std::lock_guard lock(mutex_);
  if (partition_ == nullptr) {
    const int64_t expected = std::max(options_.expected_bytes, bytes) / shard_count_;
    const int64_t pages_per_range = std::ssize(lanes_) * shard_count_;
    WEIR_TRY(partition_, ChooseRanges(rows, pool_, options_, expected, pages_per_range));
  }
  return partition_;
}

Result<std::unique_ptr<LeafBatch>> SnapshotSorter::Seal(int shard, Description description) {
  std::vector<std::unique_ptr<LeafBatch>> parts;
  for (const auto& lane : lanes_) {
    for (auto& run : lane->TakeRunsOf(shard)) parts.push_back(std::move(run));
  }
  if (partition_ != nullptr) {
    RangeSort sort(pool_, options_, shard_count_, time_);
    for (size_t at = 0; at < static_cast<size_t>(partition_->range_count()); ++at) {
      StagedRows range;
      for (const auto& lane : lanes_) {
        const auto ranges = lane->RangesOf(shard);
        if (!ranges.empty()) range.Append(std::move(ranges[at]));
      }
      WEIR_DO(sort.Add(std::move(range)));
    }
    WEIR_TRY(auto sorted, sort.Finish({}));
    if (sorted->update_count() > 0) parts.push_back(std::move(sorted));
  }
  return MergeAll(std::move(parts), description);
}

Result<std::unique_ptr<LeafBatch>> SnapshotSorter::MergeAll(
    std::vector<std::unique_ptr<LeafBatch>> parts, Description description) const {
  if (parts.size() == 1) {
    parts.front()->Describe(description);
    return std::move(parts.front());
  }
  const sys::ActivityScope activity(sys::Activity::kMerge);
  LeafBatchBuilder builder(pool_, options_.leaf_bytes, 2);
  std::vector<std::unique_ptr<Cursor>> cursors;
  for (const auto& part : parts) {
    WEIR_TRY(auto cursor, part->Seek({}));
    cursors.push_back(std::move(cursor));
  }
  WEIR_DO(builder.AddAll(*delta::MergeAll(std::move(cursors))));
  return builder.Finish(description);
}

}  // namespace weir::delta
