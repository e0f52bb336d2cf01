#pragma once
// Index: one arrangement of a table, and how far it has come.
#include <atomic>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "weir/delta/spine.h"
#include "weir/sys/clock.h"
#include "weir/sys/stop.h"
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

/// Rows that come (diff 1) or go (diff -1) together.
struct RowsChange {
  const table::Batch* rows = nullptr;
  delta::Diff diff = 1;
};

/// A table's rows by some of its columns, in one spine per worker.
///
/// Threads: each shard is its worker's until the index is hydrated; then any thread reads, while
///          nobody changes it. Stage, rows, times and failure may be looked at by any thread at any
///          time.
class Index {
 public:
  /// Errors: kNotFound names a key column that the table does not have, kInvalid one that is named
  ///         twice.
  static Result<std::unique_ptr<Index>> Make(IndexPlan plan, const table::Schema& schema,
                                             int shard_count, mem::Pool& pool);

  const IndexPlan& plan() const { return plan_; }
  /// The key's columns, then all others in the table's order.
  const table::RowCodec& codec() const { return codec_; }
  const table::Schema& schema() const { return schema_; }  ///< Of the table.
  delta::Spine& shard(int at) { return *shards_[static_cast<size_t>(at)]; }
  const delta::Spine& shard(int at) const { return *shards_[static_cast<size_t>(at)]; }
  int shard_count() const { return static_cast<int>(shards_.size()); }

  // ---- Hydration.

  Stage stage() const { return stage_.load(); }
  int64_t rows_read() const { return rows_read_.load(std::memory_order_relaxed); }
  /// Of the rows read, encoded.
  int64_t encoded_bytes() const { return encoded_bytes_.load(std::memory_order_relaxed); }
  /// Since when it hydrates. Requires: it was started.
  sys::Duration started() const { return started_.load(); }
  /// From when it was started until reads at the as_of were answered. Requires: hydrated.
  sys::Duration hydration_time() const { return hydration_time_.load(); }
  /// Why it failed; none unless it did.
  std::optional<Error> failure() const;

  void Start(sys::Duration now) { started_ = now, stage_ = Stage::kHydrating; }
  void NoteRows(int64_t rows, int64_t encoded_bytes) {
    rows_read_.fetch_add(rows, std::memory_order_relaxed);
    encoded_bytes_.fetch_add(encoded_bytes, std::memory_order_relaxed);
  }
  /// `frontier`: all that came before it is in.
  void End(sys::Duration now, delta::Time frontier) {
    hydration_time_ = now - started_.load();
    frontier_ = frontier;
    stage_ = Stage::kHydrated;
  }
  void Fail(Error error);

  // ---- Upkeep, once hydrated.

  /// Takes in what changed at `time`, after which no more comes until then; nothing, if nothing
  /// did. Reads at earlier times are no longer answered.
  /// Errors:   kExhausted and kUnavailable of mem::Pool: the index is as it was before; kCorrupt:
  ///           it is of no more use.
  /// Requires: `time` is not before frontier().
  Status Apply(std::span<const RowsChange> changes, delta::Time time, mem::Pool& pool,
               mem::BlockAllocator& blocks);
  /// All that came before it is in. Requires: hydrated.
  delta::Time frontier() const { return frontier_.load(); }
  int64_t update_count() const;

  // ---- Reading, once hydrated. `time`: not before the last change, and before frontier().

  /// All rows in the order of key and value, from the first that is not before `from` on.
  /// Errors: of delta::Spine::ReadAt.
  Result<std::unique_ptr<delta::Cursor>> ReadAt(delta::Time time, Bytes from) const;
  /// What is in the index at a time, in a form that does not depend on order or shards.
  struct Digest {
    int64_t rows = 0;           ///< Counted as often as each is there.
    unsigned __int128 sum = 0;  ///< Of xxh3(row) times that, modulo 2^128.

    std::string Text() const;  ///< "rows:sum", the sum in hex.

    friend bool operator==(const Digest&, const Digest&) = default;
  };
  /// Errors: of delta::Spine::ReadAt; kCancelled when `stop` was asked for.
  Result<Digest> DigestAt(delta::Time time, const sys::Stop& stop) const;

 private:
  Index(IndexPlan plan, table::Schema schema, table::RowCodec codec)
      : plan_(std::move(plan)), schema_(std::move(schema)), codec_(std::move(codec)) {}

  const IndexPlan plan_;
  const table::Schema schema_;
  const table::RowCodec codec_;
  std::vector<std::unique_ptr<delta::Spine>> shards_;
  std::atomic<Stage> stage_{Stage::kPending};
  std::atomic<int64_t> rows_read_{0};
  std::atomic<int64_t> encoded_bytes_{0};
  std::atomic<sys::Duration> started_{sys::Duration{0}};
  std::atomic<sys::Duration> hydration_time_{sys::Duration{0}};
  std::atomic<delta::Time> frontier_{0};
  mutable std::mutex mutex_;
  std::optional<Error> failure_;  // Guarded by mutex_.
};

}  // namespace weir::hydrate
