#include "weir/delta/legacy_batcher.h"

#include <algorithm>

#include "weir/delta/legacy_batch_internal.h"
#include "weir/delta/legacy_chunk_internal.h"
#include "weir/sys/accounting.h"

namespace weir::delta {

void LegacyChunk::Consolidate() {
  const sys::ActivityScope activity(sys::Activity::kSort);
  std::sort(updates_, updates_ + size_, [](const LegacyUpdate& a, const LegacyUpdate& b) {
    return CompareUpdates(a, b) < 0;
  });
  size_t kept = 0;
  for (size_t at = 0; at < size_;) {
    LegacyUpdate sum = updates_[at++];
    while (at < size_ && CompareUpdates(sum, updates_[at]) == 0) sum.diff += updates_[at++].diff;
    if (sum.diff != 0) updates_[kept++] = sum;
  }
  size_ = kept;
}

LegacyBatcher::LegacyBatcher(mem::BlockAllocator& blocks) : blocks_(blocks) {}
LegacyBatcher::~LegacyBatcher() = default;

std::unique_ptr<LegacyChunk> LegacyBatcher::NewChunk() {
  if (recycled_.empty()) return std::make_unique<LegacyChunk>(blocks_, LegacyChunk::kUpdates);
  auto chunk = std::move(recycled_.back());
  recycled_.pop_back();
  return chunk;
}

void LegacyBatcher::Recycle(std::unique_ptr<LegacyChunk> chunk) {
  constexpr size_t kMostRecycled = 4;
  if (recycled_.size() == kMostRecycled) return;
  chunk->Clear();
  recycled_.push_back(std::move(chunk));
}

Status LegacyBatcher::Push(const table::EncodedRows& rows, Time time, Diff diff) {
  if (buffer_ == nullptr) {
    buffer_ = std::make_unique<LegacyChunk>(blocks_, 2 * LegacyChunk::kUpdates);
  }
  for (int64_t at = 0; at < rows.row_count; ++at) {
    const Bytes row = rows.row(at);
    buffer_->Add(row.data(), static_cast<int64_t>(row.size()), rows.key_size(at), time, diff);
    if (!buffer_->full()) continue;
    buffer_->Consolidate();
    // Where many updates cancel or meet, they are collected for longer.
    if (buffer_->size() >= LegacyChunk::kUpdates) FlushBuffer();
  }
  return Ok();
}

// The buffer, sorted, becomes a chain.
void LegacyBatcher::FlushBuffer() {
  const sys::ActivityScope activity(sys::Activity::kCopy);
  Chain chain;
  for (size_t at = 0; at < buffer_->size(); ++at) {
    Append(chain, (*buffer_)[at], (*buffer_)[at].diff);
  }
  buffer_->Clear();
  PushChain(std::move(chain));
}

void LegacyBatcher::Append(Chain& chain, const LegacyUpdate& update, Diff diff) {
  if (chain.chunks.empty() || chain.chunks.back()->full()) chain.chunks.push_back(NewChunk());
  chain.chunks.back()->Copy(update, diff);
  ++chain.updates;
}

void LegacyBatcher::PushChain(Chain chain) {
  if (chain.chunks.empty()) return;
  chains_.push_back(std::move(chain));
  while (chains_.size() > 1 &&
         chains_.back().updates >= chains_[chains_.size() - 2].updates / 2) {
    MergeLastTwo();
  }
}

// One side of a merge: chunks are given back as they are used up.
class LegacyBatcher::Input {
 public:
  Input(LegacyBatcher& batcher, Chain chain) : batcher_(batcher), chain_(std::move(chain)) {}

  bool done() const { return chunk_ == chain_.chunks.size(); }
  const LegacyUpdate& head() const { return (*chain_.chunks[chunk_])[at_]; }
  void Step() {
    if (++at_ < chain_.chunks[chunk_]->size()) return;
    batcher_.Recycle(std::move(chain_.chunks[chunk_]));
    ++chunk_;
    at_ = 0;
  }
  // What is left: of the chunk at hand by copying, of others by moving.
  void Drain(Chain& to) {
    while (!done() && at_ > 0) {
      batcher_.Append(to, head(), head().diff);
      Step();
    }
    for (; chunk_ < chain_.chunks.size(); ++chunk_) {
      to.updates += static_cast<int64_t>(chain_.chunks[chunk_]->size());
      to.chunks.push_back(std::move(chain_.chunks[chunk_]));
    }
  }

