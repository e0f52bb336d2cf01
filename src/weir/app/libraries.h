#pragma once
// What weir is made of, for --version.
#include <string>

namespace weir::app {

/// Version, commit, and each library with its version.
std::string VersionText();

}  // namespace weir::app
