#include "weir/file/parquet_writer.h"

#include <arrow/ipc/writer.h>
#include <arrow/type.h>
#include <arrow/util/base64.h>
#include <arrow/util/key_value_metadata.h>
#include <parquet/arrow/schema.h>
#include <parquet/exception.h>
#include <parquet/file_writer.h>
#include <parquet/metadata.h>
#include <parquet/page_index.h>

#include <algorithm>

#include "weir/base/version.h"
#include "weir/file/arrow_output_internal.h"
#include "weir/file/column_chunk_internal.h"
#include "weir/file/column_shape.h"
#include "weir/sys/clock.h"
#include "weir/table/arrow_batch.h"
#include "weir/table/arrow_pool.h"

namespace weir::file {
namespace {

// All open pages together. PostgreSQL has at most 1,600 columns.
constexpr int64_t kPagesBytes = 12 << 20;
constexpr int64_t kLeastPageBytes = 8 << 10;
constexpr int64_t kMostPageBytes = 512 << 10;

// Columns of longer values (on average) carry no statistics: each page would repeat two values in
// its header, and the page index keeps them all in memory until the end.
constexpr double kMostStatisticBytes = 256;

constexpr std::string_view kMagic = "PAR1";

parquet::Compression::type Codec(Compression compression) {
  switch (compression) {
    case Compression::kZstd: return parquet::Compression::ZSTD;
    case Compression::kSnappy: return parquet::Compression::SNAPPY;
    case Compression::kGzip: return parquet::Compression::GZIP;
    case Compression::kLz4: return parquet::Compression::LZ4;  // LZ4_RAW in the file.
    case Compression::kNone: return parquet::Compression::UNCOMPRESSED;
  }
  return parquet::Compression::ZSTD;
}

class ParquetWriter final : public TableWriter {
 public:
  ParquetWriter(std::unique_ptr<sys::OutputFile> file, std::string relative_path,
                std::shared_ptr<arrow::Schema> schema, const ParquetOptions& options,
                mem::BlockAllocator& blocks, Yield yield)
      : relative_path_(std::move(relative_path)),
        schema_(std::move(schema)),
        options_(options),
        blocks_(blocks),
        yield_(std::move(yield)),
        pool_(blocks),
        output_(std::make_shared<HashingOutput>(std::move(file))) {}

  Status Write(table::Batch batch) override;
  Result<FilePart> Finish() override;
  int64_t file_bytes() const override { return output_->size_bytes(); }
  WriteTimes times() const override {
    return {(encode_ - output_->write_time()).count(), output_->write_time().count()};
  }

 private:
  template <typename Work>
  Status Try(Work work);
  void Open(const table::Batch& first);
  void OpenGroup();
  void Append(table::Batch batch);
  void CloseGroup();
  void WriteFooter();
  bool GroupIsFull() const;
  std::shared_ptr<parquet::WriterProperties> Properties(const table::Batch& first) const;
  std::shared_ptr<const arrow::KeyValueMetadata> FileMetadata();
  Error Failure(const arrow::Status& status) const;

  const std::string relative_path_;
  const std::shared_ptr<arrow::Schema> schema_;
  const ParquetOptions options_;
  mem::BlockAllocator& blocks_;
  const Yield yield_;
  table::ArrowPool pool_;
  std::shared_ptr<HashingOutput> output_;

  // Null until the first batch.
  std::shared_ptr<parquet::WriterProperties> properties_;
  std::shared_ptr<parquet::SchemaDescriptor> descriptor_;
  std::unique_ptr<parquet::FileMetaDataBuilder> metadata_;
  std::unique_ptr<parquet::PageIndexBuilder> page_index_;

