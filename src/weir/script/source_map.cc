#include "weir/script/source_map_internal.h"

#include <algorithm>
#include <array>
#include <charconv>

#include <fmt/format.h>

namespace weir::script {
namespace {

constexpr std::string_view kComment =
    "//# sourceMappingURL=data:application/json;base64,";

int Sextet(char c) {
  if (c >= 'A' && c <= 'Z') return c - 'A';
  if (c >= 'a' && c <= 'z') return c - 'a' + 26;
  if (c >= '0' && c <= '9') return c - '0' + 52;
  return c == '+' ? 62 : c == '/' ? 63 : -1;
}

std::string FromBase64(std::string_view text) {
  std::string bytes;
  uint32_t bits = 0;
  int count = 0;
  for (const char c : text) {
    const int sextet = Sextet(c);
    if (sextet < 0) break;
    bits = bits << 6 | static_cast<uint32_t>(sextet);
    count += 6;
    if (count >= 8) {
      count -= 8;
      bytes += static_cast<char>(bits >> count & 0xFF);
    }
  }
  return bytes;
}

// The text of "mappings" in a map as esbuild writes it; these texts hold no escapes.
std::string_view MappingsOf(std::string_view map) {
  constexpr std::string_view kKey = "\"mappings\":";
  size_t at = map.find(kKey);
  if (at == std::string_view::npos) return {};
  at = map.find('"', at + kKey.size());
  if (at == std::string_view::npos) return {};
  const size_t end = map.find('"', at + 1);
  return end == std::string_view::npos ? std::string_view() : map.substr(at + 1, end - at - 1);
}

// One number in the base-64 form of source maps: six bits a digit, the lowest is the sign.
bool ReadNumber(std::string_view& text, int64_t& number) {
  uint64_t value = 0;
  for (int shift = 0; shift <= 30; shift += 5) {
    const int sextet = text.empty() ? -1 : Sextet(text[0]);
    if (sextet < 0) return false;
    text.remove_prefix(1);
    value |= static_cast<uint64_t>(sextet & 31) << shift;
    if ((sextet & 32) == 0) {
      const auto size = static_cast<int64_t>(value >> 1);
      number = (value & 1) != 0 ? -size : size;
      return true;
    }
  }
  return false;
}

}  // namespace

SourceMap::SourceMap(std::string_view text) {
  const size_t at = text.rfind(kComment);
  if (at == std::string_view::npos) return;
  const std::string map = FromBase64(text.substr(at + kComment.size()));
  std::string_view rest = MappingsOf(map);
  int64_t line = 1;
  std::array<int64_t, 5> now{};  // Generated column, source, its line, its column, name.
  while (!rest.empty()) {
    if (rest[0] == ';' || rest[0] == ',') {
      if (rest[0] == ';') {
        ++line;
        now[0] = 0;
      }
      rest.remove_prefix(1);
      continue;
    }
    size_t fields = 0;
    int64_t change = 0;
    while (fields < now.size() && !rest.empty() && rest[0] != ',' && rest[0] != ';') {
      if (!ReadNumber(rest, change)) return;
      now[fields++] += change;
    }
    if (fields == 0) return;
    if (fields >= 4) segments_.push_back({line, now[0] + 1, {now[2] + 1, now[3] + 1}});
  }
}

std::optional<Place> SourceMap::Find(Place generated) const {
  const auto past = std::upper_bound(
      segments_.begin(), segments_.end(), generated, [](const Place& place, const Segment& one) {
        return place.line != one.line ? place.line < one.line : place.column < one.column;
      });
  if (past == segments_.begin()) return std::nullopt;
  const Segment& segment = *std::prev(past);
  if (segment.line != generated.line) return std::nullopt;
  return segment.original;
}

std::string SourceMap::Rewrite(std::string_view text, std::string_view name) const {
  if (segments_.empty() || name.empty()) return std::string(text);
  const std::string key = std::string(name) + ":";
  std::string out;
  while (true) {
    const size_t at = text.find(key);
    if (at == std::string_view::npos) return out.append(text);
    out.append(text.substr(0, at + key.size()));
    text.remove_prefix(at + key.size());
    Place place;
    const char* end = text.data() + text.size();
    const auto line = std::from_chars(text.data(), end, place.line);
    if (line.ec != std::errc() || line.ptr == end || *line.ptr != ':') continue;
    const auto column = std::from_chars(line.ptr + 1, end, place.column);
    if (column.ec != std::errc()) continue;
    if (const auto found = Find(place)) {
      out += fmt::format("{}:{}", found->line, found->column);
      text.remove_prefix(static_cast<size_t>(column.ptr - text.data()));
    }
  }
}

}  // namespace weir::script
