#pragma once
// Block: typed reads of one block of the file, with the errors that name key, line and what was
//        wanted.
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "weir/base/result.h"
#include "weir/config/config.h"
#include "weir/config/keys_internal.h"
#include "weir/config/tree_internal.h"

namespace weir::config {

/// What every read needs: the file's name for messages, and the environment for ${NAME}.
struct Context {
  std::string path;
  const GetEnv& get_env;
};

/// What a size in MB may be at most: 16 TiB.
inline constexpr int64_t kMaxMegabytes = int64_t{1} << 24;

/// A word that a key may be set to.
struct Word {
  std::string_view text;
  Support support = Support::kNow;
};

/// A key whose word decides what the other keys of its block mean.
struct Choice {
  std::string_view key;
  std::span<const Word> words;
};

/// One block. Reads give nothing when the key is absent; a key without a value is an error.
///
/// Errors:   kUsage throughout.
/// Requires: the node and the context outlive it.
class Block {
 public:
  /// Checks that `node` is a block whose keys `kind` knows and this version supports. `where` is
  /// its path, "exports[0].tuning", empty for the whole file. A `choice` that this version does not
  /// obey is refused first: the keys that go with it are not to blame.
  static Result<Block> Of(const Node& node, std::string where, const BlockKind& kind,
                          const Context& context, const Choice& choice = {});

  bool Has(std::string_view key) const { return Find(key) != nullptr; }
  const Node* Find(std::string_view key) const;
  const std::string& where() const { return where_; }
  const Context& context() const { return *context_; }
  const Node& node() const { return *node_; }

  /// Text with ${NAME} replaced. An empty one is refused.
  Result<std::optional<std::string>> Text(std::string_view key) const;
  /// Text that may be empty and that no message repeats.
  Result<std::optional<Secret>> SecretText(std::string_view key) const;
  Result<std::optional<int64_t>> Number(std::string_view key, int64_t least, int64_t most) const;
  Result<std::optional<bool>> Switch(std::string_view key) const;
  /// The index of the word that the key is set to.
  Result<std::optional<size_t>> OneOf(std::string_view key, std::span<const Word> words) const;
  /// The block under `key`.
  Result<std::optional<Block>> Inner(std::string_view key, const BlockKind& kind,
                                     const Choice& choice = {}) const;

  /// "FILE: 'parallel: 4' (line 7) is not supported yet by this version of weir; write ...".
  Error NotYet(std::string_view key, std::string_view value, std::string_view instead) const;
  /// "FILE: 'exports[0].name' (line 4, column 11): <what>".
  Error Wrong(std::string_view key, std::string_view what) const;
  /// The same about the block itself.
  Error Wrong(std::string_view what) const;

 private:
  Block(const Node& node, std::string where, const Context& context)
      : node_(&node), where_(std::move(where)), context_(&context) {}

  std::string PathOf(std::string_view key) const;
  Error Expected(std::string_view key, std::string_view wanted) const;
  Result<std::string> Expanded(std::string_view key, const Node& value) const;
  Status CheckKey(const Entry& entry, const BlockKind& kind) const;

  const Node* node_;
  std::string where_;
  const Context* context_;
};

}  // namespace weir::config
