#include "weir/script/world_internal.h"

#include <quickjs.h>

#include <algorithm>
#include <map>
#include <set>
#include <tuple>
#include <unordered_map>
#include <utility>
#include <vector>

#include "weir/base/assert.h"
#include "weir/base/utf8.h"
#include "weir/script/natives_internal.h"
#include "weir/script/text_internal.h"
#include "weir/script/thrown_internal.h"
#include "weir/sys/process.h"

namespace weir::script {
namespace {

// Until a script's own limit holds: a bare context takes 0.2 MiB.
constexpr size_t kBuildBytes = size_t{1} << 20;
// The engine looks for cycles when this much more lives than after the last look. A job rarely
// makes that much; its world is swept at its end anyhow.
constexpr size_t kFirstCollection = size_t{4} << 20;

const JSMallocFunctions kHeapFunctions = {
    .js_calloc = &Heap::AllocateZeroed,
    .js_malloc = &Heap::Allocate,
    .js_free = &Heap::Free,
    .js_realloc = &Heap::Reallocate,
    .js_malloc_usable_size = &Heap::UsableSize,
};

int OnInterrupt(JSRuntime*, void* world) { return static_cast<World*>(world)->Passed() ? 1 : 0; }

char* RefuseModule(JSContext* context, const char*, const char* name, void*) {
  JS_ThrowTypeError(context, "cannot import '%s': a script has no modules but itself", name);
  return nullptr;
}

JSValue TextValue(JSContext* context, std::string_view text) {
  return JS_NewStringLen(context, text.data(), text.size());
}

// The list that web/fetch.js makes a Response of: status, its text, the URL, headers one after
// another, the body. Values become undefined when memory runs out, and the exception is set.
JSValue ResponseValue(JSContext* context, const Response& response) {
  const JSValue headers = JS_NewArray(context);
  uint32_t at = 0;
  for (const auto& [name, value] : response.headers) {
    JS_SetPropertyUint32(context, headers, at++, TextValue(context, AsUtf8(name)));
    JS_SetPropertyUint32(context, headers, at++, TextValue(context, AsUtf8(value)));
  }
  JSValue values[] = {
      JS_NewInt32(context, response.status), TextValue(context, AsUtf8(response.status_text)),
      TextValue(context, AsUtf8(response.url)), headers,
      JS_NewUint8ArrayCopy(context, reinterpret_cast<const uint8_t*>(response.body.data()),
                           response.body.size())};
  return JS_NewArrayFrom(context, std::size(values), values);
}

}  // namespace

// Also what else of a world holds values of the engine.
struct World::Waiting {
  struct Timer {
    JSValue callback;
    std::vector<JSValue> arguments;
    sys::Duration due;
    sys::Duration interval;  // 0: once.
    uint64_t turn;           // Timers of the same time go in the order they were set.
  };
  struct Sent {
    JSValue keep;
    JSValue refuse;
  };

  std::unordered_map<uint32_t, Timer> timers;
  std::set<std::tuple<sys::Duration, uint64_t, uint32_t>> queue;
  std::unordered_map<uint64_t, Sent> sent;
  std::array<JSValue, kWebParts> web{JS_UNDEFINED, JS_UNDEFINED, JS_UNDEFINED, JS_UNDEFINED};
  // Broken promises that nobody looked at. They are held, so that no other gets their place.
  std::map<void*, JSValue> unhandled;
  uint32_t last_timer = 0;
  uint64_t last_turn = 0;
  uint64_t last_sent = 0;

  static void OnRejection(JSContext* context, JSValueConst promise, JSValueConst, bool is_handled,
                          void* waiting) {
    auto& self = *static_cast<Waiting*>(waiting);
    if (is_handled) {
      self.Handle(context, promise);
    } else if (self.unhandled.size() < kMaxWaiting) {
      self.unhandled.emplace(JS_VALUE_GET_PTR(promise), JS_DupValue(context, promise));
    }
  }