  parquet::RowGroupMetaDataBuilder* group_ = nullptr;  // Owned by metadata_; null: none is open.
  std::vector<std::unique_ptr<ColumnChunkWriter>> chunks_;  // Of the open row group.
  int16_t groups_ = 0;
  int64_t group_rows_ = 0;
  int64_t group_raw_bytes_ = 0;
  int64_t rows_ = 0;
  sys::Duration encode_{0};  // Writing included.
};

Error ParquetWriter::Failure(const arrow::Status& status) const {
  return output_->failure().has_value() ? *output_->failure() : table::FromArrow(status);
}

// Parquet C++ throws. `work` is timed.
template <typename Work>
Status ParquetWriter::Try(Work work) {
  const sys::Duration start = sys::SteadyNow();
  try {
    work();
  } catch (const parquet::ParquetStatusException& thrown) {
    return Failure(thrown.status());
  } catch (const std::exception& thrown) {
    return Failure(arrow::Status::Invalid(thrown.what()));
  }
  encode_ += sys::SteadyNow() - start;
  return Ok();
}

std::shared_ptr<parquet::WriterProperties> ParquetWriter::Properties(
    const table::Batch& first) const {
  const int64_t columns = std::max<int64_t>(1, schema_->num_fields());
  const int64_t page_bytes = std::clamp(kPagesBytes / columns, kLeastPageBytes, kMostPageBytes);
  parquet::WriterProperties::Builder builder;
  builder.compression(Codec(options_.compression))
      ->data_pagesize(page_bytes)
      ->enable_store_decimal_as_integer()
      ->created_by(fmt::format("weir version {}", Version()));
  if (options_.compression == Compression::kZstd) {
    builder.compression_level(options_.level.value_or(kDefaultZstdLevel));
  } else if (options_.level.has_value()) {
    builder.compression_level(*options_.level);
  }
  for (size_t column = 0; column < first.columns.size(); ++column) {
    const ColumnShape shape = ShapeOf(first.columns[column]);
    const auto& field = *schema_->field(static_cast<int>(column));
    const bool is_list = field.type()->id() == arrow::Type::LIST;
    const std::string path = is_list ? field.name() + ".list.element" : field.name();
    if (!shape.repeats()) builder.disable_dictionary(path);
    if (shape.bytes_per_value > kMostStatisticBytes) builder.disable_statistics(path);
  }
  return builder.build();
}

// ARROW:schema lets Arrow's own readers restore field metadata, extension types and time zones.
std::shared_ptr<const arrow::KeyValueMetadata> ParquetWriter::FileMetadata() {
  PARQUET_ASSIGN_OR_THROW(const auto serialized, arrow::ipc::SerializeSchema(*schema_, &pool_));
  auto metadata = schema_->metadata()->Copy();
  metadata->Append("ARROW:schema", arrow::util::base64_encode(std::string_view(*serialized)));
  return metadata;
}

void ParquetWriter::Open(const table::Batch& first) {
  properties_ = Properties(first);
  const auto arrow_properties = parquet::ArrowWriterProperties::Builder().build();
  PARQUET_THROW_NOT_OK(parquet::arrow::ToParquetSchema(schema_.get(), *properties_,
                                                       *arrow_properties, &descriptor_));
  metadata_ = parquet::FileMetaDataBuilder::Make(descriptor_.get(), properties_);
  page_index_ = parquet::PageIndexBuilder::Make(descriptor_.get());
  PARQUET_THROW_NOT_OK(output_->Write(kMagic.data(), std::ssize(kMagic)));
}

void ParquetWriter::OpenGroup() {
  group_ = metadata_->AppendRowGroup();
  page_index_->AppendRowGroup();
  for (int at = 0; at < descriptor_->num_columns(); ++at) {
    const parquet::ColumnDescriptor& column = *descriptor_->Column(at);
    const auto path = column.path();
    const ChunkOptions options = {.page_bytes = properties_->data_pagesize(),
                                  .dictionary = properties_->dictionary_enabled(path),
                                  .statistics = properties_->statistics_enabled(path)};
    const auto level = properties_->codec_options(path);
    auto* const metadata = group_->NextColumnChunk();
    auto pager = parquet::PageWriter::Open(
        output_, properties_->compression(path), metadata, groups_, static_cast<int16_t>(at),
        &pool_, /*buffered_row_group=*/true, nullptr, nullptr, /*page_write_checksum=*/false,
        options.statistics ? page_index_->GetColumnIndexBuilder(at) : nullptr,
        options.statistics ? page_index_->GetOffsetIndexBuilder(at) : nullptr,
        level == nullptr ? parquet::CodecOptions() : *level);
    chunks_.push_back(NewColumnChunkWriter(column, options, std::move(pager), *metadata,
                                           {.blocks = blocks_, .pool = pool_, .yield = yield_}));
  }
}

bool ParquetWriter::GroupIsFull() const {
  if (group_raw_bytes_ >= options_.row_group_raw_bytes) return true;
  if (group_rows_ >= options_.row_group_rows) return true;
  int64_t encoded_bytes = 0;
  int64_t held_bytes = 0;
  for (const auto& chunk : chunks_) {
    encoded_bytes += chunk->encoded_bytes();
    held_bytes += chunk->held_bytes();
  }
  return std::max(encoded_bytes, held_bytes / 5 * 3) >= options_.row_group_encoded_bytes;
}

// Each column's values leave memory as soon as they are encoded.
void ParquetWriter::Append(table::Batch batch) {
  if (group_ == nullptr) OpenGroup();
  for (size_t at = 0; at < batch.columns.size(); ++at) {
    const table::ColumnData column = std::move(batch.columns[at]);
    chunks_[at]->Append(column);
  }
  rows_ += batch.row_count;
  group_rows_ += batch.row_count;
  group_raw_bytes_ += batch.size_bytes;
  if (GroupIsFull()) CloseGroup();
}

void ParquetWriter::CloseGroup() {
  if (group_ == nullptr) return;
  int64_t bytes = 0;
  for (auto& chunk : chunks_) {
    bytes += chunk->Close();
    chunk.reset();
  }
  chunks_.clear();
  group_->set_num_rows(group_rows_);
  group_->Finish(bytes, groups_);
  group_ = nullptr;
  ++groups_;
  group_rows_ = 0;
  group_raw_bytes_ = 0;
}

void ParquetWriter::WriteFooter() {
  page_index_->Finish();
  const auto index = page_index_->WriteTo(output_.get());
  metadata_->SetIndexLocations(parquet::IndexKind::kColumnIndex, index.column_index_locations);
  metadata_->SetIndexLocations(parquet::IndexKind::kOffsetIndex, index.offset_index_locations);
  parquet::WriteFileMetaData(*metadata_->Finish(FileMetadata()), output_.get());
}

Status ParquetWriter::Write(table::Batch batch) {
  return Try([&] {
    if (properties_ == nullptr) Open(batch);
    if (batch.row_count > 0) Append(std::move(batch));
  });
}

Result<FilePart> ParquetWriter::Finish() {
  WEIR_DO(Try([&] {
    if (properties_ == nullptr) Open(table::Batch{});
    CloseGroup();
    WriteFooter();
  }));
  const sys::Duration start = sys::SteadyNow();
  WEIR_DO(output_->Finish());
  encode_ += sys::SteadyNow() - start;
  return FilePart{relative_path_, rows_, output_->size_bytes(), output_->HashHex()};
}

}  // namespace

Result<std::unique_ptr<TableWriter>> NewParquetWriter(sys::Files& files, const std::string& path,
                                                      const std::string& relative_path,
                                                      const table::Schema& schema,
                                                      const std::string& schema_json,
                                                      const ParquetOptions& options,
                                                      mem::BlockAllocator& blocks,
                                                      Yield yield) {
  WEIR_TRY(auto file, files.Create(path));
  return std::unique_ptr<TableWriter>(std::make_unique<ParquetWriter>(
      std::move(file), relative_path, table::ToArrow(schema, schema_json), options, blocks,
      std::move(yield)));
}

}  // namespace weir::file
