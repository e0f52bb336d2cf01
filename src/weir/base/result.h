#pragma once
// Result<T>: a value or an Error; Status: success or an Error. WEIR_TRY and WEIR_DO pass errors up.
#include <optional>
#include <utility>
#include <variant>

#include "weir/base/assert.h"
#include "weir/base/error.h"

namespace weir {

/// A T, or the Error that says why there is none.
///
/// Requires: value() only when ok(), error() only when not; both abort otherwise.
template <typename T>
class [[nodiscard]] Result {
 public:
  Result(T value) : state_(std::in_place_index<0>, std::move(value)) {}        // NOLINT
  Result(Error error) : state_(std::in_place_index<1>, std::move(error)) {}    // NOLINT

  bool ok() const { return state_.index() == 0; }

  T& value() & { return Checked(), std::get<0>(state_); }
  const T& value() const& { return Checked(), std::get<0>(state_); }
  /// By value, so that a range-for over a call's result does not outlive it.
  T value() && { return Checked(), std::get<0>(std::move(state_)); }

  const Error& error() const& { return WEIR_ASSERT(!ok()), std::get<1>(state_); }
  Error&& error() && { return WEIR_ASSERT(!ok()), std::get<1>(std::move(state_)); }

 private:
  void Checked() const {
    if (!ok()) AssertionFailed("Result holds a value", std::get<1>(state_).message.c_str(), 0);
  }

  std::variant<T, Error> state_;
};

/// Success, or the Error that says what failed.
template <>
class [[nodiscard]] Result<void> {
 public:
  Result() = default;
  Result(Error error) : error_(std::move(error)) {}  // NOLINT

  bool ok() const { return !error_.has_value(); }
  const Error& error() const& { return WEIR_ASSERT(!ok()), *error_; }
  Error&& error() && { return WEIR_ASSERT(!ok()), *std::move(error_); }

 private:
  std::optional<Error> error_;
};

using Status = Result<void>;

inline Status Ok() { return {}; }

}  // namespace weir

#define WEIR_CONCAT_INNER(a, b) a##b
#define WEIR_CONCAT(a, b) WEIR_CONCAT_INNER(a, b)
#define WEIR_IN(...) .In(__VA_OPT__(fmt::format(__VA_ARGS__)))

/// WEIR_TRY(auto file, Open(path), "state file {}", path): declares `file`, or returns the error
/// with the formatted words in front. The words may be left out.
#define WEIR_TRY(declaration, call, ...)                                                          \
  auto WEIR_CONCAT(weir_result_, __LINE__) = (call);                                              \
  if (!WEIR_CONCAT(weir_result_, __LINE__).ok()) [[unlikely]] {                                   \
    return std::move(WEIR_CONCAT(weir_result_, __LINE__)).error() WEIR_IN(__VA_ARGS__);           \
  }                                                                                               \
  declaration = std::move(WEIR_CONCAT(weir_result_, __LINE__)).value()

/// WEIR_DO(file->Sync(), "part {}", name): the same for a call without a value.
#define WEIR_DO(call, ...)                                                              \
  do {                                                                                  \
    if (auto weir_status = (call); !weir_status.ok()) [[unlikely]] {                    \
      return std::move(weir_status).error() WEIR_IN(__VA_ARGS__);                       \
    }                                                                                   \
  } while (false)
