#pragma once
// What the sweeps' cells are called by those that judge them.
#include <string>

namespace weir::experiment {

/// "sweep_threads".
inline std::string SweepKind(const std::string& name) { return "sweep_" + name; }

}  // namespace weir::experiment
