#pragma once
// Cell: what one measurement gave, under the keys that cells.csv and --json share.
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "weir/base/result.h"

namespace weir::experiment {

/// A column of cells.csv and a key of --json.
struct CellKey {
  std::string_view name;
  bool is_text = false;  ///< Everything else is a number.
};

/// All keys, in the order of the columns. Add, never rename: people read these files with programs.
std::span<const CellKey> CellKeys();

/// One finished measurement: a value, or none, for each key. Keys that are not in CellKeys() abort.
///
/// Units: the last word of the key; ratios, rates and counts have none.
class Cell {
 public:
  Cell();

  Cell& Set(std::string_view key, std::string text);
  Cell& Set(std::string_view key, const char* text) { return Set(key, std::string(text)); }
  Cell& Set(std::string_view key, int64_t number);
  Cell& Set(std::string_view key, double number);  ///< Kept to six decimals.
  template <typename T>
  Cell& Set(std::string_view key, const std::optional<T>& value) {
    return value.has_value() ? Set(key, *value) : *this;
  }

  /// Takes over every value that `other` has.
  Cell& Merge(const Cell& other);

  bool Has(std::string_view key) const { return !Text(key).empty(); }
  /// The value as it stands in cells.csv; empty when absent.
  const std::string& Text(std::string_view key) const;
  std::optional<double> Number(std::string_view key) const;

  /// One line of cells.csv, without its end.
  std::string CsvLine() const;
  /// One object on one line; an absent value is null.
  std::string JsonLine() const;

  friend bool operator==(const Cell&, const Cell&) = default;

 private:
  std::vector<std::string> values_;  // As long as CellKeys().
};

/// The names of all keys, as the first line of cells.csv.
std::string CsvHeader();

/// Reads cells.csv. A last line without its end was being written when the process died: dropped.
/// Errors: kCorrupt with the line, when it has another number of fields than the header or a
///         number is none; kInvalid when a column is not known here.
Result<std::vector<Cell>> ParseCells(std::string_view text);

}  // namespace weir::experiment
