#include "weir/hydrate/lookup.h"

#include <algorithm>

#include "weir/delta/snapshot_sorter.h"

namespace weir::hydrate {
namespace {

int CompareKey(const delta::Update& update, Bytes key) {
  return delta::CompareRows(update.row.first(static_cast<size_t>(update.key_size)), key);
}

}  // namespace

Lookup::Lookup(const Index& index, delta::Time time)
    : index_(index), time_(time), shards_(static_cast<size_t>(index.shard_count())) {}

Status Lookup::Find(Bytes key, const Take& take) {
  const int shard = delta::ShardOf(key, index_.shard_count());
  Reached& at = shards_[static_cast<size_t>(shard)];
  if (at.cursor == nullptr) {
    WEIR_TRY(at.cursor, index_.shard(shard).ReadAt(time_, key));
    WEIR_TRY(at.more, at.cursor->Next(at.update));
  } else if (at.more && CompareKey(at.update, key) < 0) {
    WEIR_DO(at.cursor->SkipTo(key));
    WEIR_TRY(at.more, at.cursor->Next(at.update));
  }
  while (at.more && CompareKey(at.update, key) == 0) {
    take(at.update);
    WEIR_TRY(at.more, at.cursor->Next(at.update));
  }
  return Ok();
}

}  // namespace weir::hydrate
