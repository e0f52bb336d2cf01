#pragma once
// TpchFiles: the snapshot that hydrate ladders read, and SQL files over it.
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "weir/experiment/hydrate_bench.h"

namespace weir::experiment {

/// The seed of all rows, and of their order when shuffled.
inline constexpr uint64_t kTpchSeed = 1;
/// The least --memory that anything is measured with.
inline constexpr int64_t kLeastMemoryBytes = int64_t{128} << 20;

/// The tables that the 18 indexes are on, a name for each index, in the order of the statements.
std::vector<std::string> TablesOfIndexes();

/// The tables of TPC-H in Parquet, written once and kept in the bench folder.
///
/// Threads: one.
class TpchFiles {
 public:
  TpchFiles(const HydrateOptions& options, const HydrateBench& bench)
      : scale_factor_(options.scale_factor), shuffled_(options.shuffled), bench_(bench) {}

  /// Writes what is not there, measures it, and warms up: the page cache with it, and memory for
  /// the indexes, twice their bytes and at most half of what there is.
  /// Errors: of feed::WriteTpchSnapshot, feed::OpenParquetSource and ReadThrough.
  Status Prepare();

  std::string folder() const;
  /// Writes `statements` over the source `tpch` to a file in the scratch folder; gives its path.
  Result<std::string> WriteSql(std::string_view name, std::string_view statements) const;

  /// The bytes of all 18 indexes, or of one on lineitem; its rows. Requires: Prepare().
  int64_t index_bytes() const { return index_bytes_; }
  int64_t lineitem_bytes() const { return lineitem_bytes_; }
  int64_t lineitem_rows() const { return lineitem_rows_; }

  /// Names of the columns of a table, in its order. Requires: Prepare().
  const std::vector<std::string>& ColumnsOf(const std::string& table) const {
    return columns_.at(table);
  }

 private:
  Status WarmUp() const;

  const double scale_factor_;
  const bool shuffled_;
  const HydrateBench& bench_;
  int64_t index_bytes_ = 0;
  int64_t lineitem_bytes_ = 0;
  int64_t lineitem_rows_ = 0;
  std::map<std::string, std::vector<std::string>> columns_;  // By table.
};

/// What --memory is at a pressure above 0: bytes / pressure, and kLeastMemoryBytes at least.
int64_t MemoryAt(int64_t bytes, double pressure);

}  // namespace weir::experiment
