// The only file that includes Beast.
#include <algorithm>
#include <boost/asio/buffer.hpp>
#include <boost/beast/http/basic_parser.hpp>
#include <boost/beast/http/error.hpp>
#include <utility>

#include "weir/base/assert.h"
#include "weir/net/message_internal.h"

namespace weir::net {
namespace {

namespace http = boost::beast::http;
using BeastText = boost::beast::string_view;
using BeastError = boost::beast::error_code;

constexpr size_t kFirstBodyBytes = 64 << 10;  // What a Content-Length alone makes us set aside.

std::string_view View(BeastText text) { return {text.data(), text.size()}; }

/// Stops Beast's parser; which of our rules was broken stands beside it.
void Break(BeastError& error) { error = http::error::bad_field; }

Refusal RefusalFor(BeastError error) {
  if (error == http::error::header_limit) return {431, "the head is too large"};
  if (error == http::error::body_limit) return {413, "the body is too large"};
  if (error == http::error::bad_version) return {505, "only HTTP/1.1 and 1.0 are spoken here"};
  if (error == http::error::bad_target) return {400, "the target has a byte that may not be there"};
  if (error == http::error::bad_method) return {400, "the method is not a word"};
  if (error == http::error::bad_content_length) return {400, "Content-Length is not one number"};
  if (error == http::error::multiple_content_length) return {400, "two different Content-Lengths"};
  if (error == http::error::bad_transfer_encoding) return {400, "two ways to find the body's end"};
  if (error == http::error::bad_chunk || error == http::error::bad_chunk_extension) {
    return {400, "the body is not well cut into chunks"};
  }
  return {400, "not HTTP: " + error.message()};
}

/// What requests and responses share: fields, framing, limits.
template <bool kIsRequest>
class Base : public http::basic_parser<kIsRequest> {
 public:
  explicit Base(size_t head_bytes_limit) : head_bytes_limit_(head_bytes_limit) {
    this->header_limit(static_cast<uint32_t>(head_bytes_limit));
    this->body_limit(boost::none);
  }

  ParseStep Feed(std::string_view bytes, size_t& taken) {
    taken = 0;
    while (!this->is_done()) {
      if (refusal_.status != 0) return ParseStep::kRefused;
      if (taken == bytes.size() && head_told_) return ParseStep::kMore;
      const bool in_head = !head_complete_;
      BeastError error;
      const size_t used =
          this->put(boost::asio::const_buffer(bytes.data() + taken, bytes.size() - taken), error);
      taken += used;
      if (error && error != http::error::need_more) return Refuse(RefusalFor(error));
      // What is not taken of a head, or of a chunk's head, is given again with more behind it.
      const size_t given_again = error ? bytes.size() - taken : 0;
      if (in_head) head_bytes_ += used;
      if ((in_head ? head_bytes_ : 0) + given_again > head_bytes_limit_) {
        return Refuse({431, "the head is too large"});
      }
      if (head_complete_ && !head_told_) return TellHead();
      if (error) return ParseStep::kMore;
    }
    return head_told_ ? ParseStep::kDone : TellHead();
  }

  ParseStep Refuse(Refusal why) {
    if (refusal_.status == 0) refusal_ = std::move(why);
    return ParseStep::kRefused;
  }

  HeaderList headers_;
  Framing framing_;
  Refusal refusal_;

 protected:
  virtual bool CheckHead() = 0;

  ParseStep TellHead() {
    head_told_ = true;
    framing_.keep_alive = this->keep_alive();
    if (const auto length = this->content_length()) framing_.content_length = *length;
    framing_.has_body = !this->is_done();
    if (!CheckHead()) return ParseStep::kRefused;
    this->eager(true);
    return ParseStep::kHead;
  }

  void on_field_impl(http::field, BeastText name, BeastText value, BeastError& error) override {
    if (trailing_) return;  // Trailers have no say.
    if (headers_.size() == kMostFields) {
      refusal_ = {431, "too many header fields"};
      return Break(error);
    }
    headers_.Add(View(name), View(value));
  }
  void on_header_impl(BeastError&) override { head_complete_ = true; }
  void on_chunk_header_impl(uint64_t size, BeastText, BeastError&) override {
    trailing_ = trailing_ || size == 0;
  }
  void on_finish_impl(BeastError&) override {}

  size_t head_bytes_limit_;
  size_t head_bytes_ = 0;
  bool head_complete_ = false;
  bool head_told_ = false;
  bool trailing_ = false;
};

}  // namespace

struct RequestParser::Parser final : Base<true> {
  using Base::Base;

