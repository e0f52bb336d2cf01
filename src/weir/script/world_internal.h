#pragma once
// World: one JavaScript runtime and context with what a script may reach, for one run.
#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "weir/script/engine.h"
#include "weir/script/heap_internal.h"
#include "weir/script/inbox_internal.h"

struct JSContext;
struct JSRuntime;
struct JSValue;

namespace weir::script {

/// The parts of web/, each compiled once per engine and loaded when a script first names a global
/// of it: a job that fetches need not pay for URLs.
enum class WebPart : uint8_t { kConsole, kFetch, kUrl, kRest };
inline constexpr size_t kWebParts = 4;
using WebCode = std::array<std::string, kWebParts>;

/// Which limit ended a run from outside.
enum class Halt : uint8_t { kNone, kStop, kCpuTime, kWallTime };

/// How the wait for a promise ended.
enum class Settled : uint8_t { kKept, kBroken, kStuck, kHalted };

/// Values of a world need not be freed at its end: its heap is swept.
///
/// Threads: the one that made it.
class World {
 public:
  /// `web` outlives it. Null when there is no memory.
  static std::unique_ptr<World> Make(const Limits& limits, Host& host, const sys::Stop& stop,
                                     const WebCode& web);
  ~World();
  World(const World&) = delete;
  World& operator=(const World&) = delete;

  static World& Of(JSContext* context);
  JSContext* context() { return context_; }
  Halt halt() const { return halt_; }
  const Limits& limits() const { return limits_; }
  int64_t peak_memory_bytes() const { return static_cast<int64_t>(heap_.peak_bytes()); }
  sys::Duration cpu_time() const;

  /// True once a limit is passed or a stop asked for, and ever after.
  bool Passed();
  /// Runs what waits until `promise` is settled. kBroken: `thrown` is what it broke with, or what a
  /// timer threw.
  Settled Settle(const JSValue& promise, JSValue& thrown);
  /// Logs promises that broke and that nobody looked at.
  void ReportUnhandled();

  // For natives.cc.
  bool log_is_open() const { return log_is_open_; }
  void Print(Level level, std::string_view text);
  /// The timer's number; 0 when too many wait. Copies the values.
  uint32_t AddTimer(const JSValue& callback, int count, const JSValue* arguments,
                    sys::Duration delay, bool repeat);
  void RemoveTimer(uint32_t id);
  /// Sends a request and returns its number and promise; 0 when too many wait.
  uint64_t Fetch(Request request, JSValue& promise);
  void ForgetFetch(uint64_t id);
  /// The globals of a part of web/, which is loaded where it is not yet; an exception otherwise.
  JSValue Web(WebPart part);

 private:
  struct Waiting;  // Timers and requests, which hold values of the engine.

  World(const Limits& limits, Host& host, const sys::Stop& stop, const WebCode& web);
  bool Build();
  bool RunJobs(JSValue& thrown);
  bool GiveAnswers();
  bool GiveAnswer(Inbox::Answer answer);
  bool RunDueTimer();
  /// False when nothing is left to wait for.
  bool WaitForMore();

  const Limits limits_;
  Host& host_;
  const sys::Stop& stop_;
  const WebCode& web_;
  const sys::Duration began_;
  const sys::Duration cpu_began_;
  Halt halt_ = Halt::kNone;
  bool log_is_open_ = true;
  int64_t log_bytes_ = 0;
  std::shared_ptr<Inbox> inbox_;
  Heap heap_;
  JSRuntime* runtime_ = nullptr;
  JSContext* context_ = nullptr;
  std::unique_ptr<Waiting> waiting_;
};

}  // namespace weir::script
