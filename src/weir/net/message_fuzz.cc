// Requests and answers as anybody may send them: what is a message when it comes in one way is the
// same message however it is cut, and the parsers stay within their bounds. What is none is refused
// at once or after more of it, which depends on how it comes.
#include <algorithm>
#include <cstddef>
#include <string>
#include <vector>

#include "weir/base/assert.h"
#include "weir/base/bytes.h"
#include "weir/net/message_internal.h"

using weir::net::ParseStep;

namespace {

constexpr size_t kHeadBytes = 512;
constexpr size_t kBodyBytes = 1000;

/// What a parser made of some bytes; the same for all ways to cut them.
struct Outcome {
  ParseStep step = ParseStep::kMore;
  std::string method;
  std::string target;
  std::string body;
  bool operator==(const Outcome&) const = default;
};

/// Feeds `bytes` in pieces of `piece` bytes, as a connection does.
template <typename Parser, typename OnHead>
ParseStep FeedAll(Parser& parser, std::string_view bytes, size_t piece, OnHead on_head) {
  std::string kept;
  while (!bytes.empty()) {
    kept.append(bytes.substr(0, piece));
    bytes.remove_prefix(std::min(piece, bytes.size()));
    while (true) {
      size_t taken = 0;
      const ParseStep step = parser.Feed(kept, taken);
      WEIR_ASSERT(taken <= kept.size());
      kept.erase(0, taken);
      if (step == ParseStep::kDone || step == ParseStep::kRefused) return step;
      if (step == ParseStep::kMore) break;
      on_head();
    }
    WEIR_ASSERT(kept.size() <= kHeadBytes);
  }
  return ParseStep::kMore;
}

Outcome ReadRequest(std::string_view bytes, size_t piece) {
  weir::net::RequestParser parser(kHeadBytes);
  const ParseStep step = FeedAll(parser, bytes, piece, [&parser] { parser.LimitBody(kBodyBytes); });
  WEIR_ASSERT(parser.body().size() <= kBodyBytes);
  WEIR_ASSERT((step == ParseStep::kRefused) == (parser.refusal().status != 0));
  for (size_t at = 0; at < parser.headers().size(); ++at) {
    WEIR_ASSERT(weir::net::IsToken(parser.headers().name(at)));
    WEIR_ASSERT(weir::net::IsFieldValue(parser.headers().value(at)));
  }
  if (step != ParseStep::kDone) return {step, {}, {}, {}};
  WEIR_ASSERT(
      parser.headers().Count("content-length") + parser.headers().Count("transfer-encoding") <= 1);
  return {step, parser.method(), parser.target(), parser.body()};
}

Outcome ReadResponse(std::string_view bytes, size_t piece) {
  Outcome outcome;
  weir::net::ResponseParser parser(kHeadBytes, false, [&outcome](std::string_view more) {
    outcome.body.append(more);
    return true;
  });
  outcome.step = FeedAll(parser, bytes, piece, [] {});
  if (outcome.step == ParseStep::kMore && parser.Close()) outcome.step = ParseStep::kDone;
  if (outcome.step != ParseStep::kDone) outcome.body.clear();
  return outcome;
}

void CheckSame(const Outcome& a, const Outcome& b) {
  if (a.step == ParseStep::kDone || b.step == ParseStep::kDone) WEIR_ASSERT(a == b);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view text = weir::AsText({data, size});
  const Outcome request = ReadRequest(text, 1);
  const Outcome response = ReadResponse(text, 1);
  for (const size_t piece : {size_t{3}, size_t{100}}) {
    CheckSame(ReadRequest(text, piece), request);
    CheckSame(ReadResponse(text, piece), response);
  }
  return 0;
}