  bool CheckHead() override {
    const size_t lengths = headers_.Count("content-length");
    const size_t codings = headers_.Count("transfer-encoding");
    const auto refuse = [this](int status, const char* reason) {
      Refuse({status, reason});
      return false;
    };
    if (lengths > 1) return refuse(400, "more than one Content-Length");
    if (lengths > 0 && codings > 0) return refuse(400, "two ways to find the body's end");
    if (lengths > 0 && headers_.Find("content-length").find(',') != std::string_view::npos) {
      return refuse(400, "Content-Length is not one number");
    }
    if (codings > 0 && !SameIgnoringCase(headers_.Find("transfer-encoding"), "chunked")) {
      return refuse(501, "the only transfer coding known here is chunked");
    }
    if (codings > 0 && !framing_.http11) return refuse(400, "HTTP/1.0 has no transfer codings");
    const size_t hosts = headers_.Count("host");
    if (hosts > 1 || (hosts == 0 && framing_.http11)) {
      return refuse(400, "a request has one field Host");
    }
    return true;
  }

  void on_request_impl(http::verb, BeastText method, BeastText target, int version,
                       BeastError&) override {
    method_ = View(method);
    target_ = View(target);
    framing_.http11 = version >= 11;
  }
  void on_response_impl(int, BeastText, int, BeastError&) override { WEIR_ASSERT(false); }
  void on_body_init_impl(const boost::optional<uint64_t>& length, BeastError&) override {
    if (length) body_.reserve(std::min<uint64_t>(*length, kFirstBodyBytes));
  }
  size_t on_body_impl(BeastText piece, BeastError&) override {
    body_.append(piece.data(), piece.size());
    return piece.size();
  }
  size_t on_chunk_body_impl(uint64_t, BeastText piece, BeastError& error) override {
    return on_body_impl(piece, error);
  }

  std::string method_;
  std::string target_;
  std::string body_;
};

RequestParser::RequestParser(size_t head_bytes_limit)
    : parser_(std::make_unique<Parser>(head_bytes_limit)) {}
RequestParser::~RequestParser() = default;

ParseStep RequestParser::Feed(std::string_view bytes, size_t& taken) {
  return parser_->Feed(bytes, taken);
}

void RequestParser::LimitBody(uint64_t body_bytes) {
  parser_->body_limit(body_bytes);  // Beast looks at it again for chunks only.
  if (parser_->framing_.content_length.value_or(0) > body_bytes) {
    parser_->Refuse(RefusalFor(http::error::body_limit));
  }
}

const std::string& RequestParser::method() const { return parser_->method_; }
const std::string& RequestParser::target() const { return parser_->target_; }
HeaderList& RequestParser::headers() { return parser_->headers_; }
const Framing& RequestParser::framing() const { return parser_->framing_; }
std::string& RequestParser::body() { return parser_->body_; }
const Refusal& RequestParser::refusal() const { return parser_->refusal_; }

struct ResponseParser::Parser final : Base<false> {
  Parser(size_t head_bytes_limit, bool to_head, std::function<bool(std::string_view)> take)
      : Base(head_bytes_limit), take_(std::move(take)) {
    skip(to_head);
  }

  bool CheckHead() override {
    const size_t codings = headers_.Count("transfer-encoding");
    const bool known =
        codings == 0 || SameIgnoringCase(headers_.Find("transfer-encoding"), "chunked");
    if (codings > 1 || !known || (codings > 0 && headers_.Count("content-length") > 0)) {
      Refuse({400, "it is unclear where the answer ends"});
      return false;
    }
    return true;
  }

  void on_request_impl(http::verb, BeastText, BeastText, int, BeastError&) override {
    WEIR_ASSERT(false);
  }
  void on_response_impl(int status, BeastText, int version, BeastError&) override {
    status_ = status;
    framing_.http11 = version >= 11;
  }
  void on_body_init_impl(const boost::optional<uint64_t>&, BeastError&) override {}
  size_t on_body_impl(BeastText piece, BeastError& error) override {
    if (!piece.empty() && !take_(View(piece))) {
      stopped_ = true;
      Break(error);
    }
    return piece.size();
  }
  size_t on_chunk_body_impl(uint64_t, BeastText piece, BeastError& error) override {
    return on_body_impl(piece, error);
  }

  int status_ = 0;
  bool stopped_ = false;
  std::function<bool(std::string_view)> take_;
};

ResponseParser::ResponseParser(size_t head_bytes_limit, bool to_head,
                               std::function<bool(std::string_view)> take)
    : parser_(std::make_unique<Parser>(head_bytes_limit, to_head, std::move(take))) {}
ResponseParser::~ResponseParser() = default;

ParseStep ResponseParser::Feed(std::string_view bytes, size_t& taken) {
  return parser_->Feed(bytes, taken);
}

bool ResponseParser::Close() {
  if (parser_->is_done()) return true;
  if (!parser_->is_header_done() || !parser_->need_eof()) return false;
  BeastError error;
  parser_->put_eof(error);
  return !error;
}

int ResponseParser::status() const { return parser_->status_; }
HeaderList& ResponseParser::headers() { return parser_->headers_; }
const Framing& ResponseParser::framing() const { return parser_->framing_; }
const Refusal& ResponseParser::refusal() const { return parser_->refusal_; }
bool ResponseParser::stopped() const { return parser_->stopped_; }

}  // namespace weir::net
