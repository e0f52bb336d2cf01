#pragma once
// Node: a YAML document as plain values with positions. The only code that calls yaml-cpp is
//       tree.cc.
#include <string>
#include <string_view>
#include <vector>

#include "weir/base/result.h"

namespace weir::config {

/// Where something begins in the file, counted from 1.
struct Position {
  int line = 0;
  int column = 0;
};

struct Entry;

/// One YAML value.
struct Node {
  enum class Kind { kNull, kScalar, kSequence, kMap };

  Kind kind = Kind::kNull;
  Position at;
  std::string text;            ///< kScalar.
  bool quoted = false;         ///< kScalar: in quotes or a block, so never a number or a switch.
  std::vector<Node> items;     ///< kSequence.
  std::vector<Entry> entries;  ///< kMap, in the file's order; keys are unique.
};

/// A key of a block and its value.
struct Entry {
  std::string key;
  Position at;
  Node value;
};

/// A document nests at most this deep; a configuration nests 5 deep.
inline constexpr size_t kMaxDepth = 32;
/// Values after aliases are followed: room for a thousand exports with every key.
inline constexpr size_t kMaxNodes = 50'000;
/// Bytes of text after aliases are followed.
inline constexpr size_t kMaxExpandedBytes = size_t{8} << 20;

/// Parses one document. Anchors and aliases work; tags and merge keys do not.
///
/// Errors: kUsage, with `path`, the line and the column: broken UTF-8, bad syntax, a key twice in
///         one block, a second document, or a document beyond the limits above.
Result<Node> ParseYaml(std::string_view text, std::string_view path);

/// `'text'`, or words in its place where it is long or might hold a secret.
std::string Shown(std::string_view text);

}  // namespace weir::config
