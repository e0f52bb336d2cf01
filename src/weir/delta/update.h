#pragma once
// What changes: a row, when, and how many times over.
#include <algorithm>
#include <cstdint>
#include <cstring>
#include <optional>

#include "weir/base/bytes.h"

namespace weir::delta {

/// Milliseconds since 1970, or any other count that only grows.
using Time = uint64_t;
/// How many more of a row there are; negative for fewer.
using Diff = int64_t;

/// Times that may still come: all from `time` on; none when it is empty.
using Frontier = std::optional<Time>;

/// Whether updates at `time` may still come.
inline bool IsOpen(const Frontier& frontier, Time time) {
  return frontier.has_value() && *frontier <= time;
}

/// Which times a batch holds, and since when they may have been moved together.
struct Description {
  Frontier lower;
  Frontier upper;  ///< Not included.
  Time since = 0;
};

/// One change. The first key_size bytes of the row are its key; see table::RowCodec.
struct Update {
  Bytes row;
  int32_t key_size = 0;
  Time time = 0;
  Diff diff = 0;
};

/// Negative, 0 or positive as `a` comes before, is, or comes after `b`.
/// Requires: rows, or keys, of one codec, so that neither is the beginning of the other.
inline int CompareRows(Bytes a, Bytes b) {
  const size_t both = std::min(a.size(), b.size());  // Of nothing there may be no address.
  const int order = both == 0 ? 0 : std::memcmp(a.data(), b.data(), both);
  if (order != 0) return order;
  return a.size() < b.size() ? -1 : a.size() > b.size() ? 1 : 0;
}

}  // namespace weir::delta
