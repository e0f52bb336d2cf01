#pragma once
// WarmUp: what is done before a ladder, so that its first cell does not pay for all of them.
#include <cstdint>
#include <string>

#include "weir/base/result.h"

namespace weir::experiment {

/// Touches so much memory and gives it back. A virtual machine gets memory from its host when it is
/// first touched, at about a second per gigabyte, and keeps it. Where there is not so much, does
/// nothing.
void TouchMemory(int64_t bytes);

/// Reads a file from its start to its end, so that the page cache holds it.
/// Errors: kNotFound, kUnavailable with the path.
Status ReadThrough(const std::string& path);

}  // namespace weir::experiment
