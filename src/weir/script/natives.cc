#include "weir/script/natives_internal.h"

#include <quickjs.h>
#include <sys/random.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <string>
#include <string_view>
#include <utility>

#include "weir/script/text_internal.h"

namespace weir::script {
namespace {

struct LazyGlobal {
  const char* name;
  WebPart part;
};
constexpr std::array kLazy = {
    LazyGlobal{"console", WebPart::kConsole},      LazyGlobal{"fetch", WebPart::kFetch},
    LazyGlobal{"Headers", WebPart::kFetch},        LazyGlobal{"Request", WebPart::kFetch},
    LazyGlobal{"Response", WebPart::kFetch},       LazyGlobal{"URL", WebPart::kUrl},
    LazyGlobal{"URLSearchParams", WebPart::kUrl},  LazyGlobal{"TextEncoder", WebPart::kRest},
    LazyGlobal{"TextDecoder", WebPart::kRest},     LazyGlobal{"AbortController", WebPart::kRest},
    LazyGlobal{"AbortSignal", WebPart::kRest},     LazyGlobal{"Event", WebPart::kRest},
    LazyGlobal{"EventTarget", WebPart::kRest},     LazyGlobal{"crypto", WebPart::kRest},
    LazyGlobal{"structuredClone", WebPart::kRest}};
constexpr int kShared = JS_PROP_WRITABLE | JS_PROP_CONFIGURABLE;  // As the language's own globals.

// The text of a value as UTF-8; null with an exception set when it has none.
class Text {
 public:
  Text(JSContext* context, JSValueConst value) : context_(context) {
    text_ = JS_ToCStringLen(context, &size_, value);
  }
  ~Text() {
    if (text_ != nullptr) JS_FreeCString(context_, text_);
  }
  Text(const Text&) = delete;
  Text& operator=(const Text&) = delete;

  bool ok() const { return text_ != nullptr; }
  std::string_view view() const { return {text_, size_}; }
  std::string Utf8() const { return AsUtf8(view()); }

