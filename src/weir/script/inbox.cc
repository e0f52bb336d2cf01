#include "weir/script/inbox_internal.h"

#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>
#include <ctime>

#include "weir/base/assert.h"

namespace weir::script {

void Reply::Give(Result<Response> answer) const { inbox_->Put(id_, std::move(answer)); }

bool Reply::wanted() const { return inbox_->Wants(id_); }

Inbox::~Inbox() {
  if (event_fd_ >= 0) close(event_fd_);
}

void Inbox::Expect(uint64_t id) {
  const std::lock_guard lock(mutex_);
  expected_.insert(id);
}

void Inbox::Forget(uint64_t id) {
  const std::lock_guard lock(mutex_);
  expected_.erase(id);
}

void Inbox::Put(uint64_t id, Result<Response> response) {
  const std::lock_guard lock(mutex_);
  if (expected_.erase(id) == 0) return;
  answers_.push_back({id, std::move(response)});
  const uint64_t one = 1;
  if (event_fd_ >= 0) WEIR_ASSERT(write(event_fd_, &one, sizeof one) == sizeof one);
}

bool Inbox::Wants(uint64_t id) {
  const std::lock_guard lock(mutex_);
  return expected_.contains(id);
}

size_t Inbox::expected() {
  const std::lock_guard lock(mutex_);
  return expected_.size();
}

std::vector<Inbox::Answer> Inbox::Take() {
  const std::lock_guard lock(mutex_);
  return std::exchange(answers_, {});
}

void Inbox::WaitUntil(sys::Duration end, const sys::Stop& stop) {
  {
    const std::lock_guard lock(mutex_);
    if (!answers_.empty()) return;
    if (event_fd_ < 0) event_fd_ = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
  }
  pollfd watched[] = {{stop.fd(), POLLIN, 0}, {event_fd_, POLLIN, 0}};
  // Without a descriptor to be woken by, look every millisecond.
  constexpr sys::Duration kLook = std::chrono::milliseconds(1);
  sys::Duration left = std::max(end - sys::SteadyNow(), sys::Duration(0));
  if (event_fd_ < 0) left = std::min(left, kLook);
  const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(left);
  const timespec timeout{seconds.count(), (left - seconds).count()};
  ppoll(watched, 2, &timeout, nullptr);
  uint64_t count = 0;
  if (event_fd_ >= 0 && read(event_fd_, &count, sizeof count) < 0) return;  // Nothing was there.
}

void Inbox::Close() {
  const std::lock_guard lock(mutex_);
  expected_.clear();
  answers_.clear();
}

}  // namespace weir::script
