#include "weir/hydrate/index.h"

#include <algorithm>

#include "weir/delta/ladder_batcher.h"
#include "weir/delta/merge.h"
#include "weir/delta/snapshot_sorter.h"
#include "weir/sys/hash.h"

namespace weir::hydrate {

std::string_view StageName(Stage stage) {
  switch (stage) {
    case Stage::kPending: return "pending";
    case Stage::kHydrating: return "hydrating";
    case Stage::kHydrated: return "hydrated";
    case Stage::kFailed: return "failed";
  }
  WEIR_ASSERT(false);
}

Result<std::unique_ptr<Index>> Index::Make(IndexPlan plan, const table::Schema& schema,
                                           int shard_count, mem::Pool& pool) {
  std::vector<int> key;
  for (const std::string& name : plan.key_columns) {
    const auto column = std::find_if(schema.columns.begin(), schema.columns.end(),
                                     [&](const auto& each) { return each.name == name; });
    if (column == schema.columns.end()) {
      return weir::Fail(Code::kNotFound, "index {}: table {} has no column {}", plan.name,
                        plan.table, name);
    }
    const auto place = static_cast<int>(column - schema.columns.begin());
    if (std::find(key.begin(), key.end(), place) != key.end()) {
      return weir::Fail(Code::kInvalid, "index {} has column {} twice; name it once", plan.name,
                        name);
    }
    key.push_back(place);
  }
  std::vector<int> value;
  for (int at = 0; at < static_cast<int>(schema.columns.size()); ++at) {
    if (std::find(key.begin(), key.end(), at) == key.end()) value.push_back(at);
  }
  std::unique_ptr<Index> index(
      new Index(std::move(plan), schema, table::RowCodec(schema, key, value)));
  for (int at = 0; at < shard_count; ++at) {
    index->shards_.push_back(std::make_unique<delta::Spine>(pool, delta::SpineOptions{}));
  }
  return index;
}

void Index::Fail(Error error) {
  {
    const std::lock_guard lock(mutex_);
    failure_ = std::move(error);
  }
  stage_ = Stage::kFailed;
}

std::optional<Error> Index::failure() const {
  const std::lock_guard lock(mutex_);
  return failure_;
}

Status Index::Apply(std::span<const RowsChange> changes, delta::Time time, mem::Pool& pool,
                    mem::BlockAllocator& blocks) {
  if (changes.empty()) {
    for (const auto& shard : shards_) shard->AdvanceTo(time + 1);
    frontier_ = time + 1;
    return Ok();
  }
  constexpr delta::LadderOptions kSmallChunks = {.chunk_bytes = 64 << 10};
  std::vector<std::unique_ptr<delta::LadderBatcher>> batchers;
  for (const auto& shard : shards_) {
    batchers.push_back(std::make_unique<delta::LadderBatcher>(pool, kSmallChunks, shard->upper()));
  }
  for (const RowsChange& change : changes) {
    table::EncodedRows rows(blocks);
    codec_.Encode(*change.rows, 0, change.rows->row_count, rows);
    for (int64_t at = 0; at < rows.row_count; ++at) {
      const Bytes row = rows.row(at);
      const Bytes key = row.subspan(0, static_cast<size_t>(rows.key_size(at)));
      const int shard = delta::ShardOf(key, shard_count());
      WEIR_DO(batchers[static_cast<size_t>(shard)]->Add(
          {row, rows.key_size(at), time, change.diff}));
    }
  }
  std::vector<std::unique_ptr<delta::Batch>> batches;
  for (const auto& batcher : batchers) {
    WEIR_TRY(batches.emplace_back(), batcher->Seal(time + 1));
  }
  for (size_t at = 0; at < shards_.size(); ++at) {
    // The batch is in, whatever merges meet; those that found no room are made another time.
    const Status merged = shards_[at]->Insert(std::move(batches[at]));
    if (!merged.ok() && merged.error().code == Code::kCorrupt) return merged;
    shards_[at]->AllowTimeCompaction(time);
    shards_[at]->AllowBatchCompaction(time + 1);
  }
  frontier_ = time + 1;
  return Ok();
}

int64_t Index::update_count() const {
  int64_t count = 0;
  for (const auto& shard : shards_) count += shard->update_count();
  return count;
}

Result<std::unique_ptr<delta::Cursor>> Index::ReadAt(delta::Time time, Bytes from) const {
  std::vector<std::unique_ptr<delta::Cursor>> shards;
  for (const auto& shard : shards_) {
    WEIR_TRY(auto cursor, shard->ReadAt(time, from));
    shards.push_back(std::move(cursor));
  }
  return delta::MergeAll(std::move(shards));
}

std::string Index::Digest::Text() const {
  return fmt::format("{}:{:016x}{:016x}", rows, static_cast<uint64_t>(sum >> 64),
                     static_cast<uint64_t>(sum));
}

Result<Index::Digest> Index::DigestAt(delta::Time time, const sys::Stop& stop) const {
  constexpr int64_t kBetweenStops = 4'096;
  Digest digest;
  int64_t updates = 0;
  for (const auto& shard : shards_) {
    WEIR_TRY(const auto cursor, shard->ReadAt(time, {}));
    for (delta::Update update;;) {
      WEIR_TRY(const bool more, cursor->Next(update));
      if (!more) break;
      if (++updates % kBetweenStops == 0) WEIR_DO(stop.Check());
      digest.rows += update.diff;
      digest.sum += static_cast<unsigned __int128>(static_cast<__int128>(update.diff)) *
                    sys::Xxh3(update.row);
    }
  }
  return digest;
}

}  // namespace weir::hydrate
