#pragma once
// HeaderList: the header fields of one message, in one text.
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace weir::net {

/// Names and values in the order they came. Names are kept in lower case.
///
/// Memory:  two allocations, however many fields.
/// Threads: as a std::string.
class HeaderList {
 public:
  /// Requires: all of it together stays below 4 GiB.
  void Add(std::string_view name, std::string_view value);

  size_t size() const { return places_.size(); }
  std::string_view name(size_t at) const {
    return std::string_view(text_).substr(places_[at].begin, places_[at].name_bytes);
  }
  std::string_view value(size_t at) const {
    return std::string_view(text_).substr(places_[at].begin + places_[at].name_bytes,
                                          places_[at].value_bytes);
  }
  /// The first value under `name`, which is in lower case; empty when there is none.
  std::string_view Find(std::string_view name) const;
  /// How many fields bear `name`, which is in lower case.
  size_t Count(std::string_view name) const;

 private:
  struct Place {
    uint32_t begin;
    uint32_t name_bytes;
    uint32_t value_bytes;
  };
  std::string text_;
  std::vector<Place> places_;
};

/// True for text without control characters, so that it cannot end a line of a message's head.
bool IsFieldValue(std::string_view text);
/// True for a token of HTTP: what a method or a field's name is made of.
bool IsToken(std::string_view text);
/// ASCII letters in lower case, the rest as it is.
std::string LowerCase(std::string_view text);
/// True when the two differ at most in the case of ASCII letters.
bool SameIgnoringCase(std::string_view a, std::string_view b);

}  // namespace weir::net