 private:
  JSContext* context_;
  const char* text_;
  size_t size_ = 0;
};

JSValue TextValue(JSContext* context, std::string_view text) {
  return JS_NewStringLen(context, text.data(), text.size());
}

// ---- Timers ----

JSValue SetTimer(JSContext* context, JSValueConst, int count, JSValueConst* values, int repeat) {
  if (count < 1 || !JS_IsFunction(context, values[0])) {
    return JS_ThrowTypeError(context, "a timer calls a function, and was given none");
  }
  double delay = 0;
  if (count > 1 && JS_ToFloat64(context, &delay, values[1]) != 0) return JS_EXCEPTION;
  constexpr double kLongest = 2147483647;  // As everywhere: what is longer is over at once.
  if (!(delay > 0) || delay > kLongest) delay = 0;
  if (repeat != 0) delay = std::max(delay, 1.0);
  const std::chrono::duration<double, std::milli> milliseconds(delay);
  const uint32_t id = World::Of(context).AddTimer(
      values[0], std::max(count - 2, 0), values + 2,
      std::chrono::duration_cast<sys::Duration>(milliseconds), repeat != 0);
  if (id == 0) {
    return JS_ThrowRangeError(context, "%zu timers wait already: wait for some, or clear them",
                              kMaxWaiting);
  }
  return JS_NewUint32(context, id);
}

JSValue ClearTimer(JSContext* context, JSValueConst, int count, JSValueConst* values) {
  uint32_t id = 0;
  if (count > 0 && JS_IsNumber(values[0]) && JS_ToUint32(context, &id, values[0]) == 0) {
    World::Of(context).RemoveTimer(id);
  }
  return JS_UNDEFINED;
}

JSValue RunMicrotask(JSContext* context, int, JSValueConst* values) {
  return JS_Call(context, values[0], JS_UNDEFINED, 0, nullptr);
}

JSValue QueueMicrotask(JSContext* context, JSValueConst, int count, JSValueConst* values) {
  if (count < 1 || !JS_IsFunction(context, values[0])) {
    return JS_ThrowTypeError(context, "queueMicrotask was given no function");
  }
  return JS_EnqueueJob(context, RunMicrotask, 1, values) < 0 ? JS_EXCEPTION : JS_UNDEFINED;
}

// ---- For web/ ----

JSValue LogIsOpen(JSContext* context, JSValueConst, int, JSValueConst*) {
  return JS_NewBool(context, World::Of(context).log_is_open());
}

JSValue Print(JSContext* context, JSValueConst, int, JSValueConst* values) {
  int32_t level = 0;
  const Text text(context, values[1]);
  if (!text.ok() || JS_ToInt32(context, &level, values[0]) != 0) return JS_EXCEPTION;
  World::Of(context).Print(static_cast<Level>(std::clamp(level, 0, 3)), text.view());
  return JS_UNDEFINED;
}

JSValue Encode(JSContext* context, JSValueConst, int, JSValueConst* values) {
  const Text text(context, values[0]);
  if (!text.ok()) return JS_EXCEPTION;
  const std::string utf8 = text.Utf8();
  return JS_NewUint8ArrayCopy(context, reinterpret_cast<const uint8_t*>(utf8.data()), utf8.size());
}

JSValue Decode(JSContext* context, JSValueConst, int, JSValueConst* values) {
  size_t size = 0;
  const uint8_t* bytes = JS_GetUint8Array(context, &size, values[0]);
  if (bytes == nullptr && size != 0) return JS_EXCEPTION;
  const std::string_view text(reinterpret_cast<const char*>(bytes), size);
  if (size == 0 || IsUtf8(text)) return TextValue(context, text);
  if (JS_ToBool(context, values[1]) != 0) {
    return JS_ThrowTypeError(context, "the bytes are no UTF-8");
  }
  return TextValue(context, AsUtf8(text));
}

bool FillRandom(uint8_t* bytes, size_t size) {
  size_t filled = 0;
  while (filled < size) {
    const ssize_t got = getrandom(bytes + filled, size - filled, 0);
    if (got <= 0) return false;
    filled += static_cast<size_t>(got);
  }
  return true;
}

JSValue RandomBytes(JSContext* context, JSValueConst, int, JSValueConst* values) {
  constexpr size_t kMostBytes = 65536;  // As the web's standard has it.
  size_t size = 0;
  uint8_t* bytes = JS_GetUint8Array(context, &size, values[0]);
  if (bytes == nullptr && size != 0) return JS_EXCEPTION;
  if (size > kMostBytes) {
    return JS_ThrowRangeError(context, "at most %zu random bytes at once", kMostBytes);
  }
  if (!FillRandom(bytes, size)) return JS_ThrowInternalError(context, "no random bytes");
  return JS_UNDEFINED;
}

JSValue RandomUuid(JSContext* context, JSValueConst, int, JSValueConst*) {
  std::array<uint8_t, 16> bytes{};
  if (!FillRandom(bytes.data(), bytes.size())) {
    return JS_ThrowInternalError(context, "no random bytes");
  }
  bytes[6] = (bytes[6] & 0x0F) | 0x40;  // Version 4.
  bytes[8] = (bytes[8] & 0x3F) | 0x80;  // Variant 1.
  std::string text;
  for (size_t at = 0; at < bytes.size(); ++at) {
    if (at == 4 || at == 6 || at == 8 || at == 10) text += '-';
    text += fmt::format("{:02x}", bytes[at]);
  }
  return TextValue(context, text);
}

bool IsToken(std::string_view text) {
  return !text.empty() && std::all_of(text.begin(), text.end(), [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
           (c != '\0' && std::strchr("!#$%&'*+-.^_`|~", c) != nullptr);
  });
}

bool IsHeaderValue(std::string_view text) {
  return text.find_first_of(std::string_view("\0\r\n", 3)) == std::string_view::npos;
}

// A request must not become two: what would end a line of it is refused here, whatever web/ did.
bool IsSendable(const Request& request) {
  const bool url = (request.url.starts_with("http://") || request.url.starts_with("https://")) &&
                   std::all_of(request.url.begin(), request.url.end(),
                               [](char c) { return c > ' ' && c < '\x7F'; });
  return url && IsToken(request.method) &&
         std::all_of(request.headers.begin(), request.headers.end(), [](const auto& header) {
           return IsToken(header.first) && IsHeaderValue(header.second);
         });
}

// Reads the list of names and values one after another.
bool ReadHeaders(JSContext* context, JSValueConst list, Headers& headers) {
  int64_t count = 0;
  if (JS_GetLength(context, list, &count) != 0) return false;
  for (int64_t at = 0; at + 1 < count; at += 2) {
    std::array<std::string, 2> pair;
    for (size_t side = 0; side < 2; ++side) {
      const JSValue value = JS_GetPropertyInt64(context, list, at + static_cast<int64_t>(side));
      const Text text(context, value);
      JS_FreeValue(context, value);
      if (!text.ok()) return false;
      pair[side] = text.Utf8();
    }
    headers.emplace_back(std::move(pair[0]), std::move(pair[1]));
  }
  return true;
}

bool ReadBody(JSContext* context, JSValueConst value, std::string& body) {
  if (JS_IsNull(value)) return true;
  if (JS_IsString(value)) {
    const Text text(context, value);
    if (text.ok()) body = text.Utf8();
    return text.ok();
  }
  size_t size = 0;
  const uint8_t* bytes = JS_GetUint8Array(context, &size, value);
  if (bytes == nullptr && size != 0) return false;
  body.assign(reinterpret_cast<const char*>(bytes), size);
  return true;
}

// fetch(method, url, headers, body) -> [number, promise]
JSValue Fetch(JSContext* context, JSValueConst, int, JSValueConst* values) {
  Request request;
  {
    const Text method(context, values[0]);
    const Text url(context, values[1]);
    if (!method.ok() || !url.ok()) return JS_EXCEPTION;
    request.method = method.Utf8();
    request.url = url.Utf8();
  }
  if (!ReadHeaders(context, values[2], request.headers)) return JS_EXCEPTION;
  if (!ReadBody(context, values[3], request.body)) return JS_EXCEPTION;
  if (!IsSendable(request)) {
    return JS_ThrowTypeError(
        context, "cannot fetch '%.200s': want an http or https URL, and headers without line ends",
        request.url.c_str());
  }
  JSValue promise = JS_UNDEFINED;
  const uint64_t id = World::Of(context).Fetch(std::move(request), promise);
  if (id == 0) {
    return JS_ThrowRangeError(context, "%zu requests wait already: await some first", kMaxWaiting);
  }
  if (JS_IsException(promise)) return JS_EXCEPTION;
  JSValue pair[] = {JS_NewInt64(context, static_cast<int64_t>(id)), promise};
  return JS_NewArrayFrom(context, 2, pair);
}

JSValue Forget(JSContext* context, JSValueConst, int, JSValueConst* values) {
  int64_t id = 0;
  if (JS_ToInt64(context, &id, values[0]) != 0) return JS_EXCEPTION;
  World::Of(context).ForgetFetch(static_cast<uint64_t>(id));
  return JS_UNDEFINED;
}

// ---- Globals ----

// Puts the value in place of the getter, so that this is called once a global.
JSValue GetLazy(JSContext* context, JSValueConst, int, JSValueConst*, int index) {
  const LazyGlobal& lazy = kLazy[static_cast<size_t>(index)];
  const JSValue globals = World::Of(context).Web(lazy.part);
  if (JS_IsException(globals)) return JS_EXCEPTION;
  const JSValue value = JS_GetPropertyStr(context, globals, lazy.name);
  JS_FreeValue(context, globals);
  const JSValue global = JS_GetGlobalObject(context);
  const int defined = JS_DefinePropertyValueStr(context, global, lazy.name,
                                                JS_DupValue(context, value), kShared);
  JS_FreeValue(context, global);
  return defined < 0 ? JS_EXCEPTION : value;
}

JSValue SetLazy(JSContext* context, JSValueConst, int, JSValueConst* values, int index) {
  const JSValue global = JS_GetGlobalObject(context);
  const int defined =
      JS_DefinePropertyValueStr(context, global, kLazy[static_cast<size_t>(index)].name,
                                JS_DupValue(context, values[0]), kShared);
  JS_FreeValue(context, global);
  return defined < 0 ? JS_EXCEPTION : JS_UNDEFINED;
}

bool AddFunction(JSContext* context, JSValueConst object, const char* name, JSCFunction* function,
                 int length) {
  return JS_DefinePropertyValueStr(context, object, name,
                                   JS_NewCFunction(context, function, name, length), kShared) >= 0;
}

bool AddTimer(JSContext* context, JSValueConst object, const char* name, int repeat) {
  return JS_DefinePropertyValueStr(
             context, object, name,
             JS_NewCFunctionMagic(context, SetTimer, name, 2, JS_CFUNC_generic_magic, repeat),
             kShared) >= 0;
}

bool AddLazy(JSContext* context, JSValueConst global, int index) {
  const char* name = kLazy[static_cast<size_t>(index)].name;
  const JSAtom atom = JS_NewAtom(context, name);
  const int defined = JS_DefinePropertyGetSet(
      context, global, atom,
      JS_NewCFunctionMagic(context, GetLazy, name, 0, JS_CFUNC_generic_magic, index),
      JS_NewCFunctionMagic(context, SetLazy, name, 1, JS_CFUNC_generic_magic, index),
      JS_PROP_CONFIGURABLE);
  JS_FreeAtom(context, atom);
  return defined >= 0;
}

// part("url"): the globals of another part, whatever the script put in their place.
JSValue Part(JSContext* context, JSValueConst, int, JSValueConst* values) {
  const Text name(context, values[0]);
  if (!name.ok()) return JS_EXCEPTION;
  return World::Of(context).Web(name.view() == "url" ? WebPart::kUrl : WebPart::kRest);
}

}  // namespace

bool AddNatives(JSContext* context) {
  const JSValue global = JS_GetGlobalObject(context);
  bool good = AddTimer(context, global, "setTimeout", 0) &&
              AddTimer(context, global, "setInterval", 1) &&
              AddFunction(context, global, "clearTimeout", ClearTimer, 1) &&
              AddFunction(context, global, "clearInterval", ClearTimer, 1) &&
              AddFunction(context, global, "queueMicrotask", QueueMicrotask, 1);
  for (int at = 0; good && at < static_cast<int>(kLazy.size()); ++at) {
    good = AddLazy(context, global, at);
  }
  JS_FreeValue(context, global);
  return good;
}

JSValue NativesForWeb(JSContext* context, WebPart part) {
  const JSValue object = JS_NewObject(context);
  if (JS_IsException(object)) return object;
  AddFunction(context, object, "encode", Encode, 1);
  AddFunction(context, object, "decode", Decode, 2);
  switch (part) {
    case WebPart::kConsole:
      AddFunction(context, object, "print", Print, 2);
      AddFunction(context, object, "logIsOpen", LogIsOpen, 0);
      break;
    case WebPart::kFetch:
      AddFunction(context, object, "fetch", Fetch, 4);
      AddFunction(context, object, "forget", Forget, 1);
      AddFunction(context, object, "part", Part, 1);
      break;
    case WebPart::kUrl: break;
    case WebPart::kRest:
      AddFunction(context, object, "randomBytes", RandomBytes, 1);
      AddFunction(context, object, "randomUuid", RandomUuid, 0);
      AddTimer(context, object, "setTimeout", 0);
      break;
  }
  return object;
}

}  // namespace weir::script
