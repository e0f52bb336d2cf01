#include "weir/net/event_stream.h"

#include <algorithm>
#include <utility>

namespace weir::net {
namespace {

std::string_view FirstLine(std::string_view text) {
  return text.substr(0, text.find_first_of(std::string_view("\r\n\0", 3)));
}

}  // namespace

std::string FormatEvent(const ServerEvent& event) {
  std::string text;
  if (!event.id.empty()) text.append("id: ").append(FirstLine(event.id)).append("\n");
  if (event.type != "message") {
    text.append("event: ").append(FirstLine(event.type)).append("\n");
  }
  std::string_view rest = event.data;
  while (true) {
    const std::string_view line = rest.substr(0, rest.find_first_of("\r\n"));
    text.append("data: ").append(line).append("\n");
    rest.remove_prefix(line.size());
    if (rest.empty()) break;
    rest.remove_prefix(rest.starts_with("\r\n") ? 2 : 1);
  }
  return text.append("\n");
}

Status EventParser::Feed(std::string_view bytes,
                         const std::function<void(const ServerEvent&)>& take) {
  while (!bytes.empty()) {
    if (std::exchange(after_return_, false) && bytes.front() == '\n') {
      bytes.remove_prefix(1);
      continue;
    }
    const std::string_view piece = bytes.substr(0, bytes.find_first_of("\r\n"));
    if (line_.size() + event_.data.size() + piece.size() > kMostEventBytes) {
      return Fail(Code::kInvalid, "an event of the stream has over {} bytes", kMostEventBytes);
    }
    line_.append(piece);
    bytes.remove_prefix(piece.size());
    if (bytes.empty()) break;
    after_return_ = bytes.front() == '\r';
    bytes.remove_prefix(1);
    const std::string line = std::exchange(line_, {});
    TakeLine(line, take);
  }
  return Ok();
}

void EventParser::TakeLine(std::string_view line,
                           const std::function<void(const ServerEvent&)>& take) {
  if (std::exchange(at_start_, false) && line.starts_with("\xEF\xBB\xBF")) line.remove_prefix(3);
  if (line.empty()) {
    ServerEvent event = std::exchange(event_, {});
    if (!std::exchange(has_data_, false)) return;
    event.id = last_id_;
    event.data.pop_back();  // The last line's end.
    return take(event);
  }
  const std::string_view name = line.substr(0, line.find(':'));
  std::string_view value = line.substr(std::min(name.size() + 1, line.size()));
  if (value.starts_with(' ')) value.remove_prefix(1);
  if (name == "data") {
    event_.data.append(value).append("\n");
    has_data_ = true;
  } else if (name == "event") {
    event_.type = value.empty() ? "message" : value;
  } else if (name == "id" && value.find('\0') == std::string_view::npos) {
    last_id_ = value;
  }
}

}  // namespace weir::net
