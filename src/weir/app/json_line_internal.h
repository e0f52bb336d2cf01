#pragma once
// JsonLine: one JSON object on one line, whatever bytes are in it.
#include <string>

namespace weir::app {

/// Bytes that are not UTF-8 (of paths, of a server's messages) are replaced: they must not end the
/// program. `Json` is one of nlohmann's.
template <typename Json>
std::string JsonLine(const Json& json) {
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

}  // namespace weir::app
