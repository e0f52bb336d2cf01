#include "weir/delta/snapshot_sorter.h"

#include <algorithm>

#include "weir/base/assert.h"
#include "weir/delta/ladder_batcher.h"
#include "weir/delta/partition_internal.h"
#include "weir/delta/sort_internal.h"
#include "weir/delta/staged_rows_internal.h"

namespace weir::delta {
namespace {

// Rows that ranges are chosen by. So many that a range is off by a tenth at most, most of the time.
constexpr int64_t kSampleRows = 16'384;
// Of each: what lies behind hardly tells rows apart, and wide rows must not fill the memory.
constexpr int64_t kMostSampleBytes = 256;

}  // namespace

SnapshotSorter::SnapshotSorter(mem::Pool& pool, SnapshotOptions options)
    : pool_(pool), options_(options), ranges_(1) {}

SnapshotSorter::~SnapshotSorter() = default;

Status SnapshotSorter::Push(const table::EncodedRows& rows) {
  for (int64_t at = 0; at < rows.row_count; ++at) {
    const Bytes row = rows.row(at);
    WEIR_DO(Stage(row, rows.key_size(at)));
  }
  return Ok();
}

Status SnapshotSorter::Stage(Bytes row, int32_t key_size) {
  const auto size = static_cast<int64_t>(row.size());
  if (partition_ == nullptr && row_count_ == kSampleRows) WEIR_DO(ChooseRanges());
  const int range = partition_ == nullptr ? 0 : partition_->Of(row.data(), size);
  WEIR_DO(ranges_[static_cast<size_t>(range)].Add(pool_, options_.staging_bytes, row.data(), size,
                                                  key_size));
  ++row_count_;
  row_bytes_ += size;
  return Ok();
}

// By the rows so far, which are then moved to where they belong.
Status SnapshotSorter::ChooseRanges() {
  StagedRows waiting = std::move(ranges_[0]);
  waiting.Close(pool_);
  const int64_t expected = std::max(options_.expected_bytes, row_bytes_);
  WEIR_TRY(ranges_, Distribute(std::move(waiting), expected));
  return Ok();
}

// Rows by range, with room for `expected_bytes` of them; partition_ tells which.
Result<std::vector<StagedRows>> SnapshotSorter::Distribute(StagedRows rows,
                                                           int64_t expected_bytes) {
  constexpr int64_t kShare = 8;  // Of the room that there is, for the pages being filled.
  const int64_t most = std::clamp<int64_t>(pool_.RoomBytes() / kShare / options_.staging_bytes, 1,
                                           RangePartition::kMostRanges);
  const int64_t count = std::clamp<int64_t>(expected_bytes / options_.range_bytes, 1, most);
  WEIR_TRY(const std::vector<std::string> sample, SampleOf(rows));
  std::vector<Bytes> views;
  for (const std::string& row : sample) views.push_back(AsBytes(row));
  partition_ = std::make_unique<RangePartition>(std::move(views), static_cast<int>(count));
  std::vector<StagedRows> ranges(static_cast<size_t>(partition_->range_count()));
  for (mem::Page& page : rows.TakePages()) {
    const mem::Page owned = std::move(page);  // Each is gone as soon as its rows are elsewhere.
    WEIR_TRY(const mem::PageGuard guard, owned.Read());
    const RecordSpan records = StagedRows::RecordsOf(guard.bytes());
    for (const uint8_t* at = records.begin; at != records.end;) {
      const Record record = Record::At(at);
      const int range = partition_->Of(record.row, record.size);
      WEIR_DO(ranges[static_cast<size_t>(range)].Add(pool_, options_.staging_bytes, record.row,
                                                     record.size, record.key_size));
      at = record.end();
    }
  }
  return ranges;
}

// Up to kSampleRows of the rows, evenly apart.
Result<std::vector<std::string>> SnapshotSorter::SampleOf(const StagedRows& rows) const {
  const int64_t step = rows.count() / kSampleRows + 1;
  std::vector<std::string> sample;
  int64_t number = 0;
  for (const mem::Page& page : rows.pages()) {
    WEIR_TRY(const mem::PageGuard guard, page.Read());
    const RecordSpan records = StagedRows::RecordsOf(guard.bytes());
    for (const uint8_t* at = records.begin; at != records.end;) {
      const Record record = Record::At(at);
      if (number++ % step == 0) {
        const int64_t kept = std::min(record.size, kMostSampleBytes);
        sample.emplace_back(AsText({record.row, static_cast<size_t>(kept)}));
      }
      at = record.end();
    }
  }
  return sample;
}

// Sorts one range after the other into a batch.
class SnapshotSorter::Sealer {
 public:
  Sealer(SnapshotSorter& sorter, Time time)
      : sorter_(sorter),
        pool_(sorter.pool_),
        time_(time),
        builder_(sorter.pool_, sorter.options_.leaf_bytes, kLeafDepth) {}

