#include "weir/base/fault.h"

#include <atomic>
#include <charconv>
#include <csignal>
#include <cstdlib>
#include <string>

namespace weir {
namespace {

struct ArmedFault {
  std::string name;
  bool kill = true;
  std::atomic<int> arrivals_left{1};
};

// Read once from the environment; null when no fault is armed.
ArmedFault* Armed() {
  static ArmedFault* const armed = []() -> ArmedFault* {
    const char* text = std::getenv("WEIR_FAULT");
    if (text == nullptr || *text == '\0') return nullptr;
    static ArmedFault fault;
    std::string_view spec(text);
    if (const size_t equals = spec.find('='); equals != spec.npos) {
      fault.kill = spec.substr(equals + 1) != "fail";
      spec = spec.substr(0, equals);
    }
    if (const size_t colon = spec.find(':'); colon != spec.npos) {
      int arrivals = 1;
      std::from_chars(spec.data() + colon + 1, spec.data() + spec.size(), arrivals);
      fault.arrivals_left = arrivals;
      spec = spec.substr(0, colon);
    }
    fault.name = spec;
    return &fault;
  }();
  return armed;
}

}  // namespace

Status FaultPoint(std::string_view name) {
  ArmedFault* fault = Armed();
  if (fault == nullptr || fault->name != name) return Ok();
  if (fault->arrivals_left.fetch_sub(1) != 1) return Ok();
  if (fault->kill) std::raise(SIGKILL);
  return Fail(Code::kUnavailable, "fault point {} was told to fail", name);
}

}  // namespace weir
