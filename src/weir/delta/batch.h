#pragma once
// Batch: updates that no longer change, in the order of row and time. Cursor: a way through them.
#include <memory>

#include "weir/base/result.h"
#include "weir/delta/update.h"

namespace weir::delta {

/// Updates one after another.
///
/// Threads: one. Must not outlive its batch.
class Cursor {
 public:
  virtual ~Cursor() = default;

  /// Moves to the next update; false at the end. The row's bytes hold until the next call.
  /// Errors: of mem::Page::Read.
  virtual Result<bool> Next(Update& update) = 0;
  /// Moves on, past every update whose row is before `row`; never back.
  ///
  /// Cost:   of leaves in between none is read; in memory, the logarithm of the way.
  /// Errors: of mem::Page::Read.
  virtual Status SkipTo(Bytes row) = 0;
};

/// Sorted and consolidated: no two updates have the same row and time, and no diff is 0.
///
/// Threads: any number may read.
class Batch {
 public:
  virtual ~Batch() = default;

  virtual const Description& description() const = 0;
  virtual int64_t update_count() const = 0;
  /// From the first update whose row is not before `from`; an empty one is before all.
  virtual Result<std::unique_ptr<Cursor>> Seek(Bytes from) const = 0;
};

}  // namespace weir::delta
