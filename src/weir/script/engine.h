#pragma once
// Engine: runs one script after another, each in a JavaScript world of its own.
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "weir/base/result.h"
#include "weir/script/fetch.h"
#include "weir/sys/clock.h"
#include "weir/sys/stop.h"

namespace weir::script {

/// What a person writes; more is a program that got into the wrong column.
inline constexpr size_t kMaxScriptBytes = size_t{4} << 20;
/// A world takes 0.2 MiB before the script's first line; less than this lets nothing run.
inline constexpr int64_t kMinMemoryBytes = int64_t{1} << 20;
/// A quarter of what threads have by default, so that C below the engine's own checks has room.
inline constexpr int64_t kMaxStackBytes = int64_t{2} << 20;
/// Timers and requests that one script may have waiting at once. They are kept outside its memory.
inline constexpr size_t kMaxWaiting = 10'000;

/// A module in JavaScript (strip_types.h makes it from TypeScript) that exports `main`.
struct Script {
  std::string name;  ///< As messages call it: "f/examples/hello.ts".
  std::string text;  ///< UTF-8. Lines are told by its inline source map, where it has one.
};

/// What one run may use. Zero of a duration: no such limit.
struct Limits {
  int64_t memory_bytes = int64_t{64} << 20;  ///< At least kMinMemoryBytes.
  int64_t stack_bytes = int64_t{256} << 10;  ///< Of the calling thread's; at most kMaxStackBytes.
  sys::Duration cpu_time{0};                 ///< Of the calling thread.
  sys::Duration wall_time{0};                ///< From the call of Run, waiting included.
  int64_t log_bytes = int64_t{1} << 20;      ///< Lines and their ends; then one sentence says so.
  int64_t result_bytes = int64_t{16} << 20;  ///< Of the result as JSON.
};

/// How a script came to its end. All but kReturned are failures.
enum class End : uint8_t {
  kReturned,       ///< main returned, or its promise was kept.
  kSyntax,         ///< The text is no module, or it imports something.
  kNoMain,         ///< It exports no function `main`, or one whose parameters have no names.
  kThrew,          ///< The module, main or a timer threw a value, or main's promise broke with one.
  kStuck,          ///< It waits for something that never comes.
  kOutOfMemory,
  kStackOverflow,
  kCpuTime,
  kWallTime,
  kNotJson,        ///< JSON cannot say what it returned: a cycle, a BigInt, a toJSON that throws.
  kResultTooLarge,
};

/// The end's name in lower case: "returned", "out_of_memory", ...
std::string_view EndName(End end);

struct Outcome {
  End end = End::kReturned;
  std::string result;   ///< kReturned: JSON; `null` for undefined. Else empty.
  std::string message;  ///< Of a failure, one sentence or the script's own words, at most 4 KiB.
  std::string stack;    ///< Of an error: "    at f (name:line:column)" a line, at most 16 KiB.
  int64_t peak_memory_bytes = 0;
  sys::Duration cpu_time{0};
};

/// Runs scripts. What all runs have in common (compiled texts, by their hash) is kept; nothing that
/// a script did is.
///
/// `main` is called with the members of the arguments that its parameters name: main(x, y) gets
/// args.x and args.y, undefined where there is none, so that defaults work. A parameter that is a
/// pattern gets the whole of the arguments. A run ends when main's promise is settled; timers and
/// requests that still wait then are dropped.
///
/// Scripts see the language, and fetch, console, timers, URL, URLSearchParams, TextEncoder,
/// TextDecoder, atob, btoa, crypto.randomUUID, AbortController, structuredClone. No files, no
/// processes, no modules, no other script.
///
/// Threads: any; N at once on N threads.
class Engine {
 public:
  Engine();
  ~Engine();
  Engine(const Engine&) = delete;
  Engine& operator=(const Engine&) = delete;

  /// Runs `script` in a fresh world and takes that down again. `arguments` is a JSON object.
  ///
  /// Cost:   about 0.15 ms besides what the script does; see script_bench.cc.
  /// Bounds: ends within 50 ms of a limit passed or a stop asked for. The exceptions are in
  ///         docs/decisions/script-engine.md.
  /// Errors: kInvalid   text or arguments are not UTF-8, the arguments are no JSON object, the
  ///                    script is too long, the limits let nothing run.
  ///         kCancelled `stop` was asked for.
  ///         kExhausted this process has no memory for another world.
  Result<Outcome> Run(const Script& script, std::string_view arguments, const Limits& limits,
                      Host& host, const sys::Stop& stop);

  /// Compiles only. Errors: kInvalid, with line and column, when the text is no module.
  Status Check(const Script& script);

 private:
  struct Shared;
  std::unique_ptr<Shared> shared_;
};

}  // namespace weir::script
