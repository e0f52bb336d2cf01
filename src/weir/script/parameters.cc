#include "weir/script/parameters_internal.h"

#include <cstdint>

namespace weir::script {
namespace {

bool IsName(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
         c == '$' || c == '\\' || static_cast<uint8_t>(c) >= 0x80;
}

// Reads a text that the engine has parsed before, so what it meets is well formed.
class Scanner {
 public:
  explicit Scanner(std::string_view text) : text_(text) {}

  Result<std::vector<std::string>> Parameters() {
    Take("async");
    if (!Take("function")) {
      const std::string_view name = Name();
      if (name == "class") return std::vector<std::string>{};
      SkipBlank();
      if (Peek() != '(') return std::vector<std::string>{std::string(name)};  // x => ...
    } else {
      if (Peek() == '*') ++at_;
      Name();
    }
    SkipBlank();
    if (Peek() != '(') return std::vector<std::string>{};
    ++at_;
    return List();
  }

 private:
  char Peek(size_t ahead = 0) const {
    return at_ + ahead < text_.size() ? text_[at_ + ahead] : '\0';
  }

  void SkipBlank() {
    while (at_ < text_.size()) {
      if (Peek() == ' ' || (Peek() >= '\t' && Peek() <= '\r')) {
        ++at_;
      } else if (!SkipComment()) {
        return;
      }
    }
  }

  bool SkipComment() {
    if (Peek() != '/' || (Peek(1) != '/' && Peek(1) != '*')) return false;
    const std::string_view end = Peek(1) == '/' ? "\n" : "*/";
    const size_t found = text_.find(end, at_ + 2);
    at_ = found == std::string_view::npos ? text_.size() : found + end.size();
    return true;
  }

  std::string_view Name() {
    SkipBlank();
    const size_t begin = at_;
    while (at_ < text_.size() && IsName(Peek())) ++at_;
    return text_.substr(begin, at_ - begin);
  }

  // Takes the word if it comes next, and a name, a star or a list comes after it.
  bool Take(std::string_view word) {
    const size_t begin = at_;
    if (Name() == word) {
      SkipBlank();
      if (IsName(Peek()) || Peek() == '*' || Peek() == '(') return true;
    }
    at_ = begin;
    return false;
  }

  Result<std::vector<std::string>> List() {
    std::vector<std::string> names;
    while (true) {
      SkipBlank();
      if (Peek() == ')' || Peek() == '\0') return names;
      if (Peek() == '.') {
        return Fail(Code::kInvalid,
                    "parameter {} of main is a rest parameter, which no argument's name fits; "
                    "give each parameter a name",
                    names.size() + 1);
      }
      names.emplace_back(Name());
      SkipToComma();
    }
  }

  // Past the comma that ends a parameter, or to the list's end.
  void SkipToComma() {
    int depth = 0;
    char before = '=';  // The last character that counts: tells a division from an expression.
    while (at_ < text_.size()) {
      SkipBlank();
      const char c = Peek();
      if (depth == 0 && c == ')') return;
      if (c == '"' || c == '\'' || c == '`') {
        SkipText(c);
      } else if (c == '/' && !IsName(before) && before != ')' && before != ']' && before != '}') {
        SkipExpression();
      } else {
        ++at_;
        if (depth == 0 && c == ',') return;
        depth += c == '(' || c == '[' || c == '{' ? 1 : c == ')' || c == ']' || c == '}' ? -1 : 0;
      }
      before = c;
    }
  }

  void SkipText(char quote) {
    for (++at_; at_ < text_.size() && Peek() != quote; ++at_) {
      if (Peek() == '\\') {
        ++at_;
      } else if (quote == '`' && Peek() == '$' && Peek(1) == '{') {
        SkipHole();
      }
    }
    ++at_;
  }

  // Past `${...}` but for its last brace; deeper ones are skipped as text is, by their quotes.
  void SkipHole() {
    int depth = 0;
    for (++at_; at_ < text_.size(); ++at_) {
      if (Peek() == '{') ++depth;
      if (Peek() == '}' && --depth == 0) return;
      if (Peek() == '"' || Peek() == '\'') {
        const char quote = Peek();
        for (++at_; at_ < text_.size() && Peek() != quote; ++at_) at_ += Peek() == '\\' ? 1 : 0;
      }
    }
  }

  void SkipExpression() {
    bool in_class = false;
    for (++at_; at_ < text_.size() && (in_class || Peek() != '/'); ++at_) {
      if (Peek() == '\\') ++at_;
      if (Peek() == '[') in_class = true;
      if (Peek() == ']') in_class = false;
    }
    ++at_;
  }

  std::string_view text_;
  size_t at_ = 0;
};

}  // namespace

Result<std::vector<std::string>> ParametersOf(std::string_view function) {
  return Scanner(function).Parameters();
}

}  // namespace weir::script
