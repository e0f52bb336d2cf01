#pragma once
// Snapshot: a table that `weir run` wrote, read by any number of threads at once.
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "weir/file/manifest.h"
#include "weir/file/parquet_reader.h"

namespace weir::feed {

/// The rows of one export's folder, as its manifest names them.
///
/// Threads: any; each reader belongs to one.
class Snapshot {
 public:
  /// Reads the manifest, and the footer of every part.
  /// Errors: of file::ReadManifest and file::RowGroupSizes; kInvalid for parts that are no Parquet.
  static Result<std::unique_ptr<Snapshot>> Open(sys::Files& files, const std::string& folder,
                                                mem::BlockAllocator& blocks);

  const table::Schema& schema() const { return manifest_.schema; }
  int64_t row_count() const { return manifest_.total_rows(); }
  int64_t value_bytes() const { return value_bytes_; }  ///< Decoded, about.

  /// One scan over all rows, shared by the threads that take its morsels.
  class Scan {
   public:
    explicit Scan(const Snapshot& snapshot) : snapshot_(snapshot) {}

    /// The next row group that nobody has, in the order of the files; null when there is none left.
    /// Errors: of file::OpenRowGroup.
    Result<std::unique_ptr<file::ParquetReader>> Next(int64_t batch_rows,
                                                      mem::BlockAllocator& blocks);

   private:
    const Snapshot& snapshot_;
    std::mutex mutex_;
    size_t next_ = 0;
  };

 private:
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
