#include "weir/net/headers.h"

#include <algorithm>

namespace weir::net {
namespace {

char Lower(char letter) {
  return letter >= 'A' && letter <= 'Z' ? static_cast<char>(letter - 'A' + 'a') : letter;
}

}  // namespace

void HeaderList::Add(std::string_view name, std::string_view value) {
  constexpr size_t kUsualBytes = 256;
  constexpr size_t kUsualFields = 8;
  if (places_.empty()) {
    text_.reserve(kUsualBytes);
    places_.reserve(kUsualFields);
  }
  places_.push_back({static_cast<uint32_t>(text_.size()), static_cast<uint32_t>(name.size()),
                     static_cast<uint32_t>(value.size())});
  const auto begin = static_cast<ptrdiff_t>(text_.size());
  text_.append(name);
  std::transform(text_.begin() + begin, text_.end(), text_.begin() + begin, Lower);
  text_.append(value);
}

std::string_view HeaderList::Find(std::string_view wanted) const {
  for (size_t at = 0; at < size(); ++at) {
    if (name(at) == wanted) return value(at);
  }
  return {};
}

size_t HeaderList::Count(std::string_view wanted) const {
  size_t count = 0;
  for (size_t at = 0; at < size(); ++at) count += name(at) == wanted ? 1 : 0;
  return count;
}

bool IsFieldValue(std::string_view text) {
  return std::all_of(text.begin(), text.end(), [](char letter) {
    const auto byte = static_cast<unsigned char>(letter);
    return byte == '\t' || (byte >= 0x20 && byte != 0x7F);
  });
}

bool IsToken(std::string_view text) {
  constexpr std::string_view kMarks = "!#$%&'*+-.^_`|~";
  return !text.empty() && std::all_of(text.begin(), text.end(), [&](char letter) {
    const char lower = Lower(letter);
    return (lower >= 'a' && lower <= 'z') || (lower >= '0' && lower <= '9') ||
           kMarks.find(lower) != std::string_view::npos;
  });
}

std::string LowerCase(std::string_view text) {
  std::string lower(text);
  std::transform(lower.begin(), lower.end(), lower.begin(), Lower);
  return lower;
}

bool SameIgnoringCase(std::string_view a, std::string_view b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                    [](char left, char right) { return Lower(left) == Lower(right); });
}

}  // namespace weir::net
