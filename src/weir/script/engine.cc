#include "weir/script/engine.h"

#include <quickjs.h>

#include <algorithm>
#include <list>
#include <mutex>
#include <unordered_map>
#include <utility>
#include <vector>

#include "weir/base/assert.h"
#include "weir/base/utf8.h"
#include "weir/script/parameters_internal.h"
#include "weir/script/source_map_internal.h"
#include "weir/script/text_internal.h"
#include "weir/script/thrown_internal.h"
#include "weir/script/web_sources.h"
#include "weir/script/world_internal.h"
#include "weir/sys/hash.h"

namespace weir::script {
namespace {

constexpr int kCompile = JS_EVAL_TYPE_MODULE | JS_EVAL_FLAG_COMPILE_ONLY;

// Of Check, which is given no limits. A script of 4 MiB takes a second.
constexpr sys::Duration kMaxCompileTime = std::chrono::seconds(10);

std::string WriteCode(JSContext* context, JSValueConst code, int flags) {
  size_t size = 0;
  uint8_t* bytes = JS_WriteObject(context, &size, code, JS_WRITE_OBJ_BYTECODE | flags);
  if (bytes == nullptr) {
    JS_FreeValue(context, JS_GetException(context));
    return "";
  }
  std::string written(reinterpret_cast<const char*>(bytes), size);
  js_free(context, bytes);
  return written;
}

// A host for worlds that only compile.
class NoHost final : public Host {
 public:
  void Fetch(Request, Reply) override {}
  void Log(Level, std::string_view) override {}
};

// In the order of WebPart.
constexpr std::array<std::string_view, kWebParts> kWebSources = {kWebConsole, kWebFetch, kWebUrl,
                                                                 kWebRest};

WebCode CompileWeb() {
  NoHost host;
  const sys::Stop stop;
  WebCode code;
  const auto world = World::Make(Limits(), host, stop, code);
  WEIR_ASSERT(world != nullptr);
  JSContext* context = world->context();
  for (size_t part = 0; part < kWebParts; ++part) {
    const std::string text(kWebSources[part]);  // The engine wants a NUL at the end.
    const JSValue compiled = JS_Eval(context, text.c_str(), text.size(), "web",
                                     JS_EVAL_TYPE_GLOBAL | JS_EVAL_FLAG_COMPILE_ONLY);
    if (JS_IsException(compiled)) {
      const JSValue thrown = JS_GetException(context);
      const Thrown words = Describe(context, thrown);
      AssertionFailed("web/ compiles", (words.message + words.stack).c_str(), 0);
    }
    code[part] = WriteCode(context, compiled, JS_WRITE_OBJ_STRIP_SOURCE | JS_WRITE_OBJ_STRIP_DEBUG);
  }
  return code;
}

// Compiled texts that were run last, found by hash and compared whole.
class CodeCache {
 public:
  std::shared_ptr<const std::string> Find(const Script& script) {
    const uint64_t key = KeyOf(script);
    const std::lock_guard lock(mutex_);
    const auto found = entries_.find(key);
    if (found == entries_.end()) return nullptr;
    Entry& entry = *found->second;
    if (entry.script.name != script.name || entry.script.text != script.text) return nullptr;
    by_use_.splice(by_use_.begin(), by_use_, found->second);
    return entry.code;
  }

  void Put(const Script& script, std::string code) {
    const uint64_t key = KeyOf(script);
    const std::lock_guard lock(mutex_);
    if (const auto found = entries_.find(key); found != entries_.end()) Drop(found->second);
    by_use_.push_front({key, script, std::make_shared<const std::string>(std::move(code))});
    entries_[key] = by_use_.begin();
    bytes_ += by_use_.front().Bytes();
    while (bytes_ > kMaxBytes && by_use_.size() > 1) Drop(std::prev(by_use_.end()));
  }

 private:
  // The scripts of a busy worker, some KiB each, and one of the longest.
  static constexpr size_t kMaxBytes = size_t{32} << 20;

  struct Entry {
    uint64_t key;
    Script script;
    std::shared_ptr<const std::string> code;

    size_t Bytes() const { return script.name.size() + script.text.size() + code->size(); }
  };

  static uint64_t KeyOf(const Script& script) {
    return sys::Xxh3(AsBytes(script.text)) ^ (sys::Xxh3(AsBytes(script.name)) >> 1);
  }

