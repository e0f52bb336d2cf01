#pragma once
// Index: one arrangement of a table, and how far it has come.
#include <atomic>
#include <memory>
#include <string>
#include <vector>

#include "weir/delta/spine.h"
#include "weir/sys/clock.h"
#include "weir/table/row_codec.h"

namespace weir::hydrate {

/// CREATE INDEX name ON table (key columns).
struct IndexPlan {
  std::string name;
  std::string table;
  std::vector<std::string> key_columns;
};

enum class Stage : uint8_t { kPending, kHydrating, kHydrated, kFailed };

std::string_view StageName(Stage stage);

/// A table's rows by some of its columns, in one spine per worker.
///
/// Threads: each shard is its worker's until the index is hydrated; then any thread reads, while
///          nobody inserts.
class Index {
 public:
  /// Errors: kNotFound names a key column that the table does not have.
  static Result<std::unique_ptr<Index>> Make(IndexPlan plan, const table::Schema& schema,
                                             int shard_count, mem::Pool& pool);

  const IndexPlan& plan() const { return plan_; }
  /// The key's columns, then all others in the table's order.
  const table::RowCodec& codec() const { return codec_; }
  delta::Spine& shard(int at) { return *shards_[static_cast<size_t>(at)]; }
  int shard_count() const { return static_cast<int>(shards_.size()); }

  Stage stage() const { return stage_.load(); }
  int64_t rows_read() const { return rows_read_.load(std::memory_order_relaxed); }
  /// From when it was asked for until reads at the as_of were answered. Requires: hydrated.
  sys::Duration hydration_time() const { return hydration_time_; }

  void Start(sys::Duration now) { started_ = now, stage_ = Stage::kHydrating; }
  void NoteRows(int64_t rows) { rows_read_.fetch_add(rows, std::memory_order_relaxed); }
  void End(sys::Duration now) { hydration_time_ = now - started_, stage_ = Stage::kHydrated; }
  void Fail() { stage_ = Stage::kFailed; }

  /// What is in the index at a time, in a form that does not depend on order or shards.
  struct Digest {
    int64_t rows = 0;           ///< Counted as often as each is there.
    unsigned __int128 sum = 0;  ///< Of xxh3(row) times that, modulo 2^128.

    friend bool operator==(const Digest&, const Digest&) = default;
  };
  /// Errors: of delta::Spine::ReadAt.
  Result<Digest> DigestAt(delta::Time time) const;

 private:
  Index(IndexPlan plan, table::RowCodec codec) : plan_(std::move(plan)), codec_(std::move(codec)) {}

  const IndexPlan plan_;
  const table::RowCodec codec_;
  std::vector<std::unique_ptr<delta::Spine>> shards_;
  std::atomic<Stage> stage_{Stage::kPending};
  std::atomic<int64_t> rows_read_{0};
  sys::Duration started_{0};
  sys::Duration hydration_time_{0};
};

}  // namespace weir::hydrate
