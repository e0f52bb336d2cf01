#pragma once
// What scripts can call that is written in C++: timers, and what web/ is built on.
#include "weir/script/world_internal.h"

struct JSContext;
struct JSValue;

namespace weir::script {

/// Adds the timers, and a getter in place of each global of web/, which loads its part when it is
/// first named. False: no memory.
bool AddNatives(JSContext* context);

/// The object that the function of a part of web/ is called with.
JSValue NativesForWeb(JSContext* context, WebPart part);

}  // namespace weir::script
