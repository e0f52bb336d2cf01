#pragma once
// Snapshot: a table in Parquet files.
#include <memory>
#include <string>
#include <vector>

#include "weir/feed/source.h"
#include "weir/file/manifest.h"

namespace weir::feed {

/// The rows of one folder; a morsel is a row group.
///
/// Threads: any.
class Snapshot final : public SourceTable {
 public:
  /// What `weir run` wrote: reads the manifest, and the footer of every part it names.
  /// Errors: of file::ReadManifest and file::RowGroupSizes; kInvalid for parts that are no Parquet;
  ///         kCorrupt for one that has other rows than the manifest says.
  static Result<std::unique_ptr<Snapshot>> Open(sys::Files& files, const std::string& folder,
                                                mem::BlockAllocator& blocks);
  /// What anyone wrote: all "*.parquet" files of the folder, whose name is the table's.
  /// Errors: of file::ParquetSchema; kInvalid when two files have different columns.
  static Result<std::unique_ptr<Snapshot>> OpenFiles(sys::Files& files, const std::string& folder,
                                                     mem::BlockAllocator& blocks);
  /// Whether OpenFiles() would find any.
  static Result<bool> HasFiles(sys::Files& files, const std::string& folder);

  const std::string& export_name() const { return manifest_.export_name; }
  const table::Schema& schema() const override { return manifest_.schema; }
  int64_t row_count() const override { return manifest_.total_rows(); }
  int64_t value_bytes() const override { return value_bytes_; }
  /// Its readers' errors are those of file::OpenRowGroup and file::ParquetReader, and kCorrupt for
  /// a file with other columns.
  std::unique_ptr<TableScan> NewScan() const override;

 private:
  class Scan;
  struct Morsel {
    size_t part;
    int group;
  };

  Snapshot(std::string folder, file::Manifest manifest, bool is_export);
  Status ReadFooters(mem::BlockAllocator& blocks);
  std::string PathOf(size_t part) const;
  Status CheckSchema(size_t part, const table::Schema& schema) const;

  const std::string folder_;
  file::Manifest manifest_;
  const bool is_export_;           // The manifest says how many rows each part has.
  const std::string schema_json_;
  std::vector<Morsel> morsels_;
  int64_t value_bytes_ = 0;
};

}  // namespace weir::feed
