#pragma once
// Lexer: a SQL text as tokens, by the lexical rules of PostgreSQL.
#include <string>
#include <string_view>
#include <vector>

#include "weir/base/result.h"
#include "weir/sql/position.h"

namespace weir::sql {

enum class TokenKind : uint8_t {
  kWord,        ///< A keyword, or a name without quotes.
  kQuotedName,  ///< "name"
  kText,        ///< 'text'
  kOtherText,   ///< E'text' or $tag$text$tag$
  kNumber,      ///< 1, 1.5, .5e-3, and letters that follow at once.
  kSymbol,      ///< Any other byte.
  kEnd,         ///< The text has ended.
};

struct Token {
  TokenKind kind;
  std::string_view text;  ///< As written, quotes included.
  Position at;
};

/// Takes tokens off the front of a text; blanks and comments are passed over. Prefixes other than E
/// (as in X'1f') are words of their own: they do not change where a text ends.
///
/// Cost: O(bytes) over all of the text.
class Lexer {
 public:
  /// `at` is where `text` begins. Tokens are views of it.
  Lexer(std::string_view text, Position at) : rest_(text), at_(at) {}

  /// Errors: kUsage for a quote or a comment that is not closed, with where it begins.
  Result<Token> Next();

 private:
  Status PassBlanks();
  std::string_view Take(size_t bytes);

  std::string_view rest_;
  Position at_;
};

/// All tokens; the last one is kEnd.
/// Errors: of Lexer::Next.
Result<std::vector<Token>> TokensOf(std::string_view text, Position at);

/// True for a word without quotes that is `upper` in any case.
bool IsWord(const Token& token, std::string_view upper);

/// True for a kWord, and for a kQuotedName that is not empty.
bool IsName(const Token& token);

/// What such a token names: lower case unless quoted.
std::string NameOf(const Token& token);

/// The characters between the quotes of a kText or a kQuotedName.
std::string Unquoted(std::string_view quoted);

}  // namespace weir::sql
