#pragma once
// Snapshot: a table that `weir run` wrote.
#include <memory>
#include <string>
#include <vector>

#include "weir/feed/source.h"
#include "weir/file/manifest.h"

namespace weir::feed {

/// The rows of one export's folder, as its manifest names them; a morsel is a row group.
///
/// Threads: any.
class Snapshot final : public SourceTable {
 public:
  /// Reads the manifest, and the footer of every part.
  /// Errors: of file::ReadManifest and file::RowGroupSizes; kInvalid for parts that are no Parquet.
  static Result<std::unique_ptr<Snapshot>> Open(sys::Files& files, const std::string& folder,
                                                mem::BlockAllocator& blocks);

  const std::string& export_name() const { return manifest_.export_name; }
  const table::Schema& schema() const override { return manifest_.schema; }
  int64_t row_count() const override { return manifest_.total_rows(); }
  int64_t value_bytes() const override { return value_bytes_; }
  /// Its readers' errors are those of file::OpenRowGroup and file::ParquetReader.
  std::unique_ptr<TableScan> NewScan() const override;

 private:
  class Scan;
  struct Morsel {
    size_t part;
    int group;
  };

  Snapshot(std::string folder, file::Manifest manifest)
      : folder_(std::move(folder)), manifest_(std::move(manifest)) {}

  const std::string folder_;
  const file::Manifest manifest_;
  std::vector<Morsel> morsels_;
  int64_t value_bytes_ = 0;
};

}  // namespace weir::feed
