#include "weir/sys/thread.h"

#include <system_error>

#include "weir/base/fault.h"

namespace weir::sys {
namespace {

Error Refused(std::string_view reason) {
  return Fail(Code::kExhausted,
              "cannot start a thread: {}; raise the limits on processes and memory (ulimit -u, -v) "
              "or run fewer programs, then run again",
              reason);
}

}  // namespace

Result<std::thread> StartThread(std::function<void()> body) {
  if (const Status fault = FaultPoint("thread.start"); !fault.ok()) {
    return Refused(fault.error().message);
  }
  try {
    return std::thread(std::move(body));
  } catch (const std::system_error& refused) {
    return Refused(refused.code().message());
  }
}

}  // namespace weir::sys
