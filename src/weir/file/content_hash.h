#pragma once
// ContentHash: one number for all rows of a table, whatever their order; PostgreSQL can compute the
// same.
#include <string>
#include <vector>

#include "weir/table/column.h"

namespace weir::file {

/// Sum over all rows of the first 64 bits of the MD5 of the row's text: its columns' canonical
/// texts joined by \x1f, NULL as \x1e. A sum, so that equal rows do not cancel out.
class ContentHash {
 public:
  void Add(const table::Batch& batch);

  int64_t row_count() const { return row_count_; }
  /// The sum as a decimal number, as PostgreSQL prints sum(bigint).
  std::string Text() const;

 private:
  __int128 sum_ = 0;
  int64_t row_count_ = 0;
  std::string row_text_;
};

/// A SELECT of one row, (row count, hash), over the quoted columns of a quoted table. Requires the
/// settings that BeginReadOnly pins.
std::string ContentHashSql(const std::string& table, const std::vector<std::string>& columns);

}  // namespace weir::file
