#include "weir/delta/ladder_batcher.h"

#include <algorithm>

#include "weir/delta/merge.h"
#include "weir/delta/update_buffer_internal.h"
#include "weir/sys/accounting.h"

namespace weir::delta {

LadderBatcher::LadderBatcher(mem::Pool& pool, LadderOptions options, Frontier lower)
    : pool_(pool),
      options_(options),
      buffer_(std::make_unique<UpdateBuffer>(pool, options.chunk_bytes)),
      lower_(lower) {}

LadderBatcher::~LadderBatcher() = default;

std::unique_ptr<LeafBatchBuilder> LadderBatcher::NewBuilder(int depth) const {
  return std::make_unique<LeafBatchBuilder>(pool_, options_.chunk_bytes, depth);
}

Status LadderBatcher::Push(const table::EncodedRows& rows, Time time, Diff diff) {
  for (int64_t at = 0; at < rows.row_count; ++at) {
    WEIR_DO(Add({rows.row(at), rows.key_size(at), time, diff}));
  }
  return Ok();
}

Status LadderBatcher::Add(const Update& update) {
  const auto size = static_cast<int64_t>(update.row.size());
  WEIR_TRY(bool room, buffer_->HasRoom(size, update.key_size));
  if (!room) {
    WEIR_DO(Flush());
    WEIR_TRY(room, buffer_->HasRoom(size, update.key_size));
  }
  WEIR_ASSERT(room);
  buffer_->Add(update);
  return Ok();
}

// The buffer, sorted, becomes a chain.
Status LadderBatcher::Flush() {
  if (buffer_->count() == 0) return Ok();
  Chain chain;
  chain.last_time = buffer_->last_time();
  const auto builder = NewBuilder(chain.depth);
  WEIR_DO(buffer_->Drain([&](const Update& update) { return builder->Add(update); }));
  WEIR_TRY(chain.updates, builder->Finish({}));
  return PushChain(std::move(chain));
}

Status LadderBatcher::PushChain(Chain chain) {
  if (chain.updates->update_count() == 0) return Ok();
  chains_.push_back(std::move(chain));
  while (chains_.size() > 1 && chains_.back().updates->update_count() >=
                                   chains_[chains_.size() - 2].updates->update_count() / 2) {
    WEIR_DO(MergeLastTwo());
  }
  return Ok();
}

Status LadderBatcher::MergeLastTwo() {
  const sys::ActivityScope activity(sys::Activity::kMerge);
  const Chain right = std::move(chains_.back());
  chains_.pop_back();
  const Chain left = std::move(chains_.back());
  chains_.pop_back();
  Chain merged;
  merged.last_time = std::max(left.last_time, right.last_time);
  merged.depth = 1 + std::max(left.depth, right.depth);
  const auto builder = NewBuilder(merged.depth);
  WEIR_TRY(auto left_cursor, left.updates->Seek({}));
  WEIR_TRY(auto right_cursor, right.updates->Seek({}));
  const auto both = MergeCursors(std::move(left_cursor), std::move(right_cursor), 0);
  WEIR_DO(builder->AddAll(*both));
  WEIR_TRY(merged.updates, builder->Finish({}));
  if (merged.updates->update_count() > 0) chains_.push_back(std::move(merged));
  return Ok();
}

Result<std::unique_ptr<Batch>> LadderBatcher::Seal(Frontier upper) {
  WEIR_TRY(auto batch, SealLeaves(upper));
  return std::unique_ptr<Batch>(std::move(batch));
}

Result<std::unique_ptr<LeafBatch>> LadderBatcher::SealLeaves(Frontier upper) {
  WEIR_DO(Flush());
  while (chains_.size() > 1) WEIR_DO(MergeLastTwo());
  const Description description{std::exchange(lower_, upper), upper, 0};
  if (chains_.empty()) return NewBuilder(0)->Finish(description);
  Chain all = std::move(chains_.back());
  chains_.pop_back();
  return Split(std::move(all), description);
}

// Updates before the upper are the batch; the others stay.
Result<std::unique_ptr<LeafBatch>> LadderBatcher::Split(Chain all, Description description) {
  const sys::ActivityScope activity(sys::Activity::kCopy);
  if (!IsOpen(description.upper, all.last_time)) {
    all.updates->Describe(description);
    return std::move(all.updates);
  }
  const auto shipped = NewBuilder(all.depth);
  const auto kept = NewBuilder(all.depth);
  WEIR_TRY(const auto cursor, all.updates->Seek({}));
  for (Update update;;) {
    WEIR_TRY(const bool more, cursor->Next(update));
    if (!more) break;
    WEIR_DO((IsOpen(description.upper, update.time) ? *kept : *shipped).Add(update));
  }
  Chain rest;
  rest.last_time = all.last_time;
  rest.depth = all.depth;
  WEIR_TRY(rest.updates, kept->Finish({}));
  WEIR_DO(PushChain(std::move(rest)));
  return shipped->Finish(description);
}

}  // namespace weir::delta
