#include "weir/queue/job.h"

#include <fmt/format.h>

#include "weir/base/assert.h"
#include "weir/base/printable.h"

namespace weir::queue {
namespace {

int HexDigit(char digit) {
  if (digit >= '0' && digit <= '9') return digit - '0';
  if (digit >= 'a' && digit <= 'f') return digit - 'a' + 10;
  if (digit >= 'A' && digit <= 'F') return digit - 'A' + 10;
  return -1;
}

bool IsDashPlace(size_t at) { return at == 8 || at == 13 || at == 18 || at == 23; }

std::optional<JobId> ParseHex(std::string_view text) {
  const bool dashes = text.size() == 36;
  if (!dashes && text.size() != 32) return std::nullopt;
  JobId id;
  size_t digits = 0;
  for (size_t at = 0; at < text.size(); ++at) {
    if (dashes && IsDashPlace(at)) {
      if (text[at] != '-') return std::nullopt;
      continue;
    }
    const int digit = HexDigit(text[at]);
    if (digit < 0) return std::nullopt;
    uint8_t& byte = id.bytes[digits++ / 2];
    byte = static_cast<uint8_t>(byte << 4 | digit);
  }
  return id;
}

}  // namespace

Result<JobId> JobId::Parse(std::string_view text) {
  const auto id = ParseHex(text);
  if (id.has_value()) return *id;
  return Fail(Code::kInvalid, "'{}' is no job id: it has to be a UUID", Printable(text));
}

std::string JobId::ToString() const {
  constexpr std::string_view kDigits = "0123456789abcdef";
  std::string text;
  text.reserve(36);
  for (const uint8_t byte : bytes) {
    if (IsDashPlace(text.size())) text += '-';
    text += kDigits[byte >> 4];
    text += kDigits[byte & 15];
  }
  return text;
}

std::string_view StateName(State state) {
  switch (state) {
    case State::kReady: return "ready";
    case State::kScheduled: return "scheduled";
    case State::kBuffered: return "buffered";
    case State::kRunning: return "running";
    case State::kSuspended: return "suspended";
    case State::kDone: return "done";
    case State::kFailed: return "failed";
    case State::kCancelled: return "cancelled";
    case State::kDead: return "dead";
  }
  WEIR_ASSERT(false);
}

}  // namespace weir::queue
