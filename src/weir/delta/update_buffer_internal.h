#pragma once
// UpdateBuffer: updates in any order in one page, to be sorted where they lie.
#include <functional>
#include <optional>

#include "weir/delta/sort_internal.h"
#include "weir/mem/pool.h"

namespace weir::delta {

/// Threads: one.
class UpdateBuffer {
 public:
  UpdateBuffer(mem::Pool& pool, int64_t bytes) : pool_(pool), bytes_(bytes) {}

  /// Whether the buffer has room; an empty one makes room for a row of any size.
  /// Errors: of mem::Pool::New.
  Result<bool> HasRoom(int64_t size, int32_t key_size);
  /// Requires: HasRoom().
  void Add(const Update& update);
  int64_t count() const { return count_; }
  Time last_time() const { return last_time_; }

  /// All updates in the order of row and time, those of the same row and time as one; then the
  /// buffer is empty. Bytes hold until `emit` returns.
  /// Errors: of `emit` and mem::Pool::New.
  Status Drain(const std::function<Status(const Update&)>& emit);

 private:
  static constexpr int64_t kTailBytes = 16;  // Time and diff, after each record.

  Status EmitSame(std::span<const SortEntry> same,
                  const std::function<Status(const Update&)>& emit);
  Result<std::span<SortEntry>> Sorted();

  mem::Pool& pool_;
  const int64_t bytes_;
  mem::OpenPage page_;
  uint8_t* at_ = nullptr;
  int64_t count_ = 0;
  Time last_time_ = 0;
  mem::OpenPage entries_page_;
  std::vector<std::pair<Time, Diff>> times_;  // Of one row, while it is summed.
};

}  // namespace weir::delta
