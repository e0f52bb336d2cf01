#pragma once
// StraySettings: what stands around a ladder and would change what it measures, unseen.
#include <string>
#include <string_view>
#include <vector>

#include "weir/base/result.h"

namespace weir::experiment {

/// Errors: kUsage when one of these "NAME=value" changes what a child does: WEIR_..., the settings
///         of malloc and of the loader. A fault point of the bench itself is fine.
Status CheckEnvironment(const std::vector<std::string>& environment);
/// The same of this process.
Status CheckEnvironment();

/// What a memory limit for children needs of this machine.
struct LimitPlace {
  bool root = false;
  std::vector<std::string> swaps;       ///< That are on.
  int64_t usable_memory_bytes = 0;      ///< What this process may hold,
  int64_t machine_memory_bytes = 0;     ///< ... and what there is.
};

/// This process on this machine.
LimitPlace ThisLimitPlace();

/// Errors: kUsage for another user than root, for swap that is on (it would be measured too), and
///         for a process that is under a limit itself.
Status CheckLimitPlace(const LimitPlace& place);

}  // namespace weir::experiment
