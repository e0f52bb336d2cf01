#pragma once
// Batcher: updates in any order go in, sorted batches come out.
#include "weir/delta/batch.h"
#include "weir/table/row_codec.h"

namespace weir::delta {

/// Collects updates until their time has passed.
///
/// Threads: one.
class Batcher {
 public:
  virtual ~Batcher() = default;

  /// Rows that all come at the same time, equally often.
  /// Errors:   kExhausted, kUnavailable of mem::Pool::New, kCorrupt of mem::Page::Read; after one
  ///           the batcher is of no more use: what it was to hold is made anew.
  /// Requires: `time` is not before the upper of the last Seal(); diff is not 0.
  virtual Status Push(const table::EncodedRows& rows, Time time, Diff diff) = 0;

  /// Every update before `upper`, sorted and consolidated. Later ones stay.
  /// Errors: as Push.
  virtual Result<std::unique_ptr<Batch>> Seal(Frontier upper) = 0;
};

}  // namespace weir::delta
