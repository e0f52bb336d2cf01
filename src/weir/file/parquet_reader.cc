#include "weir/file/parquet_reader.h"

#include <arrow/io/file.h>
#include <arrow/record_batch.h>
#include <arrow/util/key_value_metadata.h>
#include <parquet/arrow/reader.h>
#include <parquet/exception.h>
#include <parquet/file_reader.h>
#include <parquet/metadata.h>
#include <parquet/page_index.h>
#include <parquet/statistics.h>

#include <algorithm>

#include "weir/file/manifest.h"
#include "weir/table/arrow_batch.h"
#include "weir/table/arrow_pool.h"

namespace weir::file {
namespace {

// A full budget says nothing of the file.
Error ReadError(const std::string& path, const arrow::Status& status) {
  if (status.IsOutOfMemory()) {
    return Fail(Code::kExhausted, "'{}' cannot be read: {}; give it more memory", path,
                status.message());
  }
  return Fail(Code::kCorrupt, "'{}' is not a whole Parquet file: {}", path, status.message());
}

// What reading throws, as an error.
template <typename Value, typename Read>
Value CatchThrown(const std::string& path, Read read) {
  try {
    return read();
  } catch (const parquet::ParquetStatusException& thrown) {
    return ReadError(path, thrown.status());
  } catch (const parquet::ParquetException& thrown) {
    return ReadError(path, arrow::Status::Invalid(thrown.what()));
  }
}

// Whether all data pages of a column chunk are indices into its dictionary.
bool IsAllDictionary(const parquet::ColumnChunkMetaData& chunk) {
  const auto& stats = chunk.encoding_stats();
  const auto is_data = [](const parquet::PageEncodingStats& page) {
    return page.page_type == parquet::PageType::DATA_PAGE ||
           page.page_type == parquet::PageType::DATA_PAGE_V2;
  };
  const auto is_indices = [](const parquet::PageEncodingStats& page) {
    return page.encoding == parquet::Encoding::RLE_DICTIONARY ||
           page.encoding == parquet::Encoding::PLAIN_DICTIONARY;
  };
  return !stats.empty() && std::all_of(stats.begin(), stats.end(), [&](const auto& page) {
    return !is_data(page) || is_indices(page);
  });
}

// Rows of a batch: fewer than `most` where they are wide, by the average of what is read.
int64_t FittingRows(const parquet::FileMetaData& metadata, std::optional<int> group, int64_t most) {
  constexpr int64_t kMostBytes = 8 << 20;
  int64_t bytes = 0;
  int64_t rows = 0;
  for (int at = 0; at < metadata.num_row_groups(); ++at) {
    if (at != group.value_or(at)) continue;
    bytes += metadata.RowGroup(at)->total_byte_size();
    rows += metadata.RowGroup(at)->num_rows();
  }
  if (rows == 0 || bytes <= 0) return most;
  const double fitting = static_cast<double>(kMostBytes) / static_cast<double>(bytes) *
                         static_cast<double>(rows);
  return std::clamp<int64_t>(static_cast<int64_t>(fitting), 1, most);
}

// Texts that lie in the file as indices are handed on so: table::FromArrow() is quicker at putting
// them in the values' place than a builder that takes one at a time.
void KeepDictionaries(const parquet::FileMetaData& metadata, int group,
                      parquet::ArrowReaderProperties& properties) {
  const auto chunks = metadata.RowGroup(group);
  for (int column = 0; column < metadata.num_columns(); ++column) {
    const auto* const shape = metadata.schema()->Column(column);
    const bool text = shape->physical_type() == parquet::Type::BYTE_ARRAY &&
                      shape->max_repetition_level() == 0 && !shape->logical_type()->is_JSON();
    if (text && IsAllDictionary(*chunks->ColumnChunk(column))) {
      properties.set_read_dictionary(column, true);
    }
  }
}

class ArrowParquetReader final : public ParquetReader {
 public:
  ArrowParquetReader(const std::string& path, mem::BlockAllocator& blocks)
      : path_(path), blocks_(blocks), pool_(std::make_shared<table::ArrowPool>(blocks)) {}

