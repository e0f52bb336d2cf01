#pragma once
// TypeStripper: TypeScript into the JavaScript that engine.h runs, once, when a script is stored.
#include <cstddef>
#include <string>
#include <string_view>

#include "weir/base/result.h"
#include "weir/sys/clock.h"

namespace weir::script {

inline constexpr size_t kMaxTypescriptBytes = size_t{1} << 20;

/// Runs esbuild, a program that stands beside this one, on one text at a time.
///
/// Types are taken away and not checked. Enums, namespaces, parameter properties and decorators
/// become what esbuild makes of them. The inline source map at the end keeps lines true.
///
/// Threads: any.
class TypeStripper {
 public:
  /// `program`: esbuild's full path; `time`: the longest it may take for one text.
  explicit TypeStripper(std::string program, sys::Duration time = std::chrono::seconds(10));

  /// The one beside this program: lib/esbuild in its folder, or in that above it as packages have
  /// it. Errors: kNotFound.
  static Result<TypeStripper> BesideThisProgram();

  /// `name` stands in messages.
  ///
  /// Cost:   a process, about 10 ms.
  /// Errors: kInvalid     the text is too long, no UTF-8, or no TypeScript: the message gives the
  ///                      line and the column. JSX is none.
  ///         kNotFound    esbuild is not there.
  ///         kExhausted   no room for its files, no process.
  ///         kUnavailable it took too long or was killed.
  Result<std::string> ToJavaScript(std::string_view typescript, std::string_view name) const;

 private:
  std::string program_;
  sys::Duration time_;
};

}  // namespace weir::script