  void Drop(std::list<Entry>::iterator entry) {
    bytes_ -= entry->Bytes();
    entries_.erase(entry->key);
    by_use_.erase(entry);
  }

  std::mutex mutex_;
  std::list<Entry> by_use_;  // The last used first.
  std::unordered_map<uint64_t, std::list<Entry>::iterator> entries_;
  size_t bytes_ = 0;
};

Status CheckText(const Script& script) {
  if (script.text.size() > kMaxScriptBytes) {
    return Fail(Code::kInvalid, "script '{}' has {} bytes; at most {}", script.name,
                script.text.size(), kMaxScriptBytes);
  }
  if (!IsUtf8(script.text) || !IsUtf8(script.name)) {
    return Fail(Code::kInvalid, "script '{}' is not UTF-8: store it again in that encoding",
                AsUtf8(script.name));
  }
  if (script.name.find('\0') != std::string::npos) {
    return Fail(Code::kInvalid, "a script's name holds a NUL");
  }
  return Ok();
}

Status CheckLimits(const Limits& limits) {
  if (limits.memory_bytes < kMinMemoryBytes) {
    return Fail(Code::kInvalid, "a script's memory limit is {} bytes; at least {}",
                limits.memory_bytes, kMinMemoryBytes);
  }
  if (limits.stack_bytes <= 0 || limits.stack_bytes > kMaxStackBytes) {
    return Fail(Code::kInvalid, "a script's stack limit is {} bytes; at most {}, and above 0",
                limits.stack_bytes, kMaxStackBytes);
  }
  if (limits.result_bytes <= 0 || limits.log_bytes < 0) {
    return Fail(Code::kInvalid, "a script's limits of result and log are above 0");
  }
  return Ok();
}

// One run, from the compiled module to its outcome.
class Run {
 public:
  Run(World& world, const Script& script) : world_(world), script_(script) {}

  Result<Outcome> Do(CodeCache& cache, std::string_view arguments) {
    WEIR_TRY(const JSValue values, ReadArguments(arguments), "script '{}'", script_.name);
    if (failed_) return Finish();
    JSModuleDef* module = Load(cache);
    if (module == nullptr) return Finish();
    CallMain(JS_GetModuleNamespace(context_, module), values);
    return Finish();
  }

 private:
  // An object, or an exception that ended the run.
  Result<JSValue> ReadArguments(std::string_view text) {
    if (!IsUtf8(text)) return Fail(Code::kInvalid, "its arguments are not UTF-8");
    const std::string ended(text);  // The engine wants a NUL at the end.
    const JSValue values = JS_ParseJSON(context_, ended.c_str(), ended.size(), "arguments");
    if (JS_IsException(values)) {
      const JSValue thrown = JS_GetException(context_);
      const Thrown words = Describe(context_, thrown);
      if (world_.Passed() || words.end == End::kOutOfMemory) {
        End(words);
        return JSValue(JS_UNDEFINED);
      }
      return Fail(Code::kInvalid, "its arguments are no JSON: {}", words.message);
    }
    if (!JS_IsObject(values) || JS_IsArray(values)) {
      return Fail(Code::kInvalid, "its arguments are no JSON object: say {{\"name\": value}}");
    }
    return values;
  }

  // Compiles or finds the module and runs its top level; null when the run is over.
  JSModuleDef* Load(CodeCache& cache) {
    const auto cached = cache.Find(script_);
    JSValue code = JS_UNDEFINED;
    if (cached != nullptr) {
      code = JS_ReadObject(context_, reinterpret_cast<const uint8_t*>(cached->data()),
                           cached->size(), JS_READ_OBJ_BYTECODE);
    } else {
      code = JS_Eval(context_, script_.text.c_str(), script_.text.size(), script_.name.c_str(),
                     kCompile);
    }
    if (JS_IsException(code)) return EndSyntax();
    if (cached == nullptr) {
      std::string written = WriteCode(context_, code, 0);
      if (!written.empty()) cache.Put(script_, std::move(written));
    }
    auto* module = static_cast<JSModuleDef*>(JS_VALUE_GET_PTR(code));
    if (JS_ResolveModule(context_, code) < 0) return EndSyntax();
    const JSValue done = JS_EvalFunction(context_, code);
    if (JS_IsException(done)) return EndThrown();
    return Await(done) ? module : nullptr;
  }

