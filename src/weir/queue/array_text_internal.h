#pragma once
// ArrayText: a one-dimensional array as PostgreSQL reads it.
#include <string>
#include <string_view>

#include <fmt/format.h>

namespace weir::queue {

/// Built element by element: {1,2} or {"a","b"}.
class ArrayText {
 public:
  template <typename Number>
  void AddNumber(Number number) {
    Separate();
    fmt::format_to(std::back_inserter(text_), "{}", number);
  }
  /// Of any characters; PostgreSQL refuses NUL itself.
  void AddText(std::string_view text) {
    Separate();
    text_ += '"';
    for (const char each : text) {
      if (each == '"' || each == '\\') text_ += '\\';
      text_ += each;
    }
    text_ += '"';
  }
  void AddBool(bool value) {
    Separate();
    text_ += value ? 't' : 'f';
  }
  std::string text() const { return text_ + '}'; }

 private:
  void Separate() {
    if (text_.size() > 1) text_ += ',';
  }

  std::string text_ = "{";
};

}  // namespace weir::queue
