#include "weir/script/thrown_internal.h"

#include <quickjs.h>

#include <algorithm>
#include <string_view>

#include "weir/base/utf8.h"
#include "weir/script/text_internal.h"

namespace weir::script {
namespace {

// The text of a value, cut; empty when it cannot be had.
std::string TextOf(JSContext* context, JSValueConst value, size_t max_bytes) {
  size_t size = 0;
  const char* bytes = JS_ToCStringLen(context, &size, value);
  if (bytes == nullptr) {
    JS_FreeValue(context, JS_GetException(context));
    return "";
  }
  const std::string text = AsUtf8({bytes, std::min(size, max_bytes + 4)});
  JS_FreeCString(context, bytes);
  return std::string(Clipped(text, max_bytes));
}

std::string MemberOf(JSContext* context, JSValueConst object, const char* name, size_t max_bytes) {
  const JSValue value = JS_GetPropertyStr(context, object, name);
  if (JS_IsException(value)) {
    JS_FreeValue(context, JS_GetException(context));
    return "";
  }
  const std::string text = JS_IsUndefined(value) ? "" : TextOf(context, value, max_bytes);
  JS_FreeValue(context, value);
  return text;
}

std::string JsonOf(JSContext* context, JSValueConst value) {
  const JSValue json = JS_JSONStringify(context, value, JS_UNDEFINED, JS_UNDEFINED);
  if (JS_IsException(json)) JS_FreeValue(context, JS_GetException(context));
  const std::string text = JS_IsString(json) ? TextOf(context, json, kMaxMessageBytes) : "";
  JS_FreeValue(context, json);
  return text;
}

std::string ErrorMessage(JSContext* context, JSValueConst error) {
  const std::string name = MemberOf(context, error, "name", kMaxMessageBytes);
  const std::string message = MemberOf(context, error, "message", kMaxMessageBytes);
  if (name.empty() || message.empty()) {
    return name.empty() && message.empty() ? "threw an error without a message" : name + message;
  }
  return std::string(Clipped(name + ": " + message, kMaxMessageBytes));
}

}  // namespace

std::string MessageOf(JSContext* context, const JSValue& value) {
  if (JS_IsError(value)) return ErrorMessage(context, value);
  std::string text;
  if (JS_IsObject(value) || JS_IsString(value)) text = JsonOf(context, value);
  if (text.empty()) text = TextOf(context, value, kMaxMessageBytes);
  if (text.empty()) return "threw a value that has no text";
  return std::string(Clipped("threw " + text, kMaxMessageBytes));
}

Thrown Describe(JSContext* context, const JSValue& value) {
  Thrown thrown;
  thrown.message = MessageOf(context, value);
  if (!JS_IsError(value)) return thrown;
  thrown.stack = MemberOf(context, value, "stack", kMaxTraceBytes);
  while (thrown.stack.ends_with('\n')) thrown.stack.pop_back();
  if (thrown.message == "InternalError: out of memory") thrown.end = End::kOutOfMemory;
  if (thrown.message == "RangeError: Maximum call stack size exceeded") {
    thrown.end = End::kStackOverflow;
  }
  return thrown;
}

}  // namespace weir::script
