#include "weir/net/client.h"

#include <poll.h>

#include <algorithm>
#include <optional>

#include "weir/base/assert.h"
#include "weir/net/connector_internal.h"
#include "weir/net/message_internal.h"
#include "weir/net/target.h"

namespace weir::net {
namespace {

constexpr size_t kReadRoomBytes = 16 << 10;

Status CheckFields(const Fields& fields) {
  for (const auto& [name, value] : fields) {
    const std::string lower = LowerCase(name);
    const bool ours = lower == "host" || lower == "content-length" || lower == "connection" ||
                      lower == "transfer-encoding" || lower == "expect";
    if (ours || !IsToken(name)) {
      return Fail(Code::kInvalid, "the header '{}' is the client's own, or no name; leave it out",
                  name);
    }
    if (!IsFieldValue(value)) {
      return Fail(Code::kInvalid, "the header '{}' has a line end or another control character",
                  name);  // The value may be secret.
    }
  }
  return Ok();
}

Status CheckTarget(std::string_view target) {
  const bool plain = std::all_of(target.begin(), target.end(),
                                 [](char letter) { return letter > 0x20 && letter < 0x7F; });
  if (plain && target.starts_with('/') && target.find('#') == std::string_view::npos) return Ok();
  return Fail(Code::kInvalid,
              "a target begins with a slash and holds neither blanks nor bytes that are not ASCII; "
              "encode them");
}

}  // namespace

struct Client::Link {
  using Take = std::function<bool(std::string_view)>;

  /// One request on its way, and its answer.
  struct Call {
    const ClientRequest& request;
    const Take* take;  // Null: the body is gathered.
    Waiter waiter;
    std::string unsent = {};
    ClientResponse response = {};
    bool head_told = false;
    bool too_large = false;
    bool given_up = false;  // Sending, before all was sent.
    std::unique_ptr<ResponseParser> parser = nullptr;
    std::string input = {};  // Read and not parsed.
  };

  Result<ClientResponse> Exchange(const ClientRequest& request, const sys::Stop& stop,
                                  const Take* take);
  Result<ClientResponse> Converse(Call& call);
  Status EnsureConnected(Waiter& waiter);
  bool StillGood();
  std::string Compose(const ClientRequest& request) const;
  void NewParser(Call& call);
  bool TakeBody(Call& call, std::string_view piece);
  Status SendMore(Call& call);
  /// True when the answer is complete.
  Result<bool> ReadMore(Call& call);
  Result<bool> Parse(Call& call);
  Error Lost(const Call& call, std::string_view reason) const;

