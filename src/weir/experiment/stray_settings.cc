#include "weir/experiment/stray_settings.h"

#include <unistd.h>

#include <algorithm>

#include "weir/base/units.h"
#include "weir/experiment/swap_file.h"
#include "weir/sys/process.h"

namespace weir::experiment {
namespace {

constexpr std::string_view kStray[] = {"WEIR_", "MALLOC_", "GLIBC_TUNABLES=", "LD_PRELOAD="};
constexpr std::string_view kOwnFault = "WEIR_FAULT=cell_store.";

}  // namespace

Status CheckEnvironment(const std::vector<std::string>& environment) {
  for (const std::string& entry : environment) {
    if (entry.starts_with(kOwnFault)) continue;
    const bool stray = std::any_of(std::begin(kStray), std::end(kStray), [&](auto start) {
      return entry.starts_with(start);
    });
    if (!stray) continue;
    return Fail(Code::kUsage, "{} is set and would change what is measured: unset it",
                entry.substr(0, entry.find('=')));
  }
  return Ok();
}

Status CheckEnvironment() {
  std::vector<std::string> environment;
  for (char** entry = environ; *entry != nullptr; ++entry) environment.emplace_back(*entry);
  return CheckEnvironment(environment);
}

LimitPlace ThisLimitPlace() {
  return {geteuid() == 0, ActiveSwaps(), sys::UsableMemoryBytes(),
          int64_t{sysconf(_SC_PHYS_PAGES)} * sysconf(_SC_PAGESIZE)};
}

Status CheckLimitPlace(const LimitPlace& place) {
  if (!place.root) {
    return Fail(Code::kUsage, "a memory limit with swap needs root: run it as root, or without "
                              "--limits");
  }
  if (!place.swaps.empty()) {
    return Fail(Code::kUsage, "swap is on already ('{}') and would be measured too: turn it off",
                place.swaps.front());
  }
  if (place.usable_memory_bytes < place.machine_memory_bytes) {
    return Fail(Code::kUsage,
                "this process may hold {} of {}: its own control group has a limit; run it outside",
                FormatBytes(place.usable_memory_bytes), FormatBytes(place.machine_memory_bytes));
  }
  return Ok();
}

}  // namespace weir::experiment
