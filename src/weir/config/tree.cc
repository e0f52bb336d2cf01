#include <yaml-cpp/eventhandler.h>
#include <yaml-cpp/exceptions.h>
#include <yaml-cpp/mark.h>
#include <yaml-cpp/parser.h>

#include <algorithm>
#include <istream>
#include <map>
#include <optional>
#include <sstream>

#include "weir/base/utf8.h"
#include "weir/config/tree_internal.h"

namespace weir::config {
namespace {

// More brackets than this are not a configuration; yaml-cpp holds a token for each in memory.
constexpr std::ptrdiff_t kMaxBrackets = 50'000;
// Longer or odder text is not repeated in messages: it may be a connection string in a wrong place.
constexpr size_t kMaxShownBytes = 64;

Position At(const YAML::Mark& mark) { return {mark.line + 1, mark.column + 1}; }

// How a refusal leaves yaml-cpp's parser, which knows only exceptions. Caught in ParseYaml.
struct Refusal {
  Position at;
  std::string reason;
};

struct Size {
  size_t nodes = 1;
  size_t bytes = 0;
  size_t depth = 0;  // 0 for a value that holds no others.
};

Size SizeOf(const Node& node) {
  Size size{.nodes = 1, .bytes = node.text.size(), .depth = 0};
  const auto add = [&](const Node& child) {
    const Size of_child = SizeOf(child);
    size.nodes += of_child.nodes;
    size.bytes += of_child.bytes;
    size.depth = std::max(size.depth, of_child.depth + 1);
  };
  for (const Node& item : node.items) add(item);
  for (const Entry& entry : node.entries) {
    add(entry.value);
    size.bytes += entry.key.size();
  }
  return size;
}

// Builds nodes from the parser's events. Open blocks and lists stand on a stack of at most
// kMaxDepth.
class TreeBuilder final : public YAML::EventHandler {
 public:
  const std::optional<Node>& root() const { return root_; }

  void OnDocumentStart(const YAML::Mark&) override {}
  void OnDocumentEnd() override {}

  void OnNull(const YAML::Mark& mark, YAML::anchor_t anchor) override {
    Node node;
    node.at = At(mark);
    Place(std::move(node), anchor);
  }

  void OnAlias(const YAML::Mark& mark, YAML::anchor_t anchor) override {
    const auto found = anchors_.find(anchor);
    if (found == anchors_.end()) throw Refusal{At(mark), "an alias inside the value it stands for"};
    const Size size = SizeOf(found->second);
    CheckDepth(open_.size() + size.depth, At(mark));
    Charge(size, At(mark));
    Node copy = found->second;
    copy.at = At(mark);
    Place(std::move(copy), 0);
  }

  void OnScalar(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                const std::string& value) override {
    RefuseTag(mark, tag);
    Node node;
    node.kind = Node::Kind::kScalar;
    node.at = At(mark);
    node.text = value;
    node.quoted = tag == "!";
    Place(std::move(node), anchor);
  }

  void OnSequenceStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                       YAML::EmitterStyle::value) override {
    Push(Node::Kind::kSequence, mark, tag, anchor);
  }
  void OnSequenceEnd() override { Pop(); }
  void OnMapStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                  YAML::EmitterStyle::value) override {
    Push(Node::Kind::kMap, mark, tag, anchor);
  }
  void OnMapEnd() override { Pop(); }

 private:
  struct Open {
    Node node;
    YAML::anchor_t anchor = 0;
    bool key_waits = false;  // The last entry has a key and no value yet.
  };

  static void RefuseTag(const YAML::Mark& mark, const std::string& tag) {
    if (tag.empty() || tag == "?" || tag == "!") return;
    throw Refusal{At(mark), "a tag (a word that begins with '!'); put the value in quotes"};
  }

  static void CheckDepth(size_t depth, Position at) {
    if (depth <= kMaxDepth) return;
    throw Refusal{at, fmt::format("more than {} levels of nesting", kMaxDepth)};
  }

  void Push(Node::Kind kind, const YAML::Mark& mark, const std::string& tag,
            YAML::anchor_t anchor) {
    RefuseTag(mark, tag);
    CheckDepth(open_.size() + 1, At(mark));
    if (ExpectsKey()) throw Refusal{At(mark), "a key that is not plain text"};
    Open& open = open_.emplace_back();
    open.node.kind = kind;
    open.node.at = At(mark);
    open.anchor = anchor;
  }

  void Pop() {
    Open open = std::move(open_.back());
    open_.pop_back();
    Place(std::move(open.node), open.anchor);
  }

  bool ExpectsKey() const {
    return !open_.empty() && open_.back().node.kind == Node::Kind::kMap && !open_.back().key_waits;
  }

  void Place(Node node, YAML::anchor_t anchor) {
    const Size own{.nodes = 1, .bytes = node.text.size(), .depth = 0};
    Charge(own, node.at);
    if (anchor != 0) {
      Charge(SizeOf(node), node.at);
      anchors_[anchor] = node;
    }
    if (open_.empty()) {
      root_ = std::move(node);
      return;
    }
    if (ExpectsKey()) {
      PlaceKey(std::move(node));
      return;
    }
    Open& parent = open_.back();
    if (parent.node.kind == Node::Kind::kMap) {
      parent.node.entries.back().value = std::move(node);
      parent.key_waits = false;
    } else {
      parent.node.items.push_back(std::move(node));
    }
  }