  void CallMain(JSValueConst exported, JSValueConst values) {
    const JSValue main = JS_GetPropertyStr(context_, exported, "main");
    if (!JS_IsFunction(context_, main)) {
      JS_FreeValue(context_, JS_GetException(context_));
      return EndWith(End::kNoMain,
                     "it exports no function `main`: write `export async function main() {}`");
    }
    std::vector<JSValue> picked;
    if (!Pick(main, values, picked)) return;
    JSValue result =
        JS_Call(context_, main, JS_UNDEFINED, static_cast<int>(picked.size()), picked.data());
    if (JS_IsException(result)) {
      EndThrown();
      return;
    }
    if (JS_IsObject(result)) {
      if (!JS_IsPromise(result)) result = Adopt(result);
      if (JS_IsException(result)) {
        EndThrown();
        return;
      }
      if (!Await(result)) return;
      result = JS_PromiseResult(context_, result);
    }
    Stringify(result);
    world_.ReportUnhandled();
  }

  // A promise of any object: what has a `then` is waited for, as `await` does.
  JSValue Adopt(JSValueConst object) {
    JSValue settle[2] = {JS_UNDEFINED, JS_UNDEFINED};
    const JSValue promise = JS_NewPromiseCapability(context_, settle);
    if (JS_IsException(promise)) return promise;
    const JSValue called = JS_Call(context_, settle[0], JS_UNDEFINED, 1, &object);
    return JS_IsException(called) ? called : promise;
  }

  // The arguments that main's parameters name.
  bool Pick(JSValueConst main, JSValueConst values, std::vector<JSValue>& picked) {
    size_t size = 0;
    const char* text = JS_ToCStringLen(context_, &size, main);
    if (text == nullptr) return EndThrown(), false;
    const auto names = ParametersOf({text, size});
    JS_FreeCString(context_, text);
    if (!names.ok()) return EndWith(End::kNoMain, names.error().message), false;
    for (const std::string& name : names.value()) {
      if (name.empty()) {
        picked.push_back(JS_DupValue(context_, values));
        continue;
      }
      const JSAtom atom = JS_NewAtomLen(context_, name.data(), name.size());
      JSPropertyDescriptor member{};
      const int there = JS_GetOwnProperty(context_, &member, values, atom);
      JS_FreeAtom(context_, atom);
      if (there < 0) return EndThrown(), false;
      picked.push_back(there == 0 ? JS_UNDEFINED : member.value);
    }
    return true;
  }

  bool Await(JSValueConst promise) {
    JSValue thrown = JS_UNDEFINED;
    switch (world_.Settle(promise, thrown)) {
      case Settled::kKept: return true;
      case Settled::kBroken: End(Describe(context_, thrown)); break;
      case Settled::kStuck:
        EndWith(End::kStuck,
                "the script waits for something that never comes: no timer and no request is left");
        break;
      case Settled::kHalted: End(Thrown()); break;
    }
    return false;
  }

  void Stringify(JSValueConst value) {
    const JSValue json = JS_JSONStringify(context_, value, JS_UNDEFINED, JS_UNDEFINED);
    if (JS_IsException(json)) {
      const JSValue thrown = JS_GetException(context_);
      Thrown words = Describe(context_, thrown);
      if (words.end == End::kThrew) {
        words.end = End::kNotJson;
        words.message = "what main returned cannot be said in JSON: " + words.message;
      }
      return End(words);
    }
    if (world_.Passed()) return End(Thrown());
    if (JS_IsUndefined(json)) {
      outcome_.result = "null";
      return;
    }
    size_t size = 0;
    const char* text = JS_ToCStringLen(context_, &size, json);
    if (text == nullptr) {
      EndThrown();
      return;
    }
    if (static_cast<int64_t>(size) <= world_.limits().result_bytes) {
      outcome_.result.assign(text, size);
    } else {
      EndWith(End::kResultTooLarge,
              fmt::format("what main returned is {} bytes of JSON; at most {}", size,
                          world_.limits().result_bytes));
    }
    JS_FreeCString(context_, text);
  }

  // ---- Ends ----

  JSModuleDef* EndThrown() {
    const JSValue thrown = JS_GetException(context_);
    End(Describe(context_, thrown));
    return nullptr;
  }

  JSModuleDef* EndSyntax() {
    const JSValue thrown = JS_GetException(context_);
    Thrown words = Describe(context_, thrown);
    if (words.end == script::End::kThrew) words.end = script::End::kSyntax;
    End(std::move(words));
    return nullptr;
  }

