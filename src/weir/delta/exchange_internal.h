#pragma once
// Exchange: rows sorted by shard, on their way to the shards' owners.
#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <vector>

#include "weir/delta/update.h"
#include "weir/table/row_codec.h"

namespace weir::delta {

/// Rows at one time for one shard.
struct Parcel {
  table::EncodedRows rows;
  Time time;
  Diff diff;
};

/// Threads: each worker from its own.
class Exchange {
 public:
  using Take = std::function<Status(const Parcel&)>;

  Exchange(int worker_count, mem::BlockAllocator& blocks);
  ~Exchange();

  /// Sends rows to their shards. Those of the worker's own shard, and those that come while another
  /// inbox is full, go to `take`. Errors: of `take`.
  Status Send(int worker, const table::EncodedRows& rows, Time time, Diff diff, const Take& take);
  /// Sends what is held back until a parcel is full. Errors: of `take`.
  Status Flush(int worker, const Take& take);
  /// Hands all that came for this worker to `take`. Errors: of `take`.
  Status Receive(int worker, const Take& take);

 private:
  struct Inbox;
  struct Outbox;

  Status Ship(int worker, int shard, const Take& take);

  const int worker_count_;
  mem::BlockAllocator& blocks_;
  std::vector<std::unique_ptr<Inbox>> inboxes_;    // Of each shard.
  std::vector<std::unique_ptr<Outbox>> outboxes_;  // Of each worker.
};

}  // namespace weir::delta
