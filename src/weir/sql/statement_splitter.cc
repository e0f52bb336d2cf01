#include "weir/sql/statement_splitter.h"

#include "weir/base/utf8.h"
#include "weir/sql/lexer_internal.h"

namespace weir::sql {
namespace {

constexpr std::string_view kByteOrderMark = "\xef\xbb\xbf";

Status CheckCharacters(std::string_view text) {
  for (size_t at = 0; at < text.size();) {
    const size_t bytes = CharacterBytes(text.substr(at));
    if (bytes == 0) {
      return FailAt(After({}, text.substr(0, at)), "this is not UTF-8 text; save it as UTF-8");
    }
    if (text[at] == '\0') {
      return FailAt(After({}, text.substr(0, at)), "the character NUL stands here; take it out");
    }
    at += bytes;
  }
  return Ok();
}

}  // namespace

Result<std::vector<StatementText>> SplitStatements(std::string_view text) {
  if (text.starts_with(kByteOrderMark)) text.remove_prefix(kByteOrderMark.size());
  WEIR_DO(CheckCharacters(text));
  Lexer lexer(text, Position{});
  std::vector<StatementText> statements;
  bool open = false;
  while (true) {
    WEIR_TRY(const Token token, lexer.Next());
    if (token.kind == TokenKind::kEnd) return statements;
    if (token.text == ";") {
      open = false;
      continue;
    }
    if (!open) statements.push_back({token.text, token.at});
    open = true;
    const char* begin = statements.back().text.data();
    const size_t bytes = token.text.data() + token.text.size() - begin;
    statements.back().text = {begin, bytes};
  }
}

}  // namespace weir::sql