  void EndWith(script::End end, std::string message) { End({end, std::move(message), ""}); }

  // A limit that is passed tells more than what the script made of it.
  void End(Thrown words) {
    failed_ = true;
    outcome_.result.clear();
    const Limits& limits = world_.limits();
    if (world_.Passed()) {
      words.stack.clear();
      if (world_.halt() == Halt::kWallTime) {
        words.end = script::End::kWallTime;
        words.message = fmt::format("the script ran for longer than {} ms",
                                    sys::Millis(limits.wall_time));
      } else {
        words.end = script::End::kCpuTime;
        words.message = fmt::format("the script used the processor for longer than {} ms",
                                    sys::Millis(limits.cpu_time));
      }
    } else if (words.end == script::End::kOutOfMemory) {
      words.message = fmt::format("the script needs more memory than {} bytes",
                                  limits.memory_bytes);
    } else if (words.end == script::End::kStackOverflow) {
      words.message = fmt::format("the script's calls nest deeper than {} bytes of stack hold",
                                  limits.stack_bytes);
    }
    outcome_.end = words.end;
    outcome_.message = std::move(words.message);
    if (words.stack.empty()) return;
    const SourceMap map(script_.text);
    outcome_.stack = map.Rewrite(words.stack, script_.name);
  }

  Result<Outcome> Finish() {
    if (world_.halt() == Halt::kStop) {
      return Fail(Code::kCancelled, "script '{}' was stopped on request", script_.name);
    }
    outcome_.peak_memory_bytes = world_.peak_memory_bytes();
    outcome_.cpu_time = world_.cpu_time();
    return std::move(outcome_);
  }

  World& world_;
  JSContext* context_ = world_.context();
  const Script& script_;
  Outcome outcome_;
  bool failed_ = false;
};

}  // namespace

std::string_view EndName(End end) {
  switch (end) {
    case End::kReturned: return "returned";
    case End::kSyntax: return "syntax";
    case End::kNoMain: return "no_main";
    case End::kThrew: return "threw";
    case End::kStuck: return "stuck";
    case End::kOutOfMemory: return "out_of_memory";
    case End::kStackOverflow: return "stack_overflow";
    case End::kCpuTime: return "cpu_time";
    case End::kWallTime: return "wall_time";
    case End::kNotJson: return "not_json";
    case End::kResultTooLarge: return "result_too_large";
  }
  return "unknown";
}

struct Engine::Shared {
  const WebCode web = CompileWeb();
  CodeCache cache;
};

Engine::Engine() : shared_(std::make_unique<Shared>()) {}
Engine::~Engine() = default;

Result<Outcome> Engine::Run(const Script& script, std::string_view arguments, const Limits& limits,
                            Host& host, const sys::Stop& stop) {
  WEIR_DO(CheckText(script));
  WEIR_DO(CheckLimits(limits), "script '{}'", script.name);
  const auto world = World::Make(limits, host, stop, shared_->web);
  if (world == nullptr) {
    return Fail(Code::kExhausted, "script '{}': this process has no memory for it", script.name);
  }
  return script::Run(*world, script).Do(shared_->cache, arguments);
}

Status Engine::Check(const Script& script) {
  WEIR_DO(CheckText(script));
  NoHost host;
  const sys::Stop stop;
  Limits limits;
  limits.cpu_time = kMaxCompileTime;
  const auto world = World::Make(limits, host, stop, shared_->web);
  if (world == nullptr) {
    return Fail(Code::kExhausted, "script '{}': this process has no memory for it", script.name);
  }
  JSContext* context = world->context();
  const JSValue code = JS_Eval(context, script.text.c_str(), script.text.size(),
                               script.name.c_str(), kCompile);
  if (!JS_IsException(code)) return Ok();
  if (world->Passed()) {
    return Fail(Code::kInvalid, "script '{}' takes longer than {} ms to compile: split it",
                script.name, sys::Millis(kMaxCompileTime));
  }
  const JSValue thrown = JS_GetException(context);
  const Thrown words = Describe(context, thrown);
  const SourceMap map(script.text);
  return Fail(Code::kInvalid, "script '{}': {}\n{}", script.name, words.message,
              map.Rewrite(words.stack, script.name));
}

}  // namespace weir::script