 private:
  LegacyBatcher& batcher_;
  Chain chain_;
  size_t chunk_ = 0;
  size_t at_ = 0;
};

void LegacyBatcher::MergeLastTwo() {
  const sys::ActivityScope activity(sys::Activity::kMerge);
  Input right(*this, std::move(chains_.back()));
  chains_.pop_back();
  Input left(*this, std::move(chains_.back()));
  chains_.pop_back();
  Chain merged;
  while (!left.done() && !right.done()) {
    const int order = CompareUpdates(left.head(), right.head());
    if (order == 0) {
      const Diff sum = left.head().diff + right.head().diff;
      if (sum != 0) Append(merged, left.head(), sum);
      left.Step();
      right.Step();
    } else {
      Input& lower = order < 0 ? left : right;
      Append(merged, lower.head(), lower.head().diff);
      lower.Step();
    }
  }
  left.Drain(merged);
  right.Drain(merged);
  if (!merged.chunks.empty()) chains_.push_back(std::move(merged));
}

Result<std::unique_ptr<Batch>> LegacyBatcher::Seal(Frontier upper) {
  if (buffer_ != nullptr) {
    buffer_->Consolidate();
    FlushBuffer();
    buffer_.reset();
  }
  while (chains_.size() > 1) MergeLastTwo();
  Chain shipped;
  if (!chains_.empty()) {
    Chain all = std::move(chains_.back());
    chains_.pop_back();
    Split(std::move(all), upper, shipped);
  }
  const Description description{lower_, upper, 0};
  lower_ = upper;
  return Build(shipped, description);
}

// Updates before `upper` go to `shipped`, the others stay. A chunk of the former moves as it is.
void LegacyBatcher::Split(Chain all, Frontier upper, Chain& shipped) {
  Chain kept;
  for (auto& chunk : all.chunks) {
    bool early = true;
    for (size_t at = 0; at < chunk->size(); ++at) early &= !IsOpen(upper, (*chunk)[at].time);
    if (early) {
      shipped.updates += static_cast<int64_t>(chunk->size());
      shipped.chunks.push_back(std::move(chunk));
      continue;
    }
    for (size_t at = 0; at < chunk->size(); ++at) {
      const LegacyUpdate& update = (*chunk)[at];
      Append(IsOpen(upper, update.time) ? kept : shipped, update, update.diff);
    }
    Recycle(std::move(chunk));
  }
  PushChain(std::move(kept));
}

// Counts first, so that the batch's arrays are made at their final size.
std::unique_ptr<Batch> LegacyBatcher::Build(const Chain& shipped, Description description) {
  const sys::ActivityScope activity(sys::Activity::kCopy);
  LegacyCounts counts;
  const LegacyUpdate* last = nullptr;
  for (const auto& chunk : shipped.chunks) {
    for (size_t at = 0; at < chunk->size(); ++at) {
      const LegacyUpdate& update = (*chunk)[at];
      const bool new_key = last == nullptr || CompareHandles(last->key, update.key) != 0;
      const bool new_val = new_key || CompareHandles(last->val, update.val) != 0;
      if (new_key) ++counts.keys, counts.key_bytes += update.key.size();
      if (new_val) ++counts.vals, counts.val_bytes += update.val.size();
      ++counts.updates;
      last = &update;
    }
  }
  auto batch = std::make_unique<LegacyBatch>(blocks_, counts, description);
  for (const auto& chunk : shipped.chunks) {
    for (size_t at = 0; at < chunk->size(); ++at) {
      const LegacyUpdate& update = (*chunk)[at];
      batch->Add(update.key.bytes(), update.val.bytes(), update.time, update.diff);
    }
  }
  batch->Finish();
  return batch;
}

}  // namespace weir::delta
