#pragma once
// Secret: text that must not reach a log, a plan, an error or the ledger.
#include <string>
#include <string_view>
#include <utility>

namespace weir {

/// A password, or a connection string that may hold one. It has no formatter and no operator<<, so
/// printing one does not compile; the text comes out only through Reveal(), which is easy to search
/// for.
class Secret {
 public:
  Secret() = default;
  explicit Secret(std::string text) : text_(std::move(text)) {}

  /// The text itself. Hand it to the peer that needs it, and to nothing that prints.
  const std::string& Reveal() const { return text_; }
  bool empty() const { return text_.empty(); }

  friend bool operator==(const Secret&, const Secret&) = default;

 private:
  std::string text_;
};

/// `text` with what looks like the password of a connection URL or string replaced by ***. For text
/// that people typed, on its way into a message; what is known to be secret is a Secret.
std::string HidePasswords(std::string_view text);

}  // namespace weir
