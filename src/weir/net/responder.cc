#include "weir/net/responder.h"

#include <sys/eventfd.h>
#include <unistd.h>

#include <utility>

#include "weir/base/assert.h"
#include "weir/net/exchange_internal.h"

namespace weir::net {
namespace {

/// One chunk; of HTTP/1.0 the bytes alone.
void Frame(const Exchange& exchange, std::string_view bytes, std::string& out) {
  if (exchange.chunked) fmt::format_to(std::back_inserter(out), "{:x}\r\n", bytes.size());
  out.append(bytes);
  if (exchange.chunked) out.append("\r\n");
}

}  // namespace

Mailbox::Mailbox() : event_(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {}

void Mailbox::WakeLocked() {
  if (std::exchange(woken_, true)) return;
  const uint64_t one = 1;
  [[maybe_unused]] const ssize_t written = write(event_.fd(), &one, sizeof one);
}

void Mailbox::Post(std::shared_ptr<Exchange> exchange) {
  const std::lock_guard lock(mutex_);
  if (closed_) return;
  letters_.exchanges.push_back(std::move(exchange));
  WakeLocked();
}

void Mailbox::Post(Descriptor accepted, const Address& peer) {
  const std::lock_guard lock(mutex_);
  if (closed_) return;
  letters_.accepted.emplace_back(std::move(accepted), peer);
  WakeLocked();
}

void Mailbox::Wake() {
  const std::lock_guard lock(mutex_);
  WakeLocked();
}

Mailbox::Letters Mailbox::Take() {
  uint64_t count = 0;
  const std::lock_guard lock(mutex_);
  [[maybe_unused]] const ssize_t got = read(event_.fd(), &count, sizeof count);
  woken_ = false;
  return std::exchange(letters_, {});
}

void Mailbox::Close() {
  Letters dropped;  // Destroyed without the lock: what they hold may post.
  const std::lock_guard lock(mutex_);
  closed_ = true;
  std::swap(dropped, letters_);
}

void Exchange::Notify(const std::shared_ptr<Exchange>& exchange,
                      std::unique_lock<std::mutex>& lock) {
  const bool post = !exchange->in_handler && !exchange->gone && !exchange->posted;
  if (post) exchange->posted = true;
  lock.unlock();
  if (post) exchange->mailbox->Post(exchange);
}

void Exchange::Go(std::atomic<int64_t>& gone_count) {
  std::function<void()> notice;
  {
    const std::lock_guard lock(mutex);
    gone = true;
    waiting = {};
    response.reset();
    if (state != State::kWaiting && state != State::kStreaming) return;
    ++gone_count;
    notice = std::exchange(on_gone, nullptr);
  }
  if (notice) notice();
}

void Exchange::SetNotice(std::function<void()> notice) {
  {
    const std::lock_guard lock(mutex);
    WEIR_ASSERT(!std::exchange(notice_set, true));
    if (!gone) {
      if (state == State::kWaiting || state == State::kStreaming) on_gone = std::move(notice);
      return;
    }
  }
  notice();
}

Stream::Stream(std::shared_ptr<Exchange> exchange) : exchange_(std::move(exchange)) {}

Stream& Stream::operator=(Stream&& other) noexcept {
  std::swap(exchange_, other.exchange_);
  return *this;
}

Stream::~Stream() {
  if (exchange_ == nullptr) return;
  std::function<void()> unused;  // Destroyed without the lock: it may hold anything.
  std::unique_lock lock(exchange_->mutex);
  if (exchange_->state != Exchange::State::kStreaming) return;
  exchange_->state = Exchange::State::kCut;
  unused = std::exchange(exchange_->on_gone, nullptr);
  Exchange::Notify(exchange_, lock);
}

bool Stream::Write(std::string_view bytes) {
  std::unique_lock lock(exchange_->mutex);
  if (exchange_->gone || exchange_->state != Exchange::State::kStreaming) return false;
  if (bytes.empty() || exchange_->bodiless) return true;  // An empty chunk would be the last.
  const size_t would_wait = exchange_->waiting.size() + exchange_->in_flight + bytes.size();
  if (would_wait > exchange_->waiting_bytes_limit) {
    exchange_->state = Exchange::State::kCut;
    const std::function<void()> unused = std::exchange(exchange_->on_gone, nullptr);
    Exchange::Notify(exchange_, lock);
    return false;
  }
  Frame(*exchange_, bytes, exchange_->waiting);
  Exchange::Notify(exchange_, lock);
  return true;
}

size_t Stream::waiting_bytes() const {
  const std::lock_guard lock(exchange_->mutex);
  return exchange_->waiting.size() + exchange_->in_flight;
}

bool Stream::Close() {
  std::function<void()> unused;
  std::unique_lock lock(exchange_->mutex);
  if (exchange_->gone || exchange_->state != Exchange::State::kStreaming) return false;
  exchange_->state = Exchange::State::kEnded;
  if (exchange_->chunked && !exchange_->bodiless) exchange_->waiting.append("0\r\n\r\n");
  unused = std::exchange(exchange_->on_gone, nullptr);
  Exchange::Notify(exchange_, lock);
  return true;
}

void Stream::OnGone(std::function<void()> notice) { exchange_->SetNotice(std::move(notice)); }

Responder::Responder(std::shared_ptr<Exchange> exchange) : exchange_(std::move(exchange)) {}

Responder& Responder::operator=(Responder&& other) noexcept {
  std::swap(exchange_, other.exchange_);
  return *this;
}

Responder::~Responder() {
  if (exchange_ != nullptr) Send(ErrorResponse(500, "no answer was made to this request"));
}

bool Responder::Send(Response response) {
  WEIR_ASSERT(exchange_ != nullptr);  // Else it was answered before.
  const std::shared_ptr<Exchange> exchange = std::move(exchange_);
  std::function<void()> unused;
  std::unique_lock lock(exchange->mutex);
  exchange->state = Exchange::State::kAnswered;
  unused = std::exchange(exchange->on_gone, nullptr);
  if (exchange->gone) return false;
  exchange->response = std::move(response);
  Exchange::Notify(exchange, lock);
  return true;
}

Stream Responder::Open(Response head) {
  WEIR_ASSERT(exchange_ != nullptr);  // Else it was answered before.
  std::shared_ptr<Exchange> exchange = std::move(exchange_);
  std::unique_lock lock(exchange->mutex);
  exchange->state = Exchange::State::kStreaming;
  if (!exchange->gone) {
    if (!head.body.empty() && !exchange->bodiless) Frame(*exchange, head.body, exchange->waiting);
    head.body.clear();
    exchange->response = std::move(head);
    Exchange::Notify(exchange, lock);
  } else {
    lock.unlock();
  }
  return Stream(std::move(exchange));
}

bool Responder::gone() const {
  WEIR_ASSERT(exchange_ != nullptr);  // Else it was answered before.
  const std::lock_guard lock(exchange_->mutex);
  return exchange_->gone;
}

void Responder::OnGone(std::function<void()> notice) {
  WEIR_ASSERT(exchange_ != nullptr);  // Else it was answered before.
  exchange_->SetNotice(std::move(notice));
}

}  // namespace weir::net