  ClientOptions options;
  Url url;
  std::shared_ptr<TlsContext> tls;
  std::optional<Socket> socket;
  sys::Duration idle_since{0};
  Delivery delivery = Delivery::kNotSent;
  int64_t connections_made = 0;
  std::vector<char> room = std::vector<char>(kReadRoomBytes);
};

Result<std::unique_ptr<Client>> Client::Create(ClientOptions options) {
  auto link = std::make_unique<Link>();
  WEIR_TRY(link->url, ParseUrl(options.url));
  WEIR_DO(CheckFields(options.headers));
  if (link->url.tls) {
    WEIR_TRY(link->tls, TlsContext::ForClient(options.ca_file));
  }
  link->options = std::move(options);
  return std::unique_ptr<Client>(new Client(std::move(link)));
}

Client::Client(std::unique_ptr<Link> link) : link_(std::move(link)) {}
Client::~Client() { Disconnect(); }

Delivery Client::delivery() const { return link_->delivery; }
int64_t Client::connections_made() const { return link_->connections_made; }

void Client::Disconnect() {
  if (link_->socket) link_->socket->Close();
  link_->socket.reset();
}

Result<ClientResponse> Client::Send(const ClientRequest& request, const sys::Stop& stop) {
  return link_->Exchange(request, stop, nullptr);
}

Result<ClientResponse> Client::Stream(const ClientRequest& request, const sys::Stop& stop,
                                      const std::function<bool(std::string_view)>& take) {
  return link_->Exchange(request, stop, &take);
}

Result<ClientResponse> Client::Link::Exchange(const ClientRequest& request, const sys::Stop& stop,
                                              const Take* take) {
  delivery = Delivery::kNotSent;
  WEIR_DO(CheckFields(request.headers));
  WEIR_DO(CheckTarget(request.target));
  WEIR_DO(stop.Check());
  Call call{.request = request, .take = take, .waiter{stop, sys::SteadyNow() + request.deadline}};
  WEIR_DO(EnsureConnected(call.waiter));
  call.unsent = Compose(request);
  NewParser(call);
  auto answer = Converse(call);
  const bool keep = answer.ok() && call.parser->framing().keep_alive && !call.parser->stopped() &&
                    call.input.empty() && call.unsent.empty() && !call.given_up;
  if (keep) {
    idle_since = sys::SteadyNow();
  } else {
    if (socket) socket->Close();
    socket.reset();
  }
  return answer;
}

Result<ClientResponse> Client::Link::Converse(Call& call) {
  while (true) {
    WEIR_DO(SendMore(call));
    const int events = call.unsent.empty() ? POLLIN : POLLIN | POLLOUT;
    const Status ready = call.waiter.For(socket->fd(), static_cast<short>(events));
    if (!ready.ok()) {
      if (ready.error().code == Code::kCancelled) return ready.error();
      return Lost(call, "the time is over");
    }
    WEIR_TRY(const bool complete, ReadMore(call));
    if (complete) return std::move(call.response);
  }
}

Error Client::Link::Lost(const Call& call, std::string_view reason) const {
  std::string_view sent = "it may have been received";
  if (delivery == Delivery::kNotSent) sent = "it was not sent";
  if (delivery == Delivery::kAnswered) sent = "the answer had begun";
  return Fail(Code::kUnavailable, "{} {}{}: {}; {}; try again when the server is well",
              MethodName(call.request.method), url.authority(), url.path + call.request.target,
              reason, sent);
}

bool Client::Link::StillGood() {
  if (!socket || sys::SteadyNow() - idle_since > options.reuse_within) return false;
  size_t bytes = 0;
  return socket->Read(room, bytes) == IoStep::kWaitRead;  // Nothing was asked, nothing may come.
}

Status Client::Link::EnsureConnected(Waiter& waiter) {
  if (StillGood()) return Ok();
  if (socket) socket->Close();
  socket.reset();
  const sys::Duration whole = waiter.deadline();
  waiter.SetDeadline(std::min(whole, sys::SteadyNow() + options.connect_timeout));
  WEIR_TRY(socket, Connect(url, tls.get(), waiter));
  ++connections_made;
  waiter.SetDeadline(whole);
  return Ok();
}

std::string Client::Link::Compose(const ClientRequest& request) const {
  std::string text = fmt::format("{} {}{} HTTP/1.1\r\nHost: {}\r\n", MethodName(request.method),
                                 url.path, request.target, url.authority());
  const auto append = std::back_inserter(text);
  const bool has_body = !request.body.empty();
  if (has_body && !request.content_type.empty()) {
    fmt::format_to(append, "Content-Type: {}\r\n", request.content_type);
  }
  const bool may_have_body = request.method != Method::kGet && request.method != Method::kHead;
  if (has_body || may_have_body) {
    fmt::format_to(append, "Content-Length: {}\r\n", request.body.size());
  }
  for (const Fields* fields : {&options.headers, &request.headers}) {
    for (const auto& [name, value] : *fields) fmt::format_to(append, "{}: {}\r\n", name, value);
  }
  return text.append("\r\n").append(request.body);
}

void Client::Link::NewParser(Call& call) {
  call.parser = std::make_unique<ResponseParser>(
      static_cast<size_t>(options.head_bytes), call.request.method == Method::kHead,
      [this, &call](std::string_view piece) { return TakeBody(call, piece); });
}

bool Client::Link::TakeBody(Call& call, std::string_view piece) {
  const int status = call.parser->status();
  if (call.take != nullptr && status >= 200 && status <= 299) return (*call.take)(piece);
  call.too_large = std::ssize(call.response.body) + std::ssize(piece) > options.response_bytes;
  if (call.too_large) return false;
  call.response.body.append(piece);
  return true;
}

Status Client::Link::SendMore(Call& call) {
  size_t begin = 0;
  while (begin < call.unsent.size()) {
    size_t bytes = 0;
    if (tls != nullptr) delivery = Delivery::kPerhaps;  // What TLS flushed is not told.
    const IoStep step = socket->Write(std::string_view(call.unsent).substr(begin), bytes);
    if (step == IoStep::kWaitRead || step == IoStep::kWaitWrite) break;
    if (step != IoStep::kDone) {
      if (delivery == Delivery::kNotSent) return Lost(call, socket->reason());
      call.given_up = true;  // The server may have answered before it closed.
      begin = call.unsent.size();
      break;
    }
    delivery = Delivery::kPerhaps;
    begin += bytes;
  }
  call.unsent.erase(0, begin);
  return Ok();
}

Result<bool> Client::Link::ReadMore(Call& call) {
  while (true) {
    size_t bytes = 0;
    const IoStep step = socket->Read(room, bytes);
    if (step == IoStep::kWaitRead || step == IoStep::kWaitWrite) return false;
    if (step == IoStep::kFailed) return Lost(call, socket->reason());
    if (step == IoStep::kClosed) {
      if (call.head_told && call.parser->Close()) return true;
      return Lost(call, "the server closed the connection before its answer was complete");
    }
    call.input.append(room.data(), bytes);
    if (call.head_told && call.take != nullptr) {
      call.waiter.SetDeadline(sys::SteadyNow() + call.request.silence);
    }
    WEIR_TRY(const bool complete, Parse(call));
    if (complete) return true;
  }
}

Result<bool> Client::Link::Parse(Call& call) {
  while (true) {
    size_t taken = 0;
    const ParseStep step = call.parser->Feed(call.input, taken);
    call.input.erase(0, taken);
    const int status = call.parser->status();
    switch (step) {
      case ParseStep::kMore:
        return false;
      case ParseStep::kHead:
        if (status < 200) break;
        delivery = Delivery::kAnswered;
        call.head_told = true;
        call.response.status = status;
        call.response.headers = std::move(call.parser->headers());
        if (call.take != nullptr) {
          call.waiter.SetDeadline(sys::SteadyNow() + call.request.silence);
        }
        break;
      case ParseStep::kDone:
        if (status >= 200) return true;
        NewParser(call);  // That was an interim one.
        break;
      case ParseStep::kRefused:
        if (call.too_large) {
          return Fail(Code::kInvalid, "the answer of {} has over {} bytes; ask for less of it",
                      url.authority(), options.response_bytes);
        }
        if (call.parser->stopped()) return true;
        return Fail(Code::kInvalid,
                    "{} does not answer as HTTP/1.1 wants it: {}; is it the server?",
                    url.authority(), call.parser->refusal().reason);
    }
  }
}

}  // namespace weir::net
