#pragma once
// SourceMap: where the lines of a generated JavaScript text came from.
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace weir::script {

struct Place {
  int64_t line = 0;    ///< From 1.
  int64_t column = 0;  ///< From 1, in UTF-16 units.
};

/// The inline source map at the end of a text; maps nothing where there is none that can be read.
class SourceMap {
 public:
  explicit SourceMap(std::string_view text);

  /// Where the character at `generated` stood in the original; none when the map does not say.
  std::optional<Place> Find(Place generated) const;
  /// The text with each `name:line:column` in it told by the original's lines.
  std::string Rewrite(std::string_view text, std::string_view name) const;

 private:
  struct Segment {
    int64_t line;
    int64_t column;
    Place original;
  };
  std::vector<Segment> segments_;  // Rising by line and column, both from 1.
};

}  // namespace weir::script
