#include <algorithm>

#include "weir/sql/lexer_internal.h"

namespace weir::sql {
namespace {

constexpr size_t kNoEnd = std::string_view::npos;

bool IsBlank(char c) {
  return c == ' ' || c == '\t' || c == '\n' || c == '\r' || c == '\f';
}
bool EndsLine(char c) { return c == '\n' || c == '\r'; }
bool IsDigit(char c) { return c >= '0' && c <= '9'; }
bool BeginsName(char c) {
  const bool letter = (c | 0x20) >= 'a' && (c | 0x20) <= 'z';
  return letter || c == '_' || static_cast<unsigned char>(c) >= 0x80;
}

char Lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + ('a' - 'A')) : c; }

// Bytes at the front of `text` for which `holds` is true.
template <typename Predicate>
size_t Run(std::string_view text, Predicate holds) {
  return std::find_if_not(text.begin(), text.end(), holds) - text.begin();
}

// Bytes of the comment that `text` begins with; comments nest.
size_t CommentBytes(std::string_view text) {
  size_t depth = 0;
  for (size_t at = 0; at + 1 < text.size();) {
    const std::string_view pair = text.substr(at, 2);
    if (pair == "/*") ++depth;
    if (pair == "*/") --depth;
    if (depth == 0) return at + 2;
    at += pair == "/*" || pair == "*/" ? 2 : 1;
  }
  return kNoEnd;
}

size_t LineCommentBytes(std::string_view text) {
  return Run(text, [](char c) { return !EndsLine(c); });
}

// Bytes of the blanks or of the one comment that `text` begins with; 0 for anything else.
size_t BlankBytes(std::string_view text) {
  if (text.starts_with("--")) return LineCommentBytes(text);
  if (text.starts_with("/*")) return CommentBytes(text);
  return Run(text, IsBlank);
}

// Bytes up to and with the quote that closes the one `text` begins with. A doubled quote does not.
size_t QuotedBytes(std::string_view text, bool backslashes) {
  const char quote = text[0];
  size_t at = 1;
  while (at < text.size()) {
    if (backslashes && text[at] == '\\') {
      at += 2;
    } else if (text[at] != quote) {
      ++at;
    } else if (at + 1 < text.size() && text[at + 1] == quote) {
      at += 2;
    } else {
      return at + 1;
    }
  }
  return kNoEnd;
}

// Bytes between a text that has been closed and the quote on a later line that goes on with it; 0
// when it does not go on.
size_t GapBytes(std::string_view text) {
  size_t at = 0;
  bool new_line = false;
  while (at < text.size() && (IsBlank(text[at]) || text.substr(at).starts_with("--"))) {
    new_line = new_line || EndsLine(text[at]);
    at += IsBlank(text[at]) ? 1 : LineCommentBytes(text.substr(at));
  }
  return new_line && at < text.size() && text[at] == '\'' ? at : 0;
}

// Bytes of E'...'. Only here does it matter that a text may go on after a line's end: the
// backslashes of what follows count too.
size_t EscapedTextBytes(std::string_view text) {
  size_t bytes = 1;
  while (true) {
    const size_t piece = QuotedBytes(text.substr(bytes), true);
    if (piece == kNoEnd) return kNoEnd;
    bytes += piece;
    const size_t gap = GapBytes(text.substr(bytes));
    if (gap == 0) return bytes;
    bytes += gap;
  }
}

// $tag$ or $$, if `text` begins with one.
std::string_view DollarTag(std::string_view text) {
  const std::string_view rest = text.substr(1);
  const size_t name = rest.empty() || !BeginsName(rest[0]) ? 0 : Run(rest, [](char c) {
    return BeginsName(c) || IsDigit(c);
  });
  const bool closed = name < rest.size() && rest[name] == '$';
  return closed ? text.substr(0, name + 2) : std::string_view();
}

size_t WordBytes(std::string_view text) {
  return Run(text, [](char c) { return BeginsName(c) || IsDigit(c) || c == '$'; });
}

// Letters after a number are taken with it: it is a mistake, and E in 1E'x' begins no text.
size_t NumberBytes(std::string_view text) {
  size_t at = Run(text, IsDigit);
  if (text.substr(at).starts_with('.')) at += 1 + Run(text.substr(at + 1), IsDigit);
  const std::string_view rest = text.substr(at);
  const bool sign = rest.size() > 1 && Lower(rest[0]) == 'e' && (rest[1] == '+' || rest[1] == '-');
  if (sign) at += 2;
  return at + Run(text.substr(at), [](char c) { return BeginsName(c) || IsDigit(c); });
}

