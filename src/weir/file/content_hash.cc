#include "weir/file/content_hash.h"

#include <fmt/format.h>

#include "weir/file/value_text.h"
#include "weir/sys/md5.h"

namespace weir::file {

void ContentHash::Add(const table::Batch& batch) {
  for (int64_t row = 0; row < batch.row_count; ++row) {
    row_text_.clear();
    for (size_t column = 0; column < batch.columns.size(); ++column) {
      if (column != 0) row_text_ += '\x1f';
      if (batch.columns[column].IsNull(row)) {
        row_text_ += '\x1e';
      } else {
        AppendValueText(batch.columns[column], row, row_text_);
      }
    }
    sum_ += sys::Md5Prefix(AsBytes(row_text_));
  }
  row_count_ += batch.row_count;
}

std::string ContentHash::Text() const {
  if (row_count_ == 0) return "0";
  return fmt::format("{}", sum_);
}

std::string ContentHashSql(const std::string& table, const std::vector<std::string>& columns) {
  std::string row_text;
  for (const std::string& column : columns) {
    if (!row_text.empty()) row_text += " || E'\\x1f' || ";
    // concat() prints a value as COPY and psql do; a cast to text would print booleans as words.
    row_text +=
        fmt::format("CASE WHEN {0} IS NULL THEN E'\\x1e' ELSE pg_catalog.concat({0}) END", column);
  }
  return fmt::format(
      "SELECT count(*), coalesce(sum(('x' || substr(md5({}), 1, 16))::bit(64)::bigint), 0) FROM {}",
      row_text, table);
}

}  // namespace weir::file
