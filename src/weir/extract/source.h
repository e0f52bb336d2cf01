#pragma once
// Source: a table or query held still for reading: locked first, then its snapshot taken, then
//         measured.
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "weir/pg/catalog.h"
#include "weir/pg/copy_parser.h"
#include "weir/pg/select_sql.h"
#include "weir/pg/session.h"

namespace weir::extract {

/// Who asked, so that messages name what there is to write.
enum class AskedBy {
  kFlags,  ///< A command line with --exclude.
  kFile,   ///< A configuration, where a query leaves columns out.
};

/// What to read.
struct SourceRequest {
  pg::Target target;
  std::optional<pg::TableName> table;  ///< Else `query`.
  std::string query;
  std::vector<std::string> columns;    ///< Only these, in this order; empty: all.
  std::vector<std::string> exclude;    ///< But not these.
  std::string where;
  std::optional<int64_t> limit;
  pg::SessionSettings settings;
  AskedBy asked_by = AskedBy::kFlags;
};

/// A source ready to be read, in a transaction that sees one moment.
///
/// Invariant: ACCESS SHARE on all that is read was held before the snapshot was taken and is held
///            until Close(): a TRUNCATE or rewrite in between would leave the snapshot an empty
///            table (decision lock-first, I1).
/// Threads:   one at a time.
class Source {
 public:
  /// Errors: of pg::Connection; kInvalid names every column of a type that cannot be read yet, or
  ///         without rights.
  static Result<std::unique_ptr<Source>> Open(const SourceRequest& request, const sys::Stop& stop);

  const std::string& name() const { return name_; }  ///< schema.table, or "query".
  const std::vector<pg::CopyColumn>& columns() const { return columns_; }
  table::Schema schema() const;
  const std::vector<std::string>& primary_key() const { return primary_key_; }
  const pg::SnapshotMark& mark() const { return mark_; }
  const pg::TableSize& size() const { return size_; }
  /// How people leave out a column whose values cannot be taken: the end of a sentence.
  std::string_view leave_out() const;
  pg::Connection& connection() { return *connection_; }

  /// COPY ... TO STDOUT of what was asked for; see Connection::StartCopyOut.
  Status StartCopy(sys::Duration byte_timeout, sys::Duration* waited) {
    return connection_->StartCopyOut(pg::CopySql(select_), byte_timeout, waited);
  }
  /// Ends the transaction, its counters flushed. The snapshot is held no longer.
  Status Close();
  /// Since the snapshot was taken, until Close().
  sys::Duration snapshot_hold() const;

 private:
  Source() = default;
  Status Begin(const SourceRequest& request, const sys::Stop& stop);
  Status BeginTable(const SourceRequest& request, const sys::Stop& stop);
  Status BeginQuery(const SourceRequest& request, const sys::Stop& stop);
  Status OpenHolder(const SourceRequest& request, const sys::Stop& stop);
  Status ChooseColumns(const SourceRequest& request, const std::vector<pg::CatalogColumn>& all);
  Status Snapshot();

  std::string name_;
  AskedBy asked_by_ = AskedBy::kFlags;
  std::unique_ptr<pg::Connection> connection_;
  std::unique_ptr<pg::Connection> holder_;  // Holds the locks that connection_ could not take.
  std::string select_;
  std::vector<pg::CopyColumn> columns_;
  std::vector<std::string> primary_key_;
  pg::SnapshotMark mark_;
  pg::TableSize size_;
  sys::Duration snapshot_at_{0};
  sys::Duration closed_at_{0};
};

}  // namespace weir::extract