  Status Add(StagedRows range) {
    range.Close(pool_);
    if (range.count() == 0) return Ok();
    // Its rows and two arrays of entries have to be in memory together, beside what spills.
    const int64_t needed =
        range.bytes() + 2 * range.count() * static_cast<int64_t>(sizeof(SortEntry));
    return needed > pool_.RoomBytes() / 2 ? AddInParts(std::move(range)) : AddAtOnce(range);
  }

  Result<std::unique_ptr<LeafBatch>> Finish(Description description) {
    return builder_.Finish(description);
  }

 private:
  static constexpr int kLeafDepth = 1;

  Status AddAtOnce(const StagedRows& range) {
    std::vector<mem::PageGuard> guards;
    WEIR_DO(Reserve(range.count()));
    size_t filled = 0;
    for (const mem::Page& page : range.pages()) {
      WEIR_TRY(mem::PageGuard guard, page.Read());
      const RecordSpan records = StagedRows::RecordsOf(guard.bytes());
      for (const uint8_t* at = records.begin; at != records.end; at = Record::At(at).end()) {
        entries_[filled++].record = at;
      }
      guards.push_back(std::move(guard));
    }
    return Emit(SortByRow(entries_.first(filled), spare_));
  }

  // Ranges within the range; where its rows cannot be told apart that way, a ladder of merges.
  Status AddInParts(StagedRows range) {
    const int64_t count = range.count();
    const int64_t bytes = range.bytes();
    WEIR_TRY(std::vector<StagedRows> parts, sorter_.Distribute(std::move(range), bytes));
    for (StagedRows& part : parts) {
      if (part.count() < count) {
        WEIR_DO(Add(std::move(part)));
      } else {
        WEIR_DO(AddByMerging(std::move(part)));
      }
    }
    return Ok();
  }

  Status AddByMerging(StagedRows range) {
    LadderBatcher ladder(pool_, {.chunk_bytes = sorter_.options_.range_bytes});
    range.Close(pool_);
    for (mem::Page& page : range.TakePages()) {
      const mem::Page owned = std::move(page);
      WEIR_TRY(const mem::PageGuard guard, owned.Read());
      const RecordSpan records = StagedRows::RecordsOf(guard.bytes());
      for (const uint8_t* at = records.begin; at != records.end; at = Record::At(at).end()) {
        const Record record = Record::At(at);
        const Bytes row(record.row, static_cast<size_t>(record.size));
        WEIR_DO(ladder.Add({row, record.key_size, time_, 1}));
      }
    }
    WEIR_TRY(const auto sorted, ladder.SealLeaves({}));
    WEIR_TRY(const auto cursor, sorted->Seek({}));
    return builder_.AddAll(*cursor);
  }

  Status Reserve(int64_t rows) {
    if (std::ssize(entries_) >= rows) return Ok();
    const auto bytes = rows * static_cast<int64_t>(sizeof(SortEntry));
    WEIR_TRY(entries_page_, pool_.New(bytes));
    WEIR_TRY(spare_page_, pool_.New(bytes));
    const auto room = static_cast<size_t>(entries_page_.capacity()) / sizeof(SortEntry);
    entries_ = {reinterpret_cast<SortEntry*>(entries_page_.data()), room};
    spare_ = {reinterpret_cast<SortEntry*>(spare_page_.data()), room};
    return Ok();
  }

  // Rows that are the same become one with the sum of their diffs.
  Status Emit(std::span<const SortEntry> sorted) {
    for (size_t at = 0; at < sorted.size();) {
      const Record record = Record::At(sorted[at].record);
      const Bytes row(record.row, static_cast<size_t>(record.size));
      size_t next = at + 1;
      while (next < sorted.size() && sorted[next].prefix == sorted[at].prefix) {
        const Record other = Record::At(sorted[next].record);
        if (CompareRows(row, {other.row, static_cast<size_t>(other.size)}) != 0) break;
        ++next;
      }
      WEIR_DO(builder_.Add({row, record.key_size, time_, static_cast<Diff>(next - at)}));
      at = next;
    }
    return Ok();
  }

  SnapshotSorter& sorter_;
  mem::Pool& pool_;
  const Time time_;
  LeafBatchBuilder builder_;
  mem::OpenPage entries_page_;
  mem::OpenPage spare_page_;
  std::span<SortEntry> entries_;
  std::span<SortEntry> spare_;
};

Result<std::unique_ptr<LeafBatch>> SnapshotSorter::Seal(Time time, Description description) {
  Sealer sealer(*this, time);
  for (StagedRows& range : std::exchange(ranges_, {})) WEIR_DO(sealer.Add(std::move(range)));
  return sealer.Finish(description);
}

}  // namespace weir::delta
