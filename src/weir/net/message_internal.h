#pragma once
// RequestParser, ResponseParser: bytes of HTTP/1.1 into messages. Beast's parser, and rules of ours
// about what is refused.
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "weir/net/headers.h"

namespace weir::net {

inline constexpr size_t kMostFields = 128;  ///< Browsers send about twenty.

enum class ParseStep {
  kMore,     ///< All that could be taken was; give what was not taken again, with more behind it.
  kHead,     ///< The head is complete: look at it, set the body's limit, and go on.
  kDone,     ///< The message is complete. What was not taken belongs to the next one.
  kRefused,  ///< refusal() says why. Nothing more can be read from this peer.
};

/// Why a message cannot be taken, as a status and a sentence.
struct Refusal {
  int status = 0;
  std::string reason;
};

/// A message's head, without its first line's parts.
struct Framing {
  bool http11 = true;
  bool keep_alive = true;
  bool has_body = false;  ///< More than 0 bytes, or chunked.
  std::optional<uint64_t> content_length;
};

/// One request.
///
/// Refused:  what two servers could read in two ways: more than one Content-Length, or one beside
///           Transfer-Encoding; codings other than chunked; no Host or several; line ends without
///           CR; versions other than 1.0 and 1.1; heads and chunk heads over the limit.
/// Memory:   the fields, and the body as far as it has come.
class RequestParser {
 public:
  explicit RequestParser(size_t head_bytes_limit);
  ~RequestParser();

  /// Reads `bytes` as far as possible; `taken` says how many are not to be given again.
  ParseStep Feed(std::string_view bytes, size_t& taken);
  /// Call after kHead. Errors: the next Feed refuses with 413 what is longer.
  void LimitBody(uint64_t body_bytes);

  const std::string& method() const;
  const std::string& target() const;
  HeaderList& headers();
  const Framing& framing() const;
  std::string& body();
  const Refusal& refusal() const;

 private:
  struct Parser;
  std::unique_ptr<Parser> parser_;
};

/// One response. Interim ones (100 Continue) are for the caller to skip.
class ResponseParser {
 public:
  /// `to_head`: the request was HEAD, so there is no body whatever the head says.
  /// `take` gets the body piece by piece and says whether to go on.
  ResponseParser(size_t head_bytes_limit, bool to_head, std::function<bool(std::string_view)> take);
  ~ResponseParser();

  ParseStep Feed(std::string_view bytes, size_t& taken);
  /// The peer has closed. True when the message was complete without saying so before.
  bool Close();

  int status() const;
  HeaderList& headers();
  const Framing& framing() const;
  const Refusal& refusal() const;
  /// `take` said not to go on: Feed refused for that.
  bool stopped() const;

 private:
  struct Parser;
  std::unique_ptr<Parser> parser_;
};

}  // namespace weir::net
