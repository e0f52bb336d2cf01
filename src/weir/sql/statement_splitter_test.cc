#include "weir/sql/statement_splitter.h"

#include <random>
#include <string>

#include "tests/support/seeds.h"
#include "weir/base/utf8.h"

namespace weir::sql {
namespace {

// "line:column text" of each statement; an error's message for text that is not split.
std::vector<std::string> Split(std::string_view text) {
  const auto split = SplitStatements(text);
  if (!split.ok()) {
    EXPECT_EQ(split.error().code, Code::kUsage);
    return {split.error().message};
  }
  std::vector<std::string> shown;
  for (const StatementText& one : split.value()) {
    shown.push_back(fmt::format("{}:{} {}", one.at.line, one.at.column, one.text));
  }
  return shown;
}

struct Row {
  std::string_view text;
  std::vector<std::string> statements;
};

TEST(StatementSplitter, CutsAtSemicolonsOutsideOfQuotesAndComments) {
  const Row table[] = {
      {"", {}},
      {" \t\r\n\f", {}},
      {";;\n;", {}},
      {"-- nothing; here\n/* nor ; here */ ;", {}},
      {"a", {"1:1 a"}},
      {" a ; b;\n  c d ;", {"1:2 a", "1:6 b", "2:3 c d"}},
      {"\xef\xbb\xbf" "a;b", {"1:1 a", "1:3 b"}},
      {"a 'x;''y;' b; c", {"1:1 a 'x;''y;' b", "1:15 c"}},
      {"'back\\'; a", {"1:1 'back\\'", "1:10 a"}},
      {"E'quote\\';' ; a", {"1:1 E'quote\\';'", "1:15 a"}},
      {"e'\\\\'; a", {"1:1 e'\\\\'", "1:8 a"}},
      {"type'x\\'; a", {"1:1 type'x\\'", "1:11 a"}},
      {"E'a' -- it's\n '\\';'; b", {"1:1 E'a' -- it's\n '\\';'", "2:9 b"}},
      {"E'a' '\\'; b", {"1:1 E'a' '\\'", "1:11 b"}},
      {"X'1f' N';' U&'\\' ; b", {"1:1 X'1f' N';' U&'\\'", "1:20 b"}},
      {"\"a;\"\"b;\" ; c", {"1:1 \"a;\"\"b;\"", "1:12 c"}},
      {"$$;'$$; a", {"1:1 $$;'$$", "1:9 a"}},
      {"$t$;$$;$T$;$t$; a", {"1:1 $t$;$$;$T$;$t$", "1:17 a"}},
      {"$a$ $b$a$; c", {"1:1 $a$ $b$a$", "1:12 c"}},
      {"a$b$; c$b$", {"1:1 a$b$", "1:7 c$b$"}},   // A dollar inside of a name.
      {"$1; $; $1a$; b", {"1:1 $1", "1:5 $", "1:8 $1a$", "1:14 b"}},
      {"a--;\n;b", {"1:1 a", "2:2 b"}},
      {"a--;\r;b", {"1:1 a", "1:7 b"}},
      {"a -- ;\nb", {"1:1 a -- ;\nb"}},
      {"a*/*;*/b; c", {"1:1 a*/*;*/b", "1:11 c"}},
      {"a /* ; /* ; */ ; **/ b; c", {"1:1 a /* ; /* ; */ ; **/ b", "1:25 c"}},
      {"a; /* c */", {"1:1 a"}},
      {"1.5e-3;.5;1..2", {"1:1 1.5e-3", "1:8 .5", "1:11 1..2"}},
      {"1E'\\';1.E'\\';1e1.E'\\';'", {"1:1 1E'\\'", "1:7 1.E'\\'", "1:14 1e1.E'\\';'"}},
      {"\xc3\xa4\xf0\x9f\xa6\x86;\xe2\x82\xac; x",
       {"1:1 \xc3\xa4\xf0\x9f\xa6\x86", "1:4 \xe2\x82\xac", "1:7 x"}},
  };
  for (const Row& row : table) EXPECT_EQ(Split(row.text), row.statements) << row.text;
}

TEST(StatementSplitter, WhatIsNotClosedIsRefusedWhereItBegins) {
  using namespace std::string_view_literals;
  const std::pair<std::string_view, std::string_view> table[] = {
      {"a;\n b 'c;\n", "line 2, column 4: the text that begins here has no end; close it with '"},
      {"'it''", "line 1, column 1: the text that begins here has no end; close it with '"},
      {"\xc3\xa4 E'\\'", "line 1, column 3: the text that begins here has no end; close it with '"},
      {"E'a'\n'\\'", "line 1, column 1: the text that begins here has no end; close it with '"},
      {"E'\\", "line 1, column 1: the text that begins here has no end; close it with '"},
      {"a \"b\"\"", "line 1, column 3: the name that begins here has no end; close it with \""},
      {"$$ $x$",
       "line 1, column 1: the text that begins here has no end; close it with $$"},
      {"a\n$fn_1$ $$ $fn_2$",
       "line 2, column 1: the text that begins here has no end; close it with $fn_1$"},
      {"/* /* */ '", "line 1, column 1: the comment that begins here has no end; close it with */"},
      {"a /*/", "line 1, column 3: the comment that begins here has no end; close it with */"},
      {"a\n\xc3\xa4\xff", "line 2, column 2: this is not UTF-8 text; save it as UTF-8"},
      {"a\n'\0'"sv, "line 2, column 2: the character NUL stands here; take it out"},
  };
  for (const auto& [text, message] : table) {
    EXPECT_EQ(Split(text), std::vector<std::string>{std::string(message)}) << text;
  }
}

// Where `bytes` of `text` end, by its characters.
std::string WhereNaively(std::string_view text, size_t bytes) {
  int line = 1;
  int column = 1;
  for (size_t at = 0; at < bytes; at += CharacterBytes(text.substr(at))) {
    column = text[at] == '\n' ? 1 : column + 1;
    line += text[at] == '\n' ? 1 : 0;
  }
  return fmt::format("{}:{} ", line, column);
}

template <typename List>
const auto& PickFrom(const List& list, std::mt19937_64& rng) {
  return list[rng() % std::size(list)];
}

// Goal:   statements come back as they were put in, whatever quotes and comments they hold.
// Method: statements of tricky pieces, with blanks, comments and semicolons between them.
TEST(StatementSplitter, StatementsOfTrickyPiecesComeBack) {
  constexpr std::string_view kPieces[] = {
      "select", "'a;b'", "'it''s;'", "'back\\'", "E'\\';' ,", "e'a'\n'\\';' ,", "\"x;\"\"y\"",
      "$$;'$$", "$t$;$$;$u$;$t$", "a$b$c", "e", "1e", "$1", "$", "-", "/", "*", "\xc3\xa4",
      "\xf0\x9f\xa6\x86", "(", "1.5e-3", "''", "$q$\n;$q$", "U&'\\'", "--;\n1", "/*;'*/2"};
  constexpr std::string_view kBlanks[] = {" ",           "\n",      "\t\r\n",
                                          " /* ; ' */ ", " --;'\n", "/*/*;*/*/"};
  for (const uint64_t seed : test::Seeds(200)) {
    SCOPED_TRACE(fmt::format("to repeat: WEIR_SEED={}", seed));
    std::mt19937_64 rng(seed);
    std::string text;
    std::vector<std::string> want;
    for (uint64_t statements = rng() % 6; statements > 0; --statements) {
      while (rng() % 2 == 0) text += PickFrom(kBlanks, rng);
      std::string statement = "first";
      for (uint64_t pieces = rng() % 8; pieces > 0; --pieces) {
        statement += PickFrom(kBlanks, rng);
        statement += PickFrom(kPieces, rng);
      }
      want.push_back(WhereNaively(text, text.size()) + statement);
      text += statement;
      do {
        while (rng() % 2 == 0) text += PickFrom(kBlanks, rng);
        text += ';';
      } while (rng() % 4 == 0);
    }
    while (rng() % 2 == 0) text += PickFrom(kBlanks, rng);
    EXPECT_EQ(Split(text), want) << text;
  }
}

}  // namespace
}  // namespace weir::sql
