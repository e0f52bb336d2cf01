#include "weir/feed/tpch_snapshot.h"

#include <utility>
#include <vector>

#include "weir/feed/random_internal.h"
#include "weir/file/output_folder.h"
#include "weir/file/parquet_writer.h"

namespace weir::feed {
namespace {

constexpr uint64_t kShuffleStream = 200;
constexpr const char* kPartName = "part-00000.parquet";
// Row groups of a quarter of a million rows: several workers can read the larger tables at once.
constexpr int64_t kGroupRows = 250'000;
constexpr int64_t kBatchRows = 4096;

struct Place {
  int64_t unit;
  int64_t nth;
};

// Fisher and Yates' shuffle.
void Shuffle(std::vector<Place>& places, uint64_t seed, TpchTable table) {
  Random random(seed, kShuffleStream, static_cast<uint64_t>(table), 0);
  for (size_t left = places.size(); left > 1; --left) {
    std::swap(places[left - 1],
              places[static_cast<size_t>(random.Below(static_cast<int64_t>(left)))]);
  }
}

class TableSnapshot {
 public:
  TableSnapshot(const TpchGenerator& generator, TpchTable table, sys::Files& files,
                mem::BlockAllocator& blocks)
      : generator_(generator),
        table_(table),
        files_(files),
        blocks_(blocks),
        builders_(table::BuildersFor(TpchSchema(table), blocks)) {}

  Status Write(RowOrder order, uint64_t seed, const std::string& path) {
    const std::string run_id = fmt::format("tpch-{}", TpchTableName(table_));
    WEIR_TRY(const auto output, file::OutputFolder::Open(files_, path, run_id));
    const table::Schema& schema = TpchSchema(table_);
    file::ParquetOptions options;
    options.row_group_rows = kGroupRows;
    WEIR_TRY(writer_, file::NewParquetWriter(files_, output->PathOf(kPartName), kPartName, schema,
                                             file::SchemaJson(schema), options, blocks_));
    WEIR_DO(order == RowOrder::kShuffled ? WriteShuffled(seed) : WriteGenerated());
    WEIR_DO(Flush());
    file::Manifest manifest;
    manifest.run_id = run_id;
    manifest.export_name = TpchTableName(table_);
    manifest.status = "success";
    manifest.format = "parquet";
    manifest.schema = schema;
    WEIR_TRY(file::FilePart part, writer_->Finish());
    manifest.parts.push_back(std::move(part));
    return output->Publish(manifest);
  }

 private:
  Status WriteGenerated() {
    for (int64_t unit = 0; unit < generator_.UnitCount(table_); ++unit) {
      generator_.Append(table_, unit, unit + 1, 0, builders_);
      if (builders_[0].length() >= kBatchRows) WEIR_DO(Flush());
    }
    return Ok();
  }

  Status WriteShuffled(uint64_t seed) {
    std::vector<Place> places;
    for (int64_t unit = 0; unit < generator_.UnitCount(table_); ++unit) {
      const int64_t rows = generator_.RowCount(table_, unit, 0);
      for (int64_t nth = 0; nth < rows; ++nth) places.push_back({unit, nth});
    }
    Shuffle(places, seed, table_);
    for (const Place& place : places) {
      generator_.AppendRow(table_, place.unit, place.nth, 0, builders_);
      if (builders_[0].length() >= kBatchRows) WEIR_DO(Flush());
    }
    return Ok();
  }

  Status Flush() { return writer_->Write(table::FinishBatch(builders_)); }

  const TpchGenerator& generator_;
  const TpchTable table_;
  sys::Files& files_;
  mem::BlockAllocator& blocks_;
  std::vector<table::ColumnBuilder> builders_;
  std::unique_ptr<file::TableWriter> writer_;
};

}  // namespace

Status WriteTpchSnapshot(const TpchGenerator& generator, RowOrder order, uint64_t seed,
                         sys::Files& files, const std::string& folder,
                         mem::BlockAllocator& blocks) {
  WEIR_DO(files.MakeFolder(folder));
  for (int at = 0; at < kTpchTableCount; ++at) {
    const auto table = static_cast<TpchTable>(at);
    const std::string path = sys::JoinPath(folder, TpchTableName(table));
    WEIR_DO(TableSnapshot(generator, table, files, blocks).Write(order, seed, path),
            "TPC-H table {}", TpchTableName(table));
  }
  return Ok();
}

}  // namespace weir::feed
