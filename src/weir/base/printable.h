#pragma once
// Printable: text of others (names, a server's words) as a terminal may be shown it.
#include <string>
#include <string_view>

namespace weir {

/// `text` with control characters and bytes that are not UTF-8 as \xNN, so that none of it moves a
/// cursor, sets a title or ends a line.
std::string Printable(std::string_view text);

}  // namespace weir
