#include "weir/delta/exchange_internal.h"
#include "weir/delta/record_internal.h"
#include "weir/delta/snapshot_sorter.h"
#include "weir/sys/accounting.h"

namespace weir::delta {
namespace {

// A parcel is sent when it is this large: few locks, and still in the cache when it arrives.
constexpr int64_t kParcelBytes = 128 << 10;
// No more than this waits in one inbox.
constexpr int64_t kMostInboxBytes = 4 << 20;

}  // namespace

struct Exchange::Inbox {
  std::mutex mutex;
  std::condition_variable emptied;
  std::vector<std::unique_ptr<Parcel>> parcels;
  int64_t bytes = 0;
};

struct Exchange::Outbox {
  std::vector<std::unique_ptr<Parcel>> parcels;  // Being filled, one per shard or null.
};

Exchange::Exchange(int worker_count, mem::BlockAllocator& blocks)
    : worker_count_(worker_count), blocks_(blocks) {
  for (int at = 0; at < worker_count; ++at) {
    inboxes_.push_back(std::make_unique<Inbox>());
    outboxes_.push_back(std::make_unique<Outbox>());
    outboxes_.back()->parcels.resize(static_cast<size_t>(worker_count));
  }
}

Exchange::~Exchange() = default;

Status Exchange::Send(int worker, const table::EncodedRows& rows, Time time, Diff diff,
                      const Take& take) {
  Outbox& outbox = *outboxes_[static_cast<size_t>(worker)];
  for (int64_t at = 0; at < rows.row_count; ++at) {
    const Bytes row = rows.row(at);
    const int32_t key_size = rows.key_size(at);
    const int shard = ShardOf(row.first(static_cast<size_t>(key_size)), worker_count_);
    auto& parcel = outbox.parcels[static_cast<size_t>(shard)];
    if (parcel != nullptr && (parcel->time != time || parcel->diff != diff)) {
      WEIR_DO(Ship(worker, shard, take));
    }
    if (parcel == nullptr) {
      parcel.reset(new Parcel{table::EncodedRows(blocks_), time, diff});
      parcel->rows.starts.Push(int64_t{0});
    }
    table::EncodedRows& into = parcel->rows;
    uint8_t* const to = into.bytes.Extend(std::ssize(row) + table::kRowSlack);
    table::CopyRow(to, row.data(), std::ssize(row));
    into.bytes.DropBack(table::kRowSlack);
    into.starts.Push(into.bytes.size());
    into.key_sizes.Push(key_size);
    ++into.row_count;
    if (into.bytes.size() >= kParcelBytes) WEIR_DO(Ship(worker, shard, take));
  }
  return Ok();
}

Status Exchange::Ship(int worker, int shard, const Take& take) {
  auto parcel =
      std::move(outboxes_[static_cast<size_t>(worker)]->parcels[static_cast<size_t>(shard)]);
  if (parcel == nullptr) return Ok();
  if (shard == worker) return take(*parcel);
  Inbox& inbox = *inboxes_[static_cast<size_t>(shard)];
  for (;;) {
    {
      constexpr auto kAWhile = std::chrono::milliseconds(1);
      std::unique_lock lock(inbox.mutex);
      if (inbox.bytes >= kMostInboxBytes) {
        const sys::WaitScope waits(sys::Wait::kBudget);
        inbox.emptied.wait_for(lock, kAWhile);
      }
      if (inbox.bytes < kMostInboxBytes) {
        inbox.bytes += parcel->rows.bytes.size();
        inbox.parcels.push_back(std::move(parcel));
        return Ok();
      }
    }
    WEIR_DO(Receive(worker, take));  // Its owner may be waiting for us.
  }
}

Status Exchange::Flush(int worker, const Take& take) {
  for (int shard = 0; shard < worker_count_; ++shard) WEIR_DO(Ship(worker, shard, take));
  return Ok();
}

Status Exchange::Receive(int worker, const Take& take) {
  Inbox& inbox = *inboxes_[static_cast<size_t>(worker)];
  std::vector<std::unique_ptr<Parcel>> parcels;
  {
    const std::lock_guard lock(inbox.mutex);
    parcels.swap(inbox.parcels);
    inbox.bytes = 0;
  }
  inbox.emptied.notify_all();
  for (const auto& parcel : parcels) WEIR_DO(take(*parcel));
  return Ok();
}

}  // namespace weir::delta
