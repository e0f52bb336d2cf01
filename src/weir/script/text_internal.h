#pragma once
// UTF-8 at the border: the engine lets single surrogates through, and networks anything.
#include <string>
#include <string_view>

namespace weir::script {

bool IsUtf8(std::string_view text);

/// The text with U+FFFD in place of what is no UTF-8; a surrogate as the engine writes it is one.
std::string AsUtf8(std::string_view text);

}  // namespace weir::script
