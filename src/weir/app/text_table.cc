#include "weir/app/text_table.h"

#include <algorithm>

#include "weir/base/assert.h"
#include "weir/base/printable.h"

namespace weir::app {
namespace {

// Characters, not bytes: UTF-8's continuation bytes take no place of their own.
size_t Width(const std::string& text) {
  return static_cast<size_t>(std::count_if(
      text.begin(), text.end(), [](char c) { return (static_cast<uint8_t>(c) & 0xC0) != 0x80; }));
}

bool LooksNumeric(const std::string& text) {
  return !text.empty() && text.find_first_not_of("0123456789,.-") == text.npos;
}

}  // namespace

TextTable::TextTable(std::vector<std::string> header) { rows_.push_back(std::move(header)); }

void TextTable::AddRow(std::vector<std::string> row) {
  WEIR_ASSERT(row.size() == rows_[0].size());
  for (std::string& cell : row) cell = Printable(cell);
  rows_.push_back(std::move(row));
}

std::string TextTable::Text() const {
  std::vector<size_t> widths(rows_[0].size(), 0);
  std::vector<bool> right(rows_[0].size(), rows_.size() > 1);
  for (size_t at = 0; at < rows_.size(); ++at) {
    for (size_t column = 0; column < widths.size(); ++column) {
      widths[column] = std::max(widths[column], Width(rows_[at][column]));
      if (at > 0 && !LooksNumeric(rows_[at][column])) right[column] = false;
    }
  }
  std::string text;
  for (const auto& row : rows_) {
    std::string line;
    for (size_t column = 0; column < widths.size(); ++column) {
      const std::string pad(widths[column] - Width(row[column]), ' ');
      line += right[column] ? pad + row[column] : row[column] + pad;
      line += "  ";
    }
    line.erase(line.find_last_not_of(' ') + 1);
    text += line + "\n";
  }
  return text;
}

}  // namespace weir::app
