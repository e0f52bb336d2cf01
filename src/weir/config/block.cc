#include "weir/config/block_internal.h"

#include <algorithm>
#include <charconv>

namespace weir::config {
namespace {

// False for a text that Shown() only counted.
bool IsShown(std::string_view shown) { return shown.starts_with('\''); }

// What stands there, for "expected ..., found ...".
std::string Found(const Node& node) {
  switch (node.kind) {
    case Node::Kind::kNull: return "nothing";
    case Node::Kind::kSequence: return "a list";
    case Node::Kind::kMap: return "a block of keys";
    case Node::Kind::kScalar: break;
  }
  if (node.text.empty()) return "empty text";
  const std::string shown = Shown(node.text);
  return node.quoted && IsShown(shown) ? fmt::format("the text {}", shown) : shown;
}

bool IsTrue(std::string_view text) { return text == "true" || text == "True" || text == "TRUE"; }
bool IsFalse(std::string_view text) {
  return text == "false" || text == "False" || text == "FALSE";
}

// "a, b or c": the words that this version obeys.
std::string Listed(std::span<const Word> words) {
  std::string list;
  const auto now = [](const Word& word) { return word.support == Support::kNow; };
  auto left = std::count_if(words.begin(), words.end(), now);
  for (const Word& word : words) {
    if (!now(word)) continue;
    if (!list.empty()) list += left == 1 ? " or " : ", ";
    list += word.text;
    --left;
  }
  return list;
}

}  // namespace

Result<Block> Block::Of(const Node& node, std::string where, const BlockKind& kind,
                        const Context& context, const Choice& choice) {
  Block block(node, std::move(where), context);
  if (node.kind != Node::Kind::kMap) {
    return block.Wrong(fmt::format("expected a block of keys, found {}", Found(node)));
  }
  if (!choice.words.empty()) WEIR_DO(block.OneOf(choice.key, choice.words));
  for (const Entry& entry : node.entries) WEIR_DO(block.CheckKey(entry, kind));
  return block;
}

Status Block::CheckKey(const Entry& entry, const BlockKind& kind) const {
  const auto key = std::find_if(kind.keys.begin(), kind.keys.end(),
                                [&](const Key& known) { return known.name == entry.key; });
  const std::string in = where_.empty() ? "" : fmt::format(" in '{}'", where_);
  if (key == kind.keys.end()) {
    const std::string shown = Shown(entry.key);
    return Fail(Code::kUsage, "{}: unknown key{}{}{} (line {}, column {}); {}", context_->path,
                IsShown(shown) ? " " : ", ", shown, in, entry.at.line, entry.at.column,
                Hint(kind, entry.key));
  }
  const bool off = entry.value.kind == Node::Kind::kScalar && !entry.value.quoted &&
                   IsFalse(entry.value.text);
  if (key->support == Support::kNow || (key->support == Support::kOffOnly && off)) return Ok();
  const std::string from = where_.empty() ? "" : fmt::format(" from '{}'", where_);
  if (key->support == Support::kElsewhere) {
    return Fail(Code::kUsage,
                "{}: '{}' (line {}) is for other databases, and weir reads PostgreSQL only; remove "
                "it{}",
                context_->path, entry.key, entry.at.line, from);
  }
  return Fail(Code::kUsage,
              "{}: '{}' (line {}) is not supported yet by this version of weir; remove it{}",
              context_->path, entry.key, entry.at.line, from);
}

const Node* Block::Find(std::string_view key) const {
  for (const Entry& entry : node_->entries) {
    if (entry.key == key) return &entry.value;
  }
  return nullptr;
}

std::string Block::PathOf(std::string_view key) const {
  return where_.empty() ? std::string(key) : fmt::format("{}.{}", where_, key);
}

Error Block::Wrong(std::string_view key, std::string_view what) const {
  const Node* value = Find(key);
  const Position at = value == nullptr ? node_->at : value->at;
  return Fail(Code::kUsage, "{}: '{}' (line {}, column {}): {}", context_->path, PathOf(key),
              at.line, at.column, what);
}

Error Block::NotYet(std::string_view key, std::string_view value,
                    std::string_view instead) const {
  return Fail(Code::kUsage,
              "{}: '{}: {}' (line {}) is not supported yet by this version of weir; write '{}: {}'",
              context_->path, key, value, Find(key)->at.line, key, instead);
}

Error Block::Wrong(std::string_view what) const {
  return Fail(Code::kUsage, "{}: '{}' (line {}, column {}): {}", context_->path,
              where_.empty() ? "the file" : where_, node_->at.line, node_->at.column, what);
}

Error Block::Expected(std::string_view key, std::string_view wanted) const {
  return Wrong(key, fmt::format("expected {}, found {}", wanted, Found(*Find(key))));
}

Result<std::string> Block::Expanded(std::string_view key, const Node& value) const {
  auto text = ExpandVariables(value.text, context_->get_env);
  if (!text.ok()) return Wrong(key, text.error().message);
  return text;
}

Result<std::optional<std::string>> Block::Text(std::string_view key) const {
  const Node* value = Find(key);
  if (value == nullptr) return std::optional<std::string>();
  if (value->kind != Node::Kind::kScalar || value->text.empty()) return Expected(key, "text");
  WEIR_TRY(std::string text, Expanded(key, *value));
  if (text.empty()) return Wrong(key, "expected text, found only variables that are empty");
  if (text.find('\0') != text.npos) return Wrong(key, "expected text without the NUL character");
  return std::optional(std::move(text));
}

Result<std::optional<Secret>> Block::SecretText(std::string_view key) const {
  const Node* value = Find(key);
  if (value == nullptr) return std::optional<Secret>();
  if (value->kind != Node::Kind::kScalar) return Expected(key, "text");
  WEIR_TRY(std::string text, Expanded(key, *value));
  if (text.find('\0') != text.npos) return Wrong(key, "expected text without the NUL character");
  return std::optional(Secret(std::move(text)));
}

Result<std::optional<int64_t>> Block::Number(std::string_view key, int64_t least,
                                             int64_t most) const {
  const Node* value = Find(key);
  if (value == nullptr) return std::optional<int64_t>();
  const std::string wanted = fmt::format("a whole number from {} to {}", least, most);
  if (value->kind != Node::Kind::kScalar) return Expected(key, wanted);
  WEIR_TRY(const std::string text, Expanded(key, *value));
  int64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  const bool whole = error == std::errc() && end == text.data() + text.size();
  const bool literal = value->quoted && text == value->text;  // Quotes make it text.
  if (!whole || literal || number < least || number > most) return Expected(key, wanted);
  return std::optional(number);
}

Result<std::optional<bool>> Block::Switch(std::string_view key) const {
  const Node* value = Find(key);
  if (value == nullptr) return std::optional<bool>();
  if (value->kind != Node::Kind::kScalar) return Expected(key, "true or false");
  WEIR_TRY(const std::string text, Expanded(key, *value));
  const bool literal = value->quoted && text == value->text;
  if (literal || (!IsTrue(text) && !IsFalse(text))) return Expected(key, "true or false");
  return std::optional(IsTrue(text));
}

Result<std::optional<size_t>> Block::OneOf(std::string_view key,
                                           std::span<const Word> words) const {
  const Node* value = Find(key);
  if (value == nullptr) return std::optional<size_t>();
  if (value->kind != Node::Kind::kScalar) return Expected(key, Listed(words));
  WEIR_TRY(const std::string text, Expanded(key, *value));
  for (size_t i = 0; i < words.size(); ++i) {
    if (words[i].text != text) continue;
    if (words[i].support == Support::kNow) return std::optional(i);
    if (words[i].support == Support::kElsewhere) {
      return Wrong(key, fmt::format("weir reads PostgreSQL only, not {}", text));
    }
    return NotYet(key, text, words.front().text);
  }
  return Expected(key, Listed(words));
}

Result<std::optional<Block>> Block::Inner(std::string_view key, const BlockKind& kind,
                                          const Choice& choice) const {
  const Node* value = Find(key);
  if (value == nullptr) return std::optional<Block>();
  WEIR_TRY(Block block, Of(*value, PathOf(key), kind, *context_, choice));
  return std::optional(std::move(block));
}

}  // namespace weir::config
