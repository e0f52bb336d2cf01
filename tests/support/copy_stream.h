#pragma once
// COPY BINARY streams for tests: built by hand, or captured from a server; and batches as text.
#include <deque>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "weir/pg/connection.h"
#include "weir/pg/copy_parser.h"

namespace weir::test {

/// Big-endian bytes of an integer.
std::string Big16(int value);
std::string Big32(int64_t value);
std::string Big64(int64_t value);

inline constexpr std::string_view kCopyTrailer("\xff\xff", 2);

/// Signature, flags, and a header extension.
std::string CopyHeader(uint32_t flags = 0, std::string_view extension = "");
/// One row; nullopt is NULL.
std::string CopyRow(const std::vector<std::optional<std::string>>& fields);

/// A nullable column of a kind that needs no more to be said.
pg::CopyColumn PlainColumn(const std::string& name, table::Kind kind);

/// The columns of `select`, as the type map decides; failures abort.
std::vector<pg::CopyColumn> ColumnsOf(pg::Connection& connection, const std::string& select);
/// Reads a COPY that was started, a message at a time.
class CopyReader {
 public:
  explicit CopyReader(pg::Connection& connection, sys::Duration byte_timeout = sys::Duration{0});

  /// What the next message holds; empty at the end.
  Result<std::string> Next();
  /// What is left of all messages.
  Result<std::string> Rest();
  sys::Duration waited() const { return waited_; }

 private:
  pg::Connection& connection_;
  const sys::Duration byte_timeout_;
  mem::Budget budget_{"test", mem::kUnlimited};
  mem::BlockAllocator blocks_{budget_, 0};
  pg::CopyBlock block_{blocks_, 1};
  std::deque<std::string> messages_;
  bool ended_ = false;
  sys::Duration waited_{0};
};

/// Every byte that a COPY ... TO STDOUT gives; failures abort.
std::string CaptureStream(pg::Connection& connection, const std::string& copy);
/// Every byte of COPY (select) TO STDOUT (FORMAT binary); failures abort.
std::string CaptureCopy(pg::Connection& connection, const std::string& select);

/// One value: NULL, fixed-width ones in hex of their bytes as stored, others as they are, lists in
/// brackets.
std::string ShowValue(const table::ColumnData& column, int64_t row);
/// All rows, values divided by |.
std::string ShowBatch(const table::Batch& batch);

}  // namespace weir::test
