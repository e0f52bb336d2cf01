#pragma once
// Error: a failure as a value. The code names the reaction; the message gathers the trail.
#include <fmt/format.h>

#include <cstdint>
#include <string>
#include <string_view>

namespace weir {

/// Why a call failed, named by what the caller should do next.
enum class Code : uint8_t {
  kInvalid,      ///< Fix the request: the same call will always fail.
  kNotFound,     ///< The named thing is not there; only the caller knows if that is wrong.
  kExhausted,    ///< A budget, disk or quota is full: free some, then call again.
  kUnavailable,  ///< The peer is gone: reconnect, wait, then call again.
  kCorrupt,      ///< Stored or received bytes fail their check: stop, and keep the bytes.
  kDrift,        ///< The source's schema changed and the configuration says stop: look first.
  kCancelled,    ///< Someone asked to stop. Nothing is wrong; what was half done is undone.
  kUsage,        ///< Bad command line or configuration, found before any work began.
};

/// The code's lower-case name: "invalid", "not_found", ...
std::string_view CodeName(Code code);

/// The process exit code that DESIGN gives to a failure: 1, 2, 3, 4, 64; 130 for kCancelled.
int ExitCode(Code code);

/// A failure, and the trail of what was being done, outermost first.
struct [[nodiscard]] Error {
  Code code;
  std::string message;  ///< Names the object, the reason and the remedy. Never a secret.

  /// This failure, seen from one level further out.
  Error In(std::string_view doing) && { return {code, fmt::format("{}: {}", doing, message)}; }
  Error In() && { return std::move(*this); }
};

/// Builds an Error from a format string: Fail(Code::kNotFound, "no table {}", name).
template <typename... Args>
Error Fail(Code code, fmt::format_string<Args...> format, Args&&... args) {
  return {code, fmt::format(format, std::forward<Args>(args)...)};
}

}  // namespace weir
