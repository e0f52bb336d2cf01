#include "weir/hydrate/build.h"

#include <algorithm>
#include <barrier>
#include <condition_variable>
#include <mutex>

#include "weir/sys/accounting.h"
#include "weir/sys/thread.h"

namespace weir::hydrate {
namespace {

// What workers have in common while they build.
class Build {
 public:
  Build(const feed::SourceTable& table, std::span<Index* const> indexes,
        const BuildOptions& options, mem::Pool& pool, mem::BlockAllocator& blocks,
        sys::Clock& clock, const sys::Stop& stop)
      : indexes_(indexes),
        options_(options),
        blocks_(blocks),
        clock_(clock),
        stop_(stop),
        scan_(table.NewScan()),
        met_(options.worker_count),
        broken_(indexes.size()),
        reading_(options.worker_count),
        failures_(indexes.size()) {
    delta::ArrangerOptions arranger;
    arranger.kind = options.batcher;
    arranger.worker_count = options.worker_count;
    arranger.as_of = options.as_of;
    arranger.ladder = options.ladder;
    arranger.snapshot = options.snapshot;
    arranger.snapshot.expected_bytes = table.value_bytes();
    arranger.snapshot.sorter_count = static_cast<int>(indexes.size());
    arranger.snapshot.stop = &stop;
    for (size_t at = 0; at < indexes.size(); ++at) {
      arrangers_.push_back(delta::NewArranger(arranger, pool, blocks));
    }
  }

  Status Run() {
    const sys::Duration start = clock_.Now();
    for (Index* index : indexes_) index->Start(start);
    std::vector<std::thread> threads;
    for (int worker = 0; worker < options_.worker_count; ++worker) {
      auto thread = sys::StartThread([this, worker] { Work(worker); });
      if (thread.ok()) {
        threads.push_back(std::move(thread).value());
      } else {
        Leave(std::move(thread).error());
      }
    }
    for (std::thread& thread : threads) thread.join();
    return Settle();
  }

 private:
  // Every worker meets the others at every point, whether it failed or not.
  void Work(int worker) {
    const sys::ThreadScope thread;
    const sys::ActivityScope activity(sys::Activity::kExchange);
    Note(Read(worker));
    for (size_t at = 0; at < indexes_.size(); ++at) {
      if (!failed(at)) NoteOf(at, arrangers_[at]->Finish(worker));
    }
    ReceiveUntilAllHaveRead(worker);
    Meet();
    for (size_t at = 0; at < indexes_.size(); ++at) {
      if (!failed(at)) NoteOf(at, Seal(worker, at));
      Meet();
      if (worker == 0 && !failed(at)) indexes_[at]->End(clock_.Now(), options_.as_of + 1);
    }
  }

  // The first failure, once each index that is not hydrated knows its own.
  Status Settle() {
    std::optional<Error> first = failure_;
    for (size_t at = 0; at < indexes_.size(); ++at) {
      Index& index = *indexes_[at];
      if (index.stage() == Stage::kHydrated) continue;
      std::optional<Error>& own = failures_[at];
      if (own.has_value() && !first.has_value()) first = Error(*own).In(index.plan().name);
      if (own.has_value() || failure_.has_value()) index.Fail(own.has_value() ? *own : *failure_);
    }
    return first.has_value() ? Status(*std::move(first)) : Ok();
  }

  void Meet() {
    const sys::WaitScope waits(sys::Wait::kMeet);
    met_.arrive_and_wait();
  }

  // In place of a worker that could not be started: the others shall not wait for it.
  void Leave(Error error) {
    Note(std::move(error));
    {
      const std::lock_guard lock(mutex_);
      --reading_;
    }
    all_read_.notify_all();
    met_.arrive_and_drop();
  }

  // Others may be sending still, and would wait for room in this worker's inbox.
  void ReceiveUntilAllHaveRead(int worker) {
    constexpr auto kAWhile = std::chrono::milliseconds(1);
    std::unique_lock lock(mutex_);
    --reading_;
    all_read_.notify_all();
    while (reading_ > 0) {
      lock.unlock();
      for (size_t at = 0; at < indexes_.size(); ++at) NoteOf(at, arrangers_[at]->Receive(worker));
      lock.lock();
      if (reading_ == 0) break;
      const sys::WaitScope waits(sys::Wait::kMeet);
      all_read_.wait_for(lock, kAWhile);
    }
  }