  /// Opens the file and reads its footer. The rows are those of `group`, or all of them.
  Status Open(int64_t batch_rows, std::optional<int> group);

  const table::Schema& schema() const override { return schema_; }
  int64_t row_count() const override { return row_count_; }
  Result<table::Batch> Next() override;

 private:
  Status Start(int64_t batch_rows, std::optional<int> group);
  Status ReadSchema();
  const std::string path_;
  mem::BlockAllocator& blocks_;
  const std::shared_ptr<table::ArrowPool> pool_;  // Batches may outlive the reader.
  table::Schema schema_;
  bool ours_ = true;  // The file has a weir.schema.
  int64_t row_count_ = 0;
  std::unique_ptr<parquet::arrow::FileReader> reader_;
  std::unique_ptr<arrow::RecordBatchReader> batches_;
};

Status ArrowParquetReader::Open(int64_t batch_rows, std::optional<int> group) {
  return CatchThrown<Status>(path_, [&] { return Start(batch_rows, group); });
}

Status ArrowParquetReader::Start(int64_t batch_rows, std::optional<int> group) {
  auto file = arrow::io::ReadableFile::Open(path_, pool_.get());
  if (!file.ok()) return Fail(Code::kNotFound, "cannot open '{}'", path_);
  parquet::ReaderProperties properties(pool_.get());
  properties.enable_buffered_stream();
  auto below = parquet::ParquetFileReader::Open(*file, properties);
  const int group_count = below->metadata()->num_row_groups();
  if (group.has_value() && *group >= group_count) {
    return ReadError(path_, arrow::Status::Invalid("it has ", group_count, " row groups"));
  }
  row_count_ = group.has_value() ? below->metadata()->RowGroup(*group)->num_rows()
                                 : below->metadata()->num_rows();
  parquet::ArrowReaderProperties arrow_properties(/*use_threads=*/false);
  arrow_properties.set_batch_size(FittingRows(*below->metadata(), group, batch_rows));
  arrow_properties.set_pre_buffer(false);
  if (group.has_value()) KeepDictionaries(*below->metadata(), *group, arrow_properties);
  auto made = parquet::arrow::FileReader::Make(pool_.get(), std::move(below), arrow_properties);
  if (!made.ok()) return ReadError(path_, made.status());
  reader_ = std::move(made).ValueUnsafe();
  WEIR_DO(ReadSchema());
  auto batches = group.has_value() ? reader_->GetRecordBatchReader({*group})
                                   : reader_->GetRecordBatchReader();
  if (!batches.ok()) return ReadError(path_, batches.status());
  batches_ = std::move(batches).ValueUnsafe();
  return Ok();
}

Status ArrowParquetReader::ReadSchema() {
  const auto& keys = reader_->parquet_reader()->metadata()->key_value_metadata();
  const int at = keys == nullptr ? -1 : keys->FindKey("weir.schema");
  ours_ = at >= 0;
  if (ours_) {
    WEIR_TRY(schema_, ParseSchemaJson(keys->value(at)), "'{}'", path_);
    return Ok();
  }
  std::shared_ptr<arrow::Schema> theirs;
  const auto status = reader_->GetSchema(&theirs);
  if (!status.ok()) return ReadError(path_, status);
  WEIR_TRY(schema_, table::SchemaFrom(*theirs), "'{}'", path_);
  return Ok();
}

Result<table::Batch> ArrowParquetReader::Next() {
  std::shared_ptr<arrow::RecordBatch> batch;
  WEIR_DO(CatchThrown<Status>(path_, [&]() -> Status {
    const auto status = batches_->ReadNext(&batch);
    return status.ok() ? Ok() : Status(ReadError(path_, status));
  }));
  if (batch == nullptr) return table::Batch{};
  if (!ours_) {
    WEIR_TRY(batch, table::CastTo(schema_, *batch, *pool_), "'{}'", path_);
  }
  return table::FromArrow(*batch, schema_, blocks_, pool_);
}

int64_t LongestText(const std::vector<std::string>& texts) {
  size_t longest = 0;
  for (const std::string& text : texts) longest = std::max(longest, text.size());
  return static_cast<int64_t>(longest);
}

int64_t LongestOf(parquet::ParquetFileReader& reader) {
  int64_t longest = 0;
  const auto metadata = reader.metadata();
  const auto page_index = reader.GetPageIndexReader();
  for (int group = 0; group < metadata->num_row_groups(); ++group) {
    const auto group_index = page_index == nullptr ? nullptr : page_index->RowGroup(group);
    const auto group_metadata = metadata->RowGroup(group);
    for (int column = 0; column < metadata->num_columns(); ++column) {
      const auto statistics = group_metadata->ColumnChunk(column)->encoded_statistics();
      if (statistics != nullptr) {
        longest = std::max(longest, LongestText({statistics->min(), statistics->max()}));
      }
      const auto index = group_index == nullptr ? nullptr : group_index->GetColumnIndex(column);
      if (index == nullptr) continue;
      longest = std::max(longest, LongestText(index->encoded_min_values()));
      longest = std::max(longest, LongestText(index->encoded_max_values()));
    }
  }
  return longest;
}

}  // namespace

Result<std::unique_ptr<ParquetReader>> OpenParquet(const std::string& path, int64_t batch_rows,
                                                   mem::BlockAllocator& blocks) {
  auto reader = std::make_unique<ArrowParquetReader>(path, blocks);
  WEIR_DO(reader->Open(batch_rows, std::nullopt));
  return std::unique_ptr<ParquetReader>(std::move(reader));
}

Result<std::unique_ptr<ParquetReader>> OpenRowGroup(const std::string& path, int group,
                                                    int64_t batch_rows,
                                                    mem::BlockAllocator& blocks) {
  auto reader = std::make_unique<ArrowParquetReader>(path, blocks);
  WEIR_DO(reader->Open(batch_rows, group));
  return std::unique_ptr<ParquetReader>(std::move(reader));
}

namespace {

// Opens a file for its footer alone, and hands it to `read`.
template <typename Value, typename Read>
Result<Value> FromFooter(const std::string& path, mem::BlockAllocator& blocks, Read read) {
  table::ArrowPool pool(blocks);
  const auto file = arrow::io::ReadableFile::Open(path, &pool);
  if (!file.ok()) return Fail(Code::kNotFound, "cannot open '{}'", path);
  return CatchThrown<Result<Value>>(path, [&]() -> Result<Value> {
    const auto reader =
        parquet::ParquetFileReader::Open(*file, parquet::ReaderProperties(&pool));
    return read(*reader);
  });
}

}  // namespace

Result<table::Schema> ParquetSchema(const std::string& path, mem::BlockAllocator& blocks) {
  WEIR_TRY(const auto reader, OpenParquet(path, 1, blocks));
  return reader->schema();
}

Result<int64_t> LongestStatisticBytes(const std::string& path, mem::BlockAllocator& blocks) {
  return FromFooter<int64_t>(path, blocks, LongestOf);
}

Result<std::vector<RowGroupSize>> RowGroupSizes(const std::string& path,
                                                mem::BlockAllocator& blocks) {
  return FromFooter<std::vector<RowGroupSize>>(path, blocks, [](parquet::ParquetFileReader& file) {
    std::vector<RowGroupSize> sizes;
    for (int group = 0; group < file.metadata()->num_row_groups(); ++group) {
      const auto metadata = file.metadata()->RowGroup(group);
      sizes.push_back({metadata->num_rows(), metadata->total_byte_size()});
    }
    return sizes;
  });
}

}  // namespace weir::file
