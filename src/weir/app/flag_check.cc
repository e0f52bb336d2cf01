#include "weir/app/flag_check.h"

#include <fmt/format.h>

#include <charconv>

#include "weir/base/units.h"

namespace weir::app {

FlagCheck AtLeast(int64_t least) {
  return [least](const std::string& text) {
    int64_t number = 0;
    const char* const end = text.data() + text.size();
    const auto parsed = std::from_chars(text.data(), end, number);
    if (parsed.ec == std::errc::result_out_of_range && text.front() != '-') {
      return fmt::format("'{}' is too large", text);
    }
    const bool good = parsed.ec == std::errc() && parsed.ptr == end && number >= least;
    return good ? "" : fmt::format("'{}' is not a whole number of {} or more", text, least);
  };
}

FlagCheck ByteSize() {
  return [](const std::string& text) -> std::string {
    const auto size = ParseByteSize(text);
    return size.ok() ? "" : size.error().message;
  };
}

FlagCheck NotEmpty() {
  return [](const std::string& text) -> std::string {
    if (text.find_first_not_of(" \t\r\n") != text.npos) return "";
    return "it is empty; write something there or leave it out";
  };
}

}  // namespace weir::app
