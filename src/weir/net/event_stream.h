#pragma once
// Server-sent events: written by servers, read by clients and browsers.
#include <cstddef>
#include <functional>
#include <string>
#include <string_view>

#include "weir/base/result.h"

namespace weir::net {

/// The media type of a stream of events.
inline constexpr std::string_view kEventStreamType = "text/event-stream";

struct ServerEvent {
  std::string type = "message";
  std::string data = {};  ///< Lines; without the last line's end.
  std::string id = {};    ///< What a client that comes again says in Last-Event-ID; empty: none.
  friend bool operator==(const ServerEvent&, const ServerEvent&) = default;
};

/// The event as it stands in a stream. A type or id is cut at its first line end or NUL.
std::string FormatEvent(const ServerEvent& event);
/// A line that readers skip: shows that the stream lives.
inline constexpr std::string_view kEventKeepAlive = ":\n\n";

/// Bytes of a stream, in any pieces, into events.
///
/// Memory: one event's bytes.
class EventParser {
 public:
  static constexpr size_t kMostEventBytes = 1 << 20;

  /// Hands each complete event to `take`, in order; an event without data is none.
  /// Errors: kInvalid when an event has more than kMostEventBytes.
  Status Feed(std::string_view bytes, const std::function<void(const ServerEvent&)>& take);
  /// The id of the last event that had one.
  const std::string& last_id() const { return last_id_; }

 private:
  void TakeLine(std::string_view line, const std::function<void(const ServerEvent&)>& take);

  std::string line_ = {};
  ServerEvent event_;
  bool has_data_ = false;
  bool after_return_ = false;  // A line feed now belongs to the line end before.
  bool at_start_ = true;       // A byte order mark may come.
  std::string last_id_ = {};
};

}  // namespace weir::net
