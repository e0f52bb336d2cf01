#include "weir/hydrate/index.h"

#include <algorithm>

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
    key.push_back(static_cast<int>(column - schema.columns.begin()));
  }
  std::vector<int> value;
  for (int at = 0; at < static_cast<int>(schema.columns.size()); ++at) {
    if (std::find(key.begin(), key.end(), at) == key.end()) value.push_back(at);
  }
  std::unique_ptr<Index> index(
      new Index(std::move(plan), table::RowCodec(schema, key, value)));
  for (int at = 0; at < shard_count; ++at) {
    index->shards_.push_back(std::make_unique<delta::Spine>(pool, delta::SpineOptions{}));
  }
  return index;
}

Result<Index::Digest> Index::DigestAt(delta::Time time) const {
  Digest digest;
  for (const auto& shard : shards_) {
    WEIR_TRY(const auto cursor, shard->ReadAt(time, {}));
    for (delta::Update update;;) {
      WEIR_TRY(const bool more, cursor->Next(update));
      if (!more) break;
      digest.rows += update.diff;
      digest.sum += static_cast<unsigned __int128>(static_cast<__int128>(update.diff)) *
                    sys::Xxh3(update.row);
    }
  }
  return digest;
}

}  // namespace weir::hydrate
