#include "weir/extract/copy_receiver.h"

#include "weir/extract/memory_check_internal.h"

namespace weir::extract {
namespace {

// Rests are taken in pieces long enough that waking up late does not count.
constexpr sys::Duration kLeastRest = std::chrono::milliseconds(50);

}  // namespace

Status CopyReceiver::Start() {
  started_ = clock_.Now();
  Status done = source_.StartCopy(options_.byte_timeout, &times_.wait);
  if (!done.ok()) finished_ = clock_.Now();
  return done;
}

std::optional<sys::Duration> CopyReceiver::copy_time() const {
  if (!started_.has_value()) return std::nullopt;
  return finished_.value_or(clock_.Now()) - *started_;
}

void CopyReceiver::Pump() {
  if (!MayReceive()) return;
  const sys::Duration start = clock_.Now();
  Receive();
  times_.receive += clock_.Now() - start;
}

// What was received stays under its bound, and a rest is over before more comes.
bool CopyReceiver::MayReceive() {
  if (ended_ || failure_.has_value() || ready_bytes_ >= options_.ahead_bytes) return false;
  if (!rest_began_.has_value()) return true;
  const sys::Duration rested = clock_.Now() - *rest_began_;
  if (rested < rest_owed_) return false;
  rest_owed_ -= rested;  // Late by a little: the next rest is shorter.
  times_.slept += rested;
  rest_began_.reset();
  return true;
}

void CopyReceiver::Receive() {
  auto progress = source_.connection().ReceiveCopy(receiving_);
  if (!progress.ok()) {
    finished_ = clock_.Now();
    FinishBlock();
    failure_ = std::move(progress).error().In(fmt::format("after {} rows", rows_));
    return;
  }
  if (progress.value() == pg::CopyProgress::kEnd) {
    ended_ = true;
    finished_ = clock_.Now();
  }
  if (ended_ || receiving_.full()) FinishBlock();
}

void CopyReceiver::FinishBlock() {
  pg::CopyBlock next = receiving_.SplitRest();
  const int64_t rows = receiving_.rows();
  bytes_ += receiving_.bytes();
  rows_ += rows;
  progress_.read_bytes = bytes_;
  ready_bytes_ += receiving_.bytes();
  ready_.push_back(std::exchange(receiving_, std::move(next)));
  Status fits = CheckBudget(blocks_, rows_);
  if (!fits.ok()) failure_ = std::move(fits).error();
  rest_owed_ += options_.pace.RestAfter(rows);
  if (!ended_ && rest_owed_ >= kLeastRest) rest_began_ = clock_.Now();
}

Result<std::optional<pg::CopyBlock>> CopyReceiver::Next() {
  while (true) {
    Pump();
    if (failure_.has_value()) return *failure_;
    if (!ready_.empty()) {
      pg::CopyBlock block = std::move(ready_.front());
      ready_.pop_front();
      ready_bytes_ -= block.bytes();
      return std::optional(std::move(block));
    }
    if (ended_) return std::optional<pg::CopyBlock>();
    WEIR_DO(Wait());
  }
}

// For the rest of a rest, or for the server.
Status CopyReceiver::Wait() {
  if (rest_began_.has_value()) {
    clock_.Wait(rest_owed_ - (clock_.Now() - *rest_began_), stop_);
    if (!stop_.asked()) return Ok();
    source_.connection().Cancel();
    return stop_.Check();
  }
  return source_.connection().AwaitCopy(options_.byte_timeout, &times_.wait);
}

}  // namespace weir::extract