  void Handle(JSContext* context, JSValueConst promise) {
    const auto found = unhandled.find(JS_VALUE_GET_PTR(promise));
    if (found == unhandled.end()) return;
    JS_FreeValue(context, found->second);
    unhandled.erase(found);
  }
};

World::World(const Limits& limits, Host& host, const sys::Stop& stop, const WebCode& web)
    : limits_(limits),
      host_(host),
      stop_(stop),
      web_(web),
      began_(sys::SteadyNow()),
      cpu_began_(sys::ThreadCpuTime()),
      inbox_(std::make_shared<Inbox>()),
      waiting_(std::make_unique<Waiting>()) {}

World::~World() { inbox_->Close(); }

std::unique_ptr<World> World::Make(const Limits& limits, Host& host, const sys::Stop& stop,
                                   const WebCode& web) {
  std::unique_ptr<World> world(new World(limits, host, stop, web));
  return world->Build() ? std::move(world) : nullptr;
}

bool World::Build() {
  runtime_ = JS_NewRuntime2(&kHeapFunctions, &heap_);
  if (runtime_ == nullptr) return false;
  JS_SetMemoryLimit(runtime_, kBuildBytes);
  JS_SetMaxStackSize(runtime_, static_cast<size_t>(limits_.stack_bytes));
  JS_SetGCThreshold(runtime_, kFirstCollection);
  context_ = JS_NewContext(runtime_);
  if (context_ == nullptr) return false;
  JS_SetContextOpaque(context_, this);
  if (!AddNatives(context_)) return false;
  JS_SetModuleLoaderFunc(runtime_, RefuseModule, nullptr, nullptr);
  JS_SetHostPromiseRejectionTracker(runtime_, Waiting::OnRejection, waiting_.get());
  JS_SetInterruptHandler(runtime_, OnInterrupt, this);
  JS_SetMemoryLimit(runtime_, static_cast<size_t>(limits_.memory_bytes));
  return true;
}

World& World::Of(JSContext* context) {
  return *static_cast<World*>(JS_GetContextOpaque(context));
}

sys::Duration World::cpu_time() const { return sys::ThreadCpuTime() - cpu_began_; }

bool World::Passed() {
  if (halt_ != Halt::kNone) return true;
  if (stop_.asked()) {
    halt_ = Halt::kStop;
  } else if (limits_.wall_time.count() > 0 && sys::SteadyNow() - began_ >= limits_.wall_time) {
    halt_ = Halt::kWallTime;
  } else if (limits_.cpu_time.count() > 0 && cpu_time() >= limits_.cpu_time) {
    halt_ = Halt::kCpuTime;
  }
  return halt_ != Halt::kNone;
}

// ---- Waiting ----

Settled World::Settle(const JSValue& promise, JSValue& thrown) {
  while (true) {
    if (!RunJobs(thrown)) return halt_ == Halt::kNone ? Settled::kBroken : Settled::kHalted;
    if (Passed()) return Settled::kHalted;
    switch (JS_PromiseState(context_, promise)) {
      case JS_PROMISE_FULFILLED: return Settled::kKept;
      case JS_PROMISE_REJECTED:
        thrown = JS_PromiseResult(context_, promise);
        waiting_->Handle(context_, promise);
        return Settled::kBroken;
      default: break;
    }
    if (!GiveAnswers() || !RunDueTimer()) {
      thrown = JS_GetException(context_);
      return Passed() ? Settled::kHalted : Settled::kBroken;
    }
    if (JS_IsJobPending(runtime_)) continue;
    if (!WaitForMore()) return Passed() ? Settled::kHalted : Settled::kStuck;
  }
}

bool World::RunJobs(JSValue& thrown) {
  JSContext* where = nullptr;
  while (true) {
    const int ran = JS_ExecutePendingJob(runtime_, &where);
    if (ran == 0) return true;
    if (ran < 0) {
      thrown = JS_GetException(where == nullptr ? context_ : where);
      Passed();
      return false;
    }
    if (halt_ != Halt::kNone) return false;
  }
}

bool World::GiveAnswers() {
  if (waiting_->sent.empty()) return true;
  for (Inbox::Answer& answer : inbox_->Take()) {
    if (!GiveAnswer(std::move(answer))) return false;
  }
  return true;
}

bool World::GiveAnswer(Inbox::Answer answer) {
  const auto found = waiting_->sent.find(answer.id);
  if (found == waiting_->sent.end()) return true;
  const Waiting::Sent sent = found->second;
  waiting_->sent.erase(found);
  const bool good = answer.response.ok();
  JSValue value;
  if (good) {
    value = ResponseValue(context_, answer.response.value());
  } else {
    JS_ThrowTypeError(context_, "%s", AsUtf8(answer.response.error().message).c_str());
    value = JS_GetException(context_);
  }
  if (JS_HasException(context_)) return false;  // The answer is larger than what memory is left.
  const JSValue ignored =
      JS_Call(context_, good ? sent.keep : sent.refuse, JS_UNDEFINED, 1, &value);
  JS_FreeValue(context_, value);
  JS_FreeValue(context_, sent.keep);
  JS_FreeValue(context_, sent.refuse);
  if (JS_IsException(ignored)) return false;
  JS_FreeValue(context_, ignored);
  return true;
}

bool World::RunDueTimer() {
  if (waiting_->queue.empty()) return true;
  const auto [due, turn, id] = *waiting_->queue.begin();
  if (due > sys::SteadyNow()) return true;
  waiting_->queue.erase(waiting_->queue.begin());
  Waiting::Timer& timer = waiting_->timers.at(id);
  const JSValue callback = JS_DupValue(context_, timer.callback);
  std::vector<JSValue> arguments;
  for (const JSValue& one : timer.arguments) arguments.push_back(JS_DupValue(context_, one));
  if (timer.interval.count() > 0) {
    timer.due = sys::SteadyNow() + timer.interval;
    timer.turn = ++waiting_->last_turn;
    waiting_->queue.emplace(timer.due, timer.turn, id);
  } else {
    RemoveTimer(id);
  }
  const JSValue ignored = JS_Call(context_, callback, JS_UNDEFINED,
                                  static_cast<int>(arguments.size()), arguments.data());
  JS_FreeValue(context_, callback);
  for (const JSValue& one : arguments) JS_FreeValue(context_, one);
  if (JS_IsException(ignored)) return false;
  JS_FreeValue(context_, ignored);
  return true;
}

bool World::WaitForMore() {
  if (waiting_->queue.empty() && waiting_->sent.empty()) return false;
  // Without an end: look at least once an hour.
  sys::Duration end = sys::SteadyNow() + std::chrono::hours(1);
  if (!waiting_->queue.empty()) end = std::min(end, std::get<0>(*waiting_->queue.begin()));
  if (limits_.wall_time.count() > 0) end = std::min(end, began_ + limits_.wall_time);
  inbox_->WaitUntil(end, stop_);
  return !Passed();
}

void World::ReportUnhandled() {
  for (const auto& [key, promise] : std::exchange(waiting_->unhandled, {})) {
    const JSValue reason = JS_PromiseResult(context_, promise);
    Print(Level::kError, "a promise that nobody awaits broke: " + MessageOf(context_, reason));
    if (!log_is_open_ || halt_ != Halt::kNone) return;
  }
}

// ---- What natives ask for ----

void World::Print(Level level, std::string_view text) {
  while (log_is_open_) {
    const size_t end = std::min(text.find('\n'), text.size());
    const std::string line = AsUtf8(text.substr(0, end));
    log_bytes_ += static_cast<int64_t>(line.size()) + 1;
    if (log_bytes_ > limits_.log_bytes) {
      log_is_open_ = false;
      host_.Log(Level::kWarn,
                fmt::format("this script's log is longer than {} bytes; what follows is left out",
                            limits_.log_bytes));
      return;
    }
    host_.Log(level, line);
    if (end == text.size()) return;
    text.remove_prefix(end + 1);
  }
}

uint32_t World::AddTimer(const JSValue& callback, int count, const JSValue* arguments,
                         sys::Duration delay, bool repeat) {
  if (waiting_->timers.size() >= kMaxWaiting) return 0;
  Waiting::Timer timer{JS_DupValue(context_, callback), {}, sys::SteadyNow() + delay,
                       repeat ? delay : sys::Duration(0), ++waiting_->last_turn};
  for (int at = 0; at < count; ++at) {
    timer.arguments.push_back(JS_DupValue(context_, arguments[at]));
  }
  const uint32_t id = ++waiting_->last_timer;
  waiting_->queue.emplace(timer.due, timer.turn, id);
  waiting_->timers.emplace(id, std::move(timer));
  return id;
}

void World::RemoveTimer(uint32_t id) {
  const auto found = waiting_->timers.find(id);
  if (found == waiting_->timers.end()) return;
  const Waiting::Timer timer = std::move(found->second);
  waiting_->timers.erase(found);
  waiting_->queue.erase({timer.due, timer.turn, id});
  JS_FreeValue(context_, timer.callback);
  for (const JSValue& one : timer.arguments) JS_FreeValue(context_, one);
}

uint64_t World::Fetch(Request request, JSValue& promise) {
  if (waiting_->sent.size() >= kMaxWaiting) return 0;
  JSValue settle[2] = {JS_UNDEFINED, JS_UNDEFINED};
  promise = JS_NewPromiseCapability(context_, settle);
  const uint64_t id = ++waiting_->last_sent;
  if (JS_IsException(promise)) return id;
  waiting_->sent.emplace(id, Waiting::Sent{settle[0], settle[1]});
  inbox_->Expect(id);
  host_.Fetch(std::move(request), Reply(inbox_, id));
  return id;
}

void World::ForgetFetch(uint64_t id) {
  inbox_->Forget(id);
  const auto found = waiting_->sent.find(id);
  if (found == waiting_->sent.end()) return;
  JS_FreeValue(context_, found->second.keep);
  JS_FreeValue(context_, found->second.refuse);
  waiting_->sent.erase(found);
}

JSValue World::Web(WebPart part) {
  JSValue& loaded = waiting_->web[static_cast<size_t>(part)];
  if (!JS_IsUndefined(loaded)) return JS_DupValue(context_, loaded);
  const std::string& bytes = web_[static_cast<size_t>(part)];
  const JSValue code = JS_ReadObject(context_, reinterpret_cast<const uint8_t*>(bytes.data()),
                                     bytes.size(), JS_READ_OBJ_BYTECODE);
  if (JS_IsException(code)) return JS_EXCEPTION;
  const JSValue make = JS_EvalFunction(context_, code);
  if (JS_IsException(make)) return JS_EXCEPTION;
  JSValue natives = NativesForWeb(context_, part);
  const JSValue globals = JS_Call(context_, make, JS_UNDEFINED, 1, &natives);
  JS_FreeValue(context_, make);
  JS_FreeValue(context_, natives);
  if (JS_IsException(globals)) return JS_EXCEPTION;
  loaded = globals;
  return JS_DupValue(context_, globals);
}

}  // namespace weir::script
