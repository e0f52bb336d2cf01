#pragma once
// What a script threw, in words.
#include <cstddef>
#include <string>

#include "weir/script/engine.h"

struct JSContext;
struct JSValue;

namespace weir::script {

inline constexpr size_t kMaxMessageBytes = 4096;
inline constexpr size_t kMaxTraceBytes = 16384;

struct Thrown {
  End end = End::kThrew;  ///< Or kOutOfMemory, kStackOverflow, kSyntax, by what the engine throws.
  std::string message;
  std::string stack;
};

/// "TypeError: x is no function" of an error, else "threw 5": never empty, and never throws.
std::string MessageOf(JSContext* context, const JSValue& value);

/// Cost: may run the script's own getters, within its limits.
Thrown Describe(JSContext* context, const JSValue& value);

}  // namespace weir::script
