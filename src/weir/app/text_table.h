#pragma once
// TextTable: rows in columns, for terminals.
#include <string>
#include <vector>

namespace weir::app {

/// A header and rows of as many cells, which are printed as Printable() says. Columns of numbers
/// only are set right, others left.
class TextTable {
 public:
  explicit TextTable(std::vector<std::string> header);
  void AddRow(std::vector<std::string> row);
  /// Lines with two spaces between columns; the header alone when there are no rows.
  std::string Text() const;

 private:
  std::vector<std::vector<std::string>> rows_;  // The header first.
};

}  // namespace weir::app
