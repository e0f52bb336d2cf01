#include "weir/experiment/tpch_files.h"

#include <algorithm>

#include "weir/base/units.h"
#include "weir/experiment/sql.h"
#include "weir/experiment/warm_up.h"
#include "weir/feed/parquet_source.h"
#include "weir/feed/tpch_snapshot.h"
#include "weir/sys/process.h"

namespace weir::experiment {

std::vector<std::string> TablesOfIndexes() {
  std::vector<std::string> tables;
  const std::string_view sql = sql::kTpchIndexes;
  for (size_t at = sql.find(" ON "); at != sql.npos; at = sql.find(" ON ", at + 1)) {
    const std::string_view rest = sql.substr(at + 4);
    tables.emplace_back(rest.substr(0, rest.find(' ')));
  }
  return tables;
}

Status TpchFiles::Prepare() {
  mem::Budget budget("snapshot", mem::kUnlimited);
  mem::BlockAllocator blocks(budget, 16 * kMiB);
  const std::string whole = sys::JoinPath(folder(), "whole");
  if (!bench_.files.Exists(whole)) {
    const feed::TpchGenerator generator(scale_factor_, kTpchSeed);
    const auto order = shuffled_ ? feed::RowOrder::kShuffled : feed::RowOrder::kGenerated;
    WEIR_DO(feed::WriteTpchSnapshot(generator, order, kTpchSeed, bench_.files, folder(), blocks));
    WEIR_DO(bench_.files.WriteWhole(whole, ""));
  }
  WEIR_TRY(const auto source, feed::OpenParquetSource(bench_.files, folder(), blocks));
  index_bytes_ = 0;
  for (const std::string& table : TablesOfIndexes()) {
    index_bytes_ += source->Find(table)->value_bytes();
    std::vector<std::string>& columns = columns_[table];
    columns.clear();
    for (const auto& column : source->Find(table)->schema().columns) columns.push_back(column.name);
  }
  lineitem_bytes_ = source->Find("lineitem")->value_bytes();
  lineitem_rows_ = source->Find("lineitem")->row_count();
  WEIR_DO(WarmUp());
  return bench_.files.MakeFolder(bench_.scratch);
}

Status TpchFiles::WarmUp() const {
  WEIR_TRY(const auto tables, bench_.files.List(folder()));
  for (const std::string& table : tables) {
    const std::string path = sys::JoinPath(folder(), table);
    if (bench_.files.KindOf(path) != sys::PathKind::kFolder) continue;
    WEIR_TRY(const auto names, bench_.files.List(path));
    for (const std::string& name : names) WEIR_DO(ReadThrough(sys::JoinPath(path, name)));
  }
  TouchMemory(std::min(2 * index_bytes_, sys::UsableMemoryBytes() / 2));
  return Ok();
}

std::string TpchFiles::folder() const {
  return sys::JoinPath(bench_.folder, fmt::format("tpch-{}-{}", scale_factor_,
                                                  shuffled_ ? "shuffled" : "generated"));
}

Result<std::string> TpchFiles::WriteSql(std::string_view name, std::string_view statements) const {
  std::string path = sys::JoinPath(bench_.scratch, name);
  WEIR_DO(bench_.files.ReplaceWhole(
      path, fmt::format("CREATE SOURCE tpch FROM PARQUET '{}';\n{}", folder(), statements)));
  return path;
}

int64_t MemoryAt(int64_t bytes, double pressure) {
  return std::max(kLeastMemoryBytes, static_cast<int64_t>(static_cast<double>(bytes) / pressure));
}

}  // namespace weir::experiment
