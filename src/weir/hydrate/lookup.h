#pragma once
// Lookup: the rows of an index that have given keys.
#include <functional>
#include <memory>
#include <vector>

#include "weir/hydrate/index.h"

namespace weir::hydrate {

/// Finds keys that come in rising order, as a join does that has sorted its side.
///
/// Cost:    leaves that hold none of the keys are not read; one that holds several is read once.
/// Threads: one. Must not outlive the index, which nobody may change meanwhile.
class Lookup {
 public:
  using Take = std::function<void(const delta::Update&)>;

  /// `time`: as Index::ReadAt.
  Lookup(const Index& index, delta::Time time);

  /// Hands every row with this key to `take`; its diff says how often it is there.
  ///
  /// Errors:   of mem::Page::Read; after one the lookup is of no more use.
  /// Requires: `key` is encoded as the index's codec does, whole, and comes after the last one.
  Status Find(Bytes key, const Take& take);

 private:
  // How far the lookup has come in one shard.
  struct Reached {
    std::unique_ptr<delta::Cursor> cursor;  // Null until a key of the shard was asked for.
    bool more = false;
    delta::Update update;  // The first after the last key. Requires: more.
  };

  const Index& index_;
  const delta::Time time_;
  std::vector<Reached> shards_;
};

}  // namespace weir::hydrate
