#pragma once
// Leaf: sorted updates in one page.
#include "weir/delta/update.h"
#include "weir/mem/pool.h"

namespace weir::delta {

/// Reads the bytes of a leaf that LeafWriter wrote.
///
/// Shape: header; records (record_internal.h), one per update, in the order of row and time; then
///        where each record starts, and times and diffs unless all are the same.
class LeafReader {
 public:
  LeafReader() = default;
  explicit LeafReader(Bytes page);

  int64_t count() const { return count_; }
  Update at(int64_t index) const;
  Bytes row(int64_t index) const;
  /// The first update from `from` on whose row is not before `row`; count() when all are.
  int64_t LowerBound(int64_t from, Bytes row) const;

 private:
  const uint8_t* page_ = nullptr;
  const uint8_t* starts_ = nullptr;  // count_ uint32.
  const uint8_t* times_ = nullptr;   // Null when all updates share time_ and diff_.
  const uint8_t* diffs_ = nullptr;
  int64_t count_ = 0;
  Time time_ = 0;
  Diff diff_ = 0;
};

/// Fills leaves with updates that come in order, as many as fit in `leaf_bytes`; a wider row gets a
/// leaf of its own.
///
/// Threads: one.
class LeafWriter {
 public:
  LeafWriter(mem::Pool& pool, int64_t leaf_bytes) : pool_(pool), leaf_bytes_(leaf_bytes) {}

  /// Whether the update goes into the leaf at hand; else Take() first.
  bool Fits(const Update& update) const;
  /// Requires: Fits(update), or the writer holds nothing. kRowSlack bytes after the row are
  ///           readable.
  /// Errors:   of Pool::New.
  Status Add(const Update& update);
  int64_t count() const { return count_; }
  /// Of the leaf at hand. Requires: count() > 0.
  Bytes last_row() const;
  /// The leaf at hand, complete. Requires: count() > 0.
  mem::Page Take(int depth);

 private:
  static constexpr int64_t kHeaderBytes = 32;
  int64_t FooterBytes(int64_t count, bool uniform) const;
  void Spread();

  mem::Pool& pool_;
  const int64_t leaf_bytes_;
  mem::OpenPage page_;
  uint8_t* at_ = nullptr;
  int64_t count_ = 0;
  bool uniform_ = true;
  Time time_ = 0;
  Diff diff_ = 0;
  std::vector<uint32_t> starts_;
  std::vector<Time> times_;  // Empty while uniform.
  std::vector<Diff> diffs_;
};

}  // namespace weir::delta
