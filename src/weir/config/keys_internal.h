#pragma once
// The keys of every block, what this version does with each, and the nearest key to a wrong one.
#include <span>
#include <string>
#include <string_view>

namespace weir::config {

enum class Support {
  kNow,        ///< Read and obeyed.
  kLater,      ///< Known, refused: its feature is not in this version.
  kOffOnly,    ///< A switch whose feature is not in this version: `false` is accepted.
  kElsewhere,  ///< Belongs to databases other than PostgreSQL.
};

struct Key {
  std::string_view name;
  Support support;
};

/// A kind of block: its keys, and its name in messages.
struct BlockKind {
  std::string_view name;
  std::span<const Key> keys;
};

extern const BlockKind kRootBlock;
extern const BlockKind kSourceBlock;
extern const BlockKind kTlsBlock;
extern const BlockKind kExportBlock;
extern const BlockKind kParquetBlock;
extern const BlockKind kDestinationBlock;
extern const BlockKind kTuningBlock;

/// All of them.
std::span<const BlockKind* const> BlockKinds();

/// The key of `kind` with the least distance to `name`; the earlier one of two.
std::string_view NearestKey(const BlockKind& kind, std::string_view name);

/// What to say after an unknown key: "did you mean 'table'?", "it belongs in 'tuning'", ...
std::string Hint(const BlockKind& kind, std::string_view name);

}  // namespace weir::config