  Status Read(int worker) {
    const sys::ActivityScope activity(sys::Activity::kDecode);
    while (!failed()) {
      WEIR_TRY(const auto reader, scan_->Next(options_.batch_rows, blocks_));
      if (reader == nullptr) return Ok();
      while (!failed()) {
        WEIR_DO(stop_.Check());
        WEIR_TRY(const table::Batch batch, reader->Next());
        if (batch.row_count == 0) break;
        WEIR_DO(Feed(worker, batch));
      }
    }
    return Ok();
  }

  Status Feed(int worker, const table::Batch& batch) {
    for (size_t at = 0; at < indexes_.size(); ++at) {
      // Also of one that has failed: others may wait for room in this worker's inbox.
      NoteOf(at, arrangers_[at]->Receive(worker));
      if (!failed(at)) NoteOf(at, FeedOne(worker, batch, at));
    }
    return Ok();
  }

  Status FeedOne(int worker, const table::Batch& batch, size_t at) {
    table::EncodedRows rows(blocks_);
    Encode(indexes_[at]->codec(), batch, rows);
    WEIR_DO(ObeyBudget());
    const sys::ActivityScope activity(sys::Activity::kExchange);
    WEIR_DO(arrangers_[at]->Push(worker, rows, options_.as_of, 1));
    indexes_[at]->NoteRows(rows.row_count, rows.bytes.size());
    return Ok();
  }

  // Buffers grow past the limit rather than fail in the middle of a row.
  Status ObeyBudget() {
    mem::Budget& budget = blocks_.budget();
    if (budget.free_bytes() >= 0) return Ok();
    WEIR_DO(budget.ChargeOrReclaim(1));
    budget.Release(1);
    return Ok();
  }

  static void Encode(const table::RowCodec& codec, const table::Batch& batch,
                     table::EncodedRows& rows) {
    const sys::ActivityScope activity(sys::Activity::kEncode);
    codec.Encode(batch, 0, batch.row_count, rows);
  }

  Status Seal(int worker, size_t at) {
    WEIR_DO(arrangers_[at]->Receive(worker));
    WEIR_TRY(auto batch, arrangers_[at]->Seal(worker, options_.as_of + 1));
    return indexes_[at]->shard(worker).Insert(std::move(batch));
  }

  void Note(Status status) {
    if (status.ok()) return;
    const std::lock_guard lock(mutex_);
    if (!failure_.has_value()) failure_ = std::move(status).error();
    failed_ = true;
  }
  void NoteOf(size_t at, Status status) {
    if (status.ok()) return;
    if (status.error().code == Code::kCancelled) return Note(std::move(status));
    const std::lock_guard lock(mutex_);
    if (!failures_[at].has_value()) failures_[at] = std::move(status).error();
    broken_[at] = true;
    if (std::all_of(broken_.begin(), broken_.end(), [](const auto& each) { return each.load(); })) {
      failed_ = true;  // Nobody needs the rest of the rows.
    }
  }
  bool failed() const { return failed_.load(std::memory_order_relaxed); }
  bool failed(size_t at) const { return failed() || broken_[at].load(std::memory_order_relaxed); }

  const std::span<Index* const> indexes_;
  const BuildOptions& options_;
  mem::BlockAllocator& blocks_;
  sys::Clock& clock_;
  const sys::Stop& stop_;
  const std::unique_ptr<feed::TableScan> scan_;
  std::vector<std::unique_ptr<delta::Arranger>> arrangers_;
  std::barrier<> met_;
  std::atomic<bool> failed_{false};          // All of them.
  std::vector<std::atomic<bool>> broken_;    // Each.
  // ---- guarded by mutex_
  std::mutex mutex_;
  std::condition_variable all_read_;
  int reading_;  // Workers that have not come to the end of the scan.
  std::optional<Error> failure_;
  std::vector<std::optional<Error>> failures_;  // Of each index alone.
};

}  // namespace

Status BuildIndexes(const feed::SourceTable& table, std::span<Index* const> indexes,
                    const BuildOptions& options, mem::Pool& pool, mem::BlockAllocator& blocks,
                    sys::Clock& clock, const sys::Stop& stop) {
  return Build(table, indexes, options, pool, blocks, clock, stop).Run();
}

}  // namespace weir::hydrate
