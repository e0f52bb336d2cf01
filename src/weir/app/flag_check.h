#pragma once
// Checks of what stands on the command line, for CLI11's check(): each gives what is wrong, in
// words, or nothing.
#include <cstdint>
#include <functional>
#include <string>

namespace weir::app {

using FlagCheck = std::function<std::string(const std::string&)>;

/// Of a whole number of `least` or more.
FlagCheck AtLeast(int64_t least);

/// Of a size in bytes: "512MiB".
FlagCheck ByteSize();

/// Of text that is more than spaces.
FlagCheck NotEmpty();

}  // namespace weir::app
