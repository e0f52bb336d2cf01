#include <algorithm>

#include "weir/delta/ladder_batcher.h"
#include "weir/delta/range_sort_internal.h"
#include "weir/sys/accounting.h"

namespace weir::delta {
namespace {

// Rows that ranges are chosen by. So many that a range is off by a tenth at most, most of the time.
constexpr int64_t kSampleRows = 16'384;
// Of each: what lies behind hardly tells rows apart, and wide rows must not fill the memory.
constexpr size_t kMostSampleBytes = 256;

// Some rows of many, in pages of the pool.
class Sample {
 public:
  explicit Sample(mem::Pool& pool) : pool_(pool) {}

  Status Reserve(int64_t rows) {
    WEIR_TRY(rows_page_, pool_.New(rows * static_cast<int64_t>(sizeof(Bytes))));
    return Ok();
  }
  /// Requires: reserved.
  Status Add(Bytes row) {
    const Bytes kept = row.first(std::min<size_t>(row.size(), kMostSampleBytes));
    if (room_.size() < kept.size()) {
      WEIR_TRY(mem::OpenPage page, pool_.New(mem::Frames::kLeastBytes));
      room_ = {page.data(), static_cast<size_t>(page.capacity())};
      text_pages_.push_back(std::move(page));
    }
    std::memcpy(room_.data(), kept.data(), kept.size());
    reinterpret_cast<Bytes*>(rows_page_.data())[count_++] = room_.first(kept.size());
    room_ = room_.subspan(kept.size());
    return Ok();
  }
  std::span<Bytes> rows() { return {reinterpret_cast<Bytes*>(rows_page_.data()), count_}; }

 private:
  mem::Pool& pool_;
  mem::OpenPage rows_page_;
  std::vector<mem::OpenPage> text_pages_;
  std::span<uint8_t> room_;  // Of the last of them.
  size_t count_ = 0;
};

// Up to kSampleRows of the rows, evenly apart.
Status TakeSample(const StagedRows& rows, Sample& sample) {
  const int64_t step = rows.count() / kSampleRows + 1;
  WEIR_DO(sample.Reserve(rows.count() / step + 1));
  int64_t number = 0;
  for (const mem::Page& page : rows.pages()) {
    WEIR_TRY(const mem::PageGuard guard, page.Read());
    const RecordSpan records = StagedRows::RecordsOf(guard.bytes());
    for (const uint8_t* at = records.begin; at != records.end;) {
      const Record record = Record::At(at);
      if (number++ % step == 0) WEIR_DO(sample.Add(record.bytes()));
      at = record.end();
    }
  }
  return Ok();
}

}  // namespace

Result<std::shared_ptr<const RangePartition>> ChooseRanges(const StagedRows& rows,
                                                           mem::Pool& pool,
                                                           const SnapshotOptions& options,
                                                           int64_t expected_bytes,
                                                           int64_t pages_per_range) {
  // The pages being filled may take a quarter of the room that there is.
  const int64_t share = 4 * options.sorter_count;
  const int64_t most = std::clamp<int64_t>(
      pool.RoomBytes() / share / options.staging_bytes / pages_per_range, 1,
      RangePartition::kMostRanges);
  const int64_t count = std::clamp<int64_t>(expected_bytes / options.range_bytes, 1, most);
  Sample sample(pool);
  WEIR_DO(TakeSample(rows, sample));
  return std::shared_ptr<const RangePartition>(
      std::make_shared<RangePartition>(sample.rows(), static_cast<int>(count)));
}

Status RangeSort::Add(StagedRows range) {
  if (range.count() == 0) return Ok();
  if (options_.stop != nullptr) WEIR_DO(options_.stop->Check());
  // Its rows and two arrays of entries have to be in memory together, beside what spills.
  const int64_t needed =
      range.bytes() + 2 * range.count() * static_cast<int64_t>(sizeof(SortEntry));
  const int64_t room = pool_.RoomBytes() / (3 * shard_count_);
  return needed > room ? AddInParts(std::move(range)) : AddAtOnce(range);
}

Status RangeSort::AddAtOnce(const StagedRows& range) {
  const sys::ActivityScope sorting(sys::Activity::kSort);
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
Status RangeSort::AddInParts(StagedRows range) {
  const sys::ActivityScope activity(sys::Activity::kExchange);
  const int64_t count = range.count();
  WEIR_TRY(const auto partition, ChooseRanges(range, pool_, options_, range.bytes(), 1));
  std::vector<StagedRows> parts(static_cast<size_t>(partition->range_count()));
  WEIR_DO(range.TakeEach([&](const Record& record) {
    const int part = partition->Of(record.row, record.size);
    return parts[static_cast<size_t>(part)].Add(pool_, options_.staging_bytes, record.row,
                                                record.size, record.key_size);
  }));
  for (StagedRows& part : parts) {
    part.Close(pool_);
    if (part.count() < count) {
      WEIR_DO(Add(std::move(part)));
    } else {
      WEIR_DO(AddByMerging(std::move(part)));
    }
  }
  return Ok();
}

Status RangeSort::AddByMerging(StagedRows range) {
  // A merge holds a chunk of each side, one that it fills and one of rows yet to come.
  const int64_t room = pool_.RoomBytes() / (8 * shard_count_);
  const int64_t chunk_bytes =
      std::max(options_.staging_bytes, std::min(room, options_.range_bytes));
  LadderBatcher ladder(pool_, {.chunk_bytes = chunk_bytes});
  WEIR_DO(range.TakeEach([&](const Record& record) {
    return ladder.Add({record.bytes(), record.key_size, time_, 1});
  }));
  WEIR_TRY(const auto sorted, ladder.SealLeaves({}));
  WEIR_TRY(const auto cursor, sorted->Seek({}));
  return builder_.AddAll(*cursor);
}

Status RangeSort::Reserve(int64_t rows) {
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
Status RangeSort::Emit(std::span<const SortEntry> sorted) {
  const sys::ActivityScope activity(sys::Activity::kCopy);
  while (!sorted.empty()) {
    const Record record = Record::At(sorted.front().record);
    const size_t same = CountSame(sorted);
    WEIR_DO(builder_.Add({record.bytes(), record.key_size, time_, static_cast<Diff>(same)}));
    sorted = sorted.subspan(same);
  }
  return Ok();
}

}  // namespace weir::delta
