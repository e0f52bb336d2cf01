#include <sys/epoll.h>

#include <algorithm>
#include <utility>

#include "weir/base/assert.h"
#include "weir/net/connection_internal.h"

namespace weir::net {
namespace {

constexpr size_t kMostLingeredBytes = 16 << 20;  // Of a body nobody wants, before the peer is cut.
constexpr size_t kCopiedBodyBytes = 32 << 10;    // Larger bodies are sent from where they are.

/// True for fields that handlers may add.
bool MayAdd(std::string_view name, std::string_view value) {
  constexpr std::string_view kOurs[] = {"date",       "content-length", "content-type",
                                        "connection", "keep-alive",     "transfer-encoding"};
  const std::string lower = LowerCase(name);
  return IsToken(name) && IsFieldValue(value) &&
         std::find(std::begin(kOurs), std::end(kOurs), lower) == std::end(kOurs);
}

bool Sound(const Response& response) {
  return response.status >= 200 && response.status <= 599 && IsFieldValue(response.content_type) &&
         std::all_of(response.headers.begin(), response.headers.end(),
                     [](const auto& field) { return MayAdd(field.first, field.second); });
}

bool HasNoBody(int status) { return status == 204 || status == 304; }

}  // namespace

Connection::Connection(Loop& loop, Socket socket, std::string peer)
    : loop_(loop),
      socket_(std::move(socket)),
      peer_(std::move(peer)),
      phase_(socket_.tls() != nullptr ? Phase::kHandshake : Phase::kReading) {
  LiveCounters::Add(loop_.core().counters.connections_open);
}

Connection::~Connection() {
  ReleaseBody();
  LiveCounters& counters = loop_.core().counters;
  if (exchange_ != nullptr) {
    exchange_->connection = nullptr;
    exchange_->Go(counters.peers_gone);
  }
  LiveCounters::Add(counters.connections_open, -1);
  socket_.Close();
}

Connection::Fate Connection::OnEvents(uint32_t epoll_events) {
  if ((epoll_events & (EPOLLIN | EPOLLRDHUP | EPOLLHUP | EPOLLERR)) != 0) readable_ = true;
  if ((epoll_events & (EPOLLRDHUP | EPOLLHUP | EPOLLERR)) != 0) hung_up_ = true;
  return Run();
}

Connection::Fate Connection::OnDeadline() {
  const bool asked = parser_ != nullptr && phase_ == Phase::kReading;
  if (!asked || (wait != Wait::kHead && wait != Wait::kBody)) return Fate::kClose;
  Refuse({408, "the request did not come in time"});
  return Run();
}

Connection::Fate Connection::OnDrain() {
  const bool idle = phase_ == Phase::kHandshake ||
                    (phase_ == Phase::kReading && parser_ == nullptr && input_.empty());
  return idle ? Fate::kClose : Fate::kKeep;
}

Connection::Fate Connection::Run() {
  while (true) {
    const Turn turn = broken_ ? Turn::kClose : Step();
    if (turn == Turn::kClose) return Fate::kClose;
    if (turn == Turn::kWait) return Fate::kKeep;
  }
}

Connection::Turn Connection::Step() {
  switch (phase_) {
    case Phase::kHandshake:
      return Handshake();
    case Phase::kReading:
      return ReadMore();
    case Phase::kHandling:
      return TakeAnswer();
    case Phase::kSending:
      return SendMore();
    case Phase::kStreaming:
      return StreamMore();
    case Phase::kLingering:
      return Linger();
  }
  return Turn::kClose;
}

Connection::Turn Connection::Handshake() {
  const IoStep step = socket_.tls()->Handshake();
  if (step == IoStep::kWaitRead || step == IoStep::kWaitWrite) {
    return hung_up_ ? Turn::kClose : Turn::kWait;
  }
  if (step != IoStep::kDone) {
    LiveCounters::Add(loop_.core().counters.tls_failures);
    return Turn::kClose;
  }
  readable_ = true;  // The request may have come with the handshake's last message.
  phase_ = Phase::kReading;
  return Turn::kAgain;
}

Connection::Turn Connection::ReadMore() {
  if (std::exchange(unparsed_, false)) {
    const std::string kept = std::exchange(input_, {});
    return Parse(kept);
  }
  if (!readable_) return Turn::kWait;
  std::vector<char>& room = loop_.read_room();
  size_t bytes = 0;
  const IoStep step = socket_.Read(room, bytes);
  if (step == IoStep::kWaitRead || step == IoStep::kWaitWrite) {
    readable_ = false;
    return Turn::kWait;
  }
  if (step != IoStep::kDone) return Turn::kClose;
  LiveCounters::Add(loop_.core().counters.bytes_received, static_cast<int64_t>(bytes));
  // A short read has emptied the socket; only the end of bytes, which is known, may still be there.
  if (socket_.tls() == nullptr && bytes < room.size()) readable_ = hung_up_;
  if (input_.empty()) return Parse({room.data(), bytes});
  std::string joined = std::exchange(input_, {});
  joined.append(room.data(), bytes);
  return Parse(joined);
}

Connection::Turn Connection::Parse(std::string_view bytes) {
  if (parser_ == nullptr) {
    parser_ = std::make_unique<RequestParser>(static_cast<size_t>(loop_.core().options.head_bytes));
    http11_ = true;
    head_only_ = close_after_ = body_unread_ = false;
  }
  while (true) {
    size_t taken = 0;
    const ParseStep step = parser_->Feed(bytes, taken);
    bytes.remove_prefix(taken);
    Refusal refusal;
    if (step == ParseStep::kRefused) refusal = parser_->refusal();
    if (step == ParseStep::kHead) refusal = CheckHead();
    if (step == ParseStep::kDone || step == ParseStep::kMore) refusal = ChargeBody();
    if (refusal.status != 0) {
      input_ = bytes;
      return Refuse(refusal);
    }
    if (step == ParseStep::kMore) return WaitForMore(bytes);
    if (step == ParseStep::kHead) ContinueBody(!bytes.empty());
    if (step == ParseStep::kDone) {
      input_ = bytes;
      return Handle();
    }
  }
}

Connection::Turn Connection::WaitForMore(std::string_view rest) {
  input_ = rest;
  const Wait wanted = match_.route != nullptr ? Wait::kBody : Wait::kHead;
  if (wait != wanted) loop_.Arm(*this, wanted);
  return Turn::kAgain;
}

Refusal Connection::CheckHead() {
  const Framing& framing = parser_->framing();
  http11_ = framing.http11;
  close_after_ = !framing.http11 || !framing.keep_alive;
  body_unread_ = framing.has_body;
  head_only_ = parser_->method() == "HEAD";
  if (parser_->target().size() > kMostTargetBytes) return {414, "the target is too long"};
  auto target = ParseTarget(parser_->target());
  if (!target.ok()) return {400, target.error().message};
  const std::string_view expects = parser_->headers().Find("expect");
  if (!expects.empty() && !SameIgnoringCase(expects, "100-continue")) {
    return {417, "the only expectation known here is 100-continue"};
  }
  const std::optional<Method> method = ParseMethod(parser_->method());
  match_ = loop_.core().routes.Find(method, target.value().segments);
  if (match_.route == nullptr) {
    if (match_.allowed.empty()) return {404, "there is nothing at this path"};
    return {405, fmt::format("this path takes {}", match_.allowed)};
  }
  request_.method = *method;
  request_.target = std::move(target).value();
  const int64_t limit = match_.route->body_bytes.value_or(loop_.core().options.body_bytes);
  parser_->LimitBody(static_cast<uint64_t>(limit));
  return {};
}

void Connection::ContinueBody(bool body_has_begun) {
  const bool wanted = http11_ && body_unread_ && !body_has_begun &&
                      parser_->refusal().status == 0 && !parser_->headers().Find("expect").empty();
  if (wanted) Send("HTTP/1.1 100 Continue\r\n\r\n");
}

Refusal Connection::ChargeBody() {
  const auto bytes = static_cast<int64_t>(parser_->body().size());
  const int64_t more = bytes - charged_bytes_;
  if (more == 0) return {};
  charged_bytes_ = bytes;
  const int64_t all = loop_.core().bodies_bytes.fetch_add(more) + more;
  if (all <= loop_.core().options.all_bodies_bytes) return {};
  return {503, "too many bodies are coming in at once; try again later"};
}

void Connection::ReleaseBody() {
  if (charged_bytes_ != 0) loop_.core().bodies_bytes.fetch_sub(charged_bytes_);
  charged_bytes_ = 0;
}

Connection::Turn Connection::Handle() {
  ReleaseBody();
  body_unread_ = false;
  request_.parameters = std::move(match_.parameters);
  request_.headers = std::move(parser_->headers());
  request_.body = std::move(parser_->body());
  request_.peer = peer_;
  parser_.reset();
  const Route* const route = std::exchange(match_, {}).route;
  if (wait != Wait::kNothing) loop_.Arm(*this, Wait::kNothing);

  exchange_ = std::make_shared<Exchange>();
  exchange_->mailbox = loop_.shared_mailbox();
  exchange_->waiting_bytes_limit = static_cast<size_t>(loop_.core().options.waiting_bytes);
  exchange_->chunked = http11_;
  exchange_->bodiless = head_only_;
  exchange_->connection = this;
  phase_ = Phase::kHandling;
  route->handler(std::exchange(request_, {}), Responder(exchange_));
  {
    const std::lock_guard lock(exchange_->mutex);
    exchange_->in_handler = false;
  }
  return Turn::kAgain;
}

Connection::Turn Connection::TakeAnswer() {
  std::optional<Response> response;
  bool stream = false;
  {
    const std::lock_guard lock(exchange_->mutex);
    exchange_->posted = false;
    response = std::exchange(exchange_->response, std::nullopt);
    stream = exchange_->state != Exchange::State::kAnswered;
  }
  if (!response) return hung_up_ ? Turn::kClose : Turn::kWait;
  if (!Sound(*response) || (stream && HasNoBody(response->status))) {
    *response = ErrorResponse(500, "the answer has a header that cannot be sent");
    if (std::exchange(stream, false)) exchange_->Go(loop_.core().counters.peers_gone);
  }
  if (stream) {
    std::string head;
    Format(*response, true, head);
    Send(head);
    phase_ = Phase::kStreaming;
    return Turn::kAgain;
  }
  exchange_->connection = nullptr;
  exchange_.reset();
  std::string& head = loop_.write_room();
  head.clear();
  Format(*response, false, head);
  const bool has_body = !head_only_ && !HasNoBody(response->status);
  if (has_body && response->body.size() <= kCopiedBodyBytes) head.append(response->body);
  Send(head);
  if (has_body && response->body.size() > kCopiedBodyBytes) {
    output_.push_back(std::move(response->body));
  }
  phase_ = Phase::kSending;
  return Turn::kAgain;
}

Connection::Turn Connection::Refuse(const Refusal& refusal) {
  LiveCounters::Add(loop_.core().counters.requests_refused);
  Response response = ErrorResponse(refusal.status, refusal.reason);
  if (refusal.status == 405) response.headers.emplace_back("Allow", match_.allowed);
  // Where the next request begins is known only when this one was read to its end.
  const bool knows_end = refusal.status == 404 || refusal.status == 405;
  if (!knows_end || body_unread_) {
    close_after_ = true;
    body_unread_ = true;
    input_ = {};
  }
  ReleaseBody();
  parser_.reset();
  match_ = {};
  request_ = {};
  if (wait != Wait::kNothing) loop_.Arm(*this, Wait::kNothing);
  std::string text;
  Format(response, false, text);
  if (!head_only_) text.append(response.body);
  Send(text);
  phase_ = Phase::kSending;
  return Turn::kAgain;
}

void Connection::Format(const Response& response, bool stream, std::string& out) {
  if (loop_.core().stopping) close_after_ = true;
  if (stream && !http11_) close_after_ = true;
  LiveCounters::Add(loop_.core().counters.responses[static_cast<size_t>(response.status) / 100]);
  const auto append = std::back_inserter(out);
  fmt::format_to(append, "HTTP/1.1 {} {}\r\nDate: {}\r\n", response.status,
                 StatusWords(response.status), loop_.Date());
  if (!response.content_type.empty() && !HasNoBody(response.status)) {
    out.append("Content-Type: ").append(response.content_type).append("\r\n");
  }
  if (!stream && !HasNoBody(response.status)) {
    fmt::format_to(append, "Content-Length: {}\r\n", response.body.size());
  }
  if (stream && http11_) out.append("Transfer-Encoding: chunked\r\n");
  if (close_after_) out.append("Connection: close\r\n");
  for (const auto& [name, value] : response.headers) {
    out.append(name).append(": ").append(value).append("\r\n");
  }
  out.append("\r\n");
}

void Connection::Send(std::string_view text) {
  while (!text.empty() && output_.empty() && !broken_) {
    size_t bytes = 0;
    const IoStep step = socket_.Write(text, bytes);
    if (step == IoStep::kWaitRead || step == IoStep::kWaitWrite) break;
    if (step != IoStep::kDone) broken_ = true;
    LiveCounters::Add(loop_.core().counters.bytes_sent, static_cast<int64_t>(bytes));
    text.remove_prefix(bytes);
  }
  if (!text.empty() && !broken_) output_.emplace_back(text);
}

bool Connection::Flush() {
  size_t whole = 0;
  bool progress = false;
  while (whole < output_.size() && !broken_) {
    size_t bytes = 0;
    const IoStep step = socket_.Write(std::string_view(output_[whole]).substr(sent_), bytes);
    if (step == IoStep::kWaitRead || step == IoStep::kWaitWrite) break;
    if (step != IoStep::kDone) broken_ = true;
    LiveCounters::Add(loop_.core().counters.bytes_sent, static_cast<int64_t>(bytes));
    progress = true;
    sent_ += bytes;
    if (sent_ < output_[whole].size()) continue;
    ++whole;
    sent_ = 0;
  }
  output_.erase(output_.begin(), output_.begin() + static_cast<ptrdiff_t>(whole));
  if (output_.empty()) output_ = {};  // Gives its memory back.
  if (!output_.empty() && (progress || wait != Wait::kWrite)) loop_.Arm(*this, Wait::kWrite);
  return output_.empty();
}

Connection::Turn Connection::SendMore() {
  const bool all = Flush();
  if (broken_) return Turn::kClose;
  return all ? EndResponse() : Turn::kWait;
}

Connection::Turn Connection::EndResponse() {
  if (close_after_) {
    if (!body_unread_) return Turn::kClose;
    socket_.EndSending();
    readable_ = true;
    phase_ = Phase::kLingering;
    loop_.Arm(*this, Wait::kLinger);
    return Turn::kAgain;
  }
  phase_ = Phase::kReading;
  if (loop_.core().stopping && input_.empty()) return Turn::kClose;
  if (input_.empty()) {
    input_ = {};
    loop_.Arm(*this, Wait::kIdle);
  } else {
    unparsed_ = true;
  }
  return Turn::kAgain;
}

Connection::Turn Connection::StreamMore() {
  {
    const std::lock_guard lock(exchange_->mutex);
    exchange_->posted = false;
    if (exchange_->state == Exchange::State::kCut) {
      LiveCounters::Add(loop_.core().counters.streams_cut);
      return Turn::kClose;
    }
  }
  const bool all = Flush();
  if (broken_) return Turn::kClose;
  if (!all) return hung_up_ ? Turn::kClose : Turn::kWait;
  bool ended = false;
  std::string next;
  {
    const std::lock_guard lock(exchange_->mutex);
    next = std::exchange(exchange_->waiting, {});
    exchange_->in_flight = next.size();
    ended = next.empty() && exchange_->state == Exchange::State::kEnded;
  }
  if (!next.empty()) {
    output_.push_back(std::move(next));
    return Turn::kAgain;
  }
  if (!ended) {
    if (wait != Wait::kNothing) loop_.Arm(*this, Wait::kNothing);
    return hung_up_ ? Turn::kClose : Turn::kWait;
  }
  exchange_->connection = nullptr;
  exchange_.reset();
  phase_ = Phase::kSending;
  return Turn::kAgain;
}

Connection::Turn Connection::Linger() {
  std::vector<char>& room = loop_.read_room();
  while (true) {
    size_t bytes = 0;
    const IoStep step = socket_.Read(room, bytes);
    if (step == IoStep::kWaitRead || step == IoStep::kWaitWrite) return Turn::kWait;
    lingered_bytes_ += bytes;
    if (step != IoStep::kDone || lingered_bytes_ > kMostLingeredBytes) return Turn::kClose;
  }
}

}  // namespace weir::net
