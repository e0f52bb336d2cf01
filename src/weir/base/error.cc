#include "weir/base/error.h"

namespace weir {

std::string_view CodeName(Code code) {
  switch (code) {
    case Code::kInvalid: return "invalid";
    case Code::kNotFound: return "not_found";
    case Code::kExhausted: return "exhausted";
    case Code::kUnavailable: return "unavailable";
    case Code::kCorrupt: return "corrupt";
    case Code::kDrift: return "drift";
    case Code::kCancelled: return "cancelled";
    case Code::kUsage: return "usage";
  }
  return "unknown";
}

int ExitCode(Code code) {
  switch (code) {
    case Code::kInvalid:
    case Code::kNotFound: return 1;
    case Code::kExhausted:
    case Code::kUnavailable: return 2;
    case Code::kCorrupt: return 3;
    case Code::kDrift: return 4;
    case Code::kUsage: return 64;
    case Code::kCancelled: return 130;
  }
  return 1;
}

}  // namespace weir