bool BeginsNumber(std::string_view text) {
  return IsDigit(text[0]) || (text[0] == '.' && text.size() > 1 && IsDigit(text[1]));
}

// The first token of a text, and what would close it where it has no end.
struct Lexeme {
  TokenKind kind;
  size_t bytes;
  std::string_view closer = {};
};

Lexeme DollarLexeme(std::string_view text) {
  const std::string_view tag = DollarTag(text);
  if (tag.empty()) return {TokenKind::kSymbol, 1};
  const size_t end = text.find(tag, tag.size());
  return {TokenKind::kOtherText, end == text.npos ? kNoEnd : end + tag.size(), tag};
}

// Requires: `text` is not empty and begins with no blank and no comment.
Lexeme FirstLexeme(std::string_view text) {
  const char c = text[0];
  if (c == '\'') return {TokenKind::kText, QuotedBytes(text, false), "'"};
  if (c == '"') return {TokenKind::kQuotedName, QuotedBytes(text, false), "\""};
  if (c == '$') return DollarLexeme(text);
  if (Lower(c) == 'e' && text.substr(1).starts_with('\'')) {
    return {TokenKind::kOtherText, EscapedTextBytes(text), "'"};
  }
  if (BeginsNumber(text)) return {TokenKind::kNumber, NumberBytes(text)};
  if (BeginsName(c)) return {TokenKind::kWord, WordBytes(text)};
  return {TokenKind::kSymbol, 1};
}

Error NeverEnds(Position at, std::string_view thing, std::string_view closer) {
  return FailAt(at, "the {} that begins here has no end; close it with {}", thing, Shown(closer));
}

}  // namespace

Result<Token> Lexer::Next() {
  WEIR_DO(PassBlanks());
  if (rest_.empty()) return Token{TokenKind::kEnd, rest_, at_};
  const Lexeme lexeme = FirstLexeme(rest_);
  if (lexeme.bytes == kNoEnd) {
    return NeverEnds(at_, lexeme.kind == TokenKind::kQuotedName ? "name" : "text", lexeme.closer);
  }
  const Position begin = at_;
  return Token{lexeme.kind, Take(lexeme.bytes), begin};
}

Status Lexer::PassBlanks() {
  while (true) {
    const size_t bytes = BlankBytes(rest_);
    if (bytes == kNoEnd) return NeverEnds(at_, "comment", "*/");
    if (bytes == 0) return Ok();
    Take(bytes);
  }
}

std::string_view Lexer::Take(size_t bytes) {
  const std::string_view taken = rest_.substr(0, bytes);
  at_ = After(at_, taken);
  rest_.remove_prefix(bytes);
  return taken;
}

Result<std::vector<Token>> TokensOf(std::string_view text, Position at) {
  Lexer lexer(text, at);
  std::vector<Token> tokens;
  do {
    WEIR_TRY(tokens.emplace_back(), lexer.Next());
  } while (tokens.back().kind != TokenKind::kEnd);
  return tokens;
}

bool IsWord(const Token& token, std::string_view upper) {
  return token.kind == TokenKind::kWord &&
         std::equal(token.text.begin(), token.text.end(), upper.begin(), upper.end(),
                    [](char a, char b) { return Lower(a) == Lower(b); });
}

bool IsName(const Token& token) {
  if (token.kind == TokenKind::kQuotedName) return token.text != "\"\"";
  return token.kind == TokenKind::kWord;
}

std::string NameOf(const Token& token) {
  if (token.kind == TokenKind::kQuotedName) return Unquoted(token.text);
  std::string name(token.text);
  std::transform(name.begin(), name.end(), name.begin(), Lower);  // ASCII only, as PostgreSQL does.
  return name;
}

std::string Unquoted(std::string_view quoted) {
  const char quote = quoted[0];
  std::string text;
  for (size_t at = 1; at + 1 < quoted.size(); ++at) {
    text += quoted[at];
    if (quoted[at] == quote) ++at;  // The second of two.
  }
  return text;
}

}  // namespace weir::sql
