#pragma once
// What this build is.
#include <string_view>

namespace weir {

std::string_view Version();  ///< "0.1.0".
std::string_view Commit();   ///< Twelve hex digits, or "unknown" outside a checkout.

}  // namespace weir
