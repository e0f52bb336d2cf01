#pragma once
// ParametersOf: the names of a function's parameters, read from its text.
#include <string>
#include <string_view>
#include <vector>

#include "weir/base/result.h"

namespace weir::script {

/// One name a parameter, in order; empty for a pattern ({a, b} or [a, b]). A native function and a
/// class have none.
///
/// Errors: kInvalid for a rest parameter, which no argument's name fits.
Result<std::vector<std::string>> ParametersOf(std::string_view function);

}  // namespace weir::script