  void PlaceKey(Node node) {
    if (node.kind != Node::Kind::kScalar) throw Refusal{node.at, "a key that is not plain text"};
    Open& parent = open_.back();
    for (const Entry& entry : parent.node.entries) {
      if (entry.key != node.text) continue;
      throw Refusal{node.at, fmt::format("key {} a second time, first on line {}; keep one",
                                         Shown(node.text), entry.at.line)};
    }
    if (parent.node.entries.size() == kMaxEntries) {
      throw Refusal{node.at, fmt::format("more than {} keys in one block", kMaxEntries)};
    }
    parent.node.entries.push_back({std::move(node.text), node.at, {}});
    parent.key_waits = true;
  }

  void Charge(const Size& size, Position at) {
    nodes_ += size.nodes;
    bytes_ += size.bytes;
    if (nodes_ > kMaxNodes || bytes_ > kMaxExpandedBytes) {
      throw Refusal{at, fmt::format("more than {} values or {} bytes, aliases followed", kMaxNodes,
                                    kMaxExpandedBytes)};
    }
  }

  // Four times the keys that any block of ours knows; keeps the search for a second key short.
  static constexpr size_t kMaxEntries = 256;

  std::optional<Node> root_;
  std::vector<Open> open_;
  std::map<YAML::anchor_t, Node> anchors_;
  size_t nodes_ = 0;
  size_t bytes_ = 0;
};

// Length of the well-formed UTF-8 character at the start of `text`, 0 when there is none or when it
// is a control character that text does not hold.
size_t TextCharacterBytes(std::string_view text) {
  const auto lead = static_cast<unsigned char>(text[0]);
  const bool control = lead < 0x20 && lead != '\t' && lead != '\n' && lead != '\r';
  return control ? 0 : CharacterBytes(text);
}

std::optional<Position> FirstBadCharacter(std::string_view text) {
  Position at{1, 1};
  while (!text.empty()) {
    const size_t length = TextCharacterBytes(text);
    if (length == 0) return at;
    at.column += 1;
    if (text.front() == '\n') at = {at.line + 1, 1};
    text.remove_prefix(length);
  }
  return std::nullopt;
}

// A read-only stream over the text, without a copy.
class ViewBuffer final : public std::streambuf {
 public:
  explicit ViewBuffer(std::string_view text) {
    char* begin = const_cast<char*>(text.data());  // streambuf's interface; never written.
    setg(begin, begin, begin + text.size());
  }
};

// yaml-cpp appends what it read to some messages after a colon; it may be part of a secret.
std::string WithoutQuotes(const std::string& message) {
  return message.substr(0, message.find(": "));
}

Result<Node> Refused(std::string_view path, Position at, std::string_view reason) {
  return Fail(Code::kUsage, "{}: cannot read line {}, column {}: {}", path, at.line, at.column,
              reason);
}

}  // namespace

std::string Shown(std::string_view text) {
  const bool plain = std::all_of(text.begin(), text.end(), [](unsigned char c) {
    return c == '_' || c == '-' || c == '.' || c == ' ' || c == '/' || c == '{' || c == '}' ||
           c == '$' || (c >= '0' && c <= '9') || ((c | 0x20) >= 'a' && (c | 0x20) <= 'z');
  });
  if (plain && text.size() <= kMaxShownBytes) return fmt::format("'{}'", text);
  return fmt::format("a text of {} bytes", text.size());
}

Result<Node> ParseYaml(std::string_view text, std::string_view path) {
  if (const auto bad = FirstBadCharacter(text)) {
    return Refused(path, *bad, "not UTF-8 text; save the file as UTF-8");
  }
  const auto opens = [](char c) { return c == '[' || c == '{'; };
  if (std::count_if(text.begin(), text.end(), opens) > kMaxBrackets) {
    return Refused(path, {1, 1}, fmt::format("more than {} brackets in the file", kMaxBrackets));
  }
  ViewBuffer buffer(text);
  std::istream stream(&buffer);
  TreeBuilder first;
  TreeBuilder second;
  try {
    YAML::Parser parser(stream);
    if (!parser.HandleNextDocument(first) || !first.root().has_value()) {
      return Fail(Code::kUsage, "{}: the file has no content; write source: and exports:", path);
    }
    if (parser.HandleNextDocument(second)) {
      const Position at = second.root().has_value() ? second.root()->at : Position{1, 1};
      return Refused(path, at, "a second document; keep one per file");
    }
  } catch (const Refusal& refusal) {
    return Refused(path, refusal.at, refusal.reason);
  } catch (const YAML::Exception& error) {
    return Fail(Code::kUsage, "{}: not valid YAML at line {}, column {}: {}", path,
                error.mark.line + 1, error.mark.column + 1, WithoutQuotes(error.msg));
  }
  return *first.root();
}

}  // namespace weir::config
