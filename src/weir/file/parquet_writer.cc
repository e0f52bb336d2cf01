#include "weir/file/parquet_writer.h"

#include <arrow/chunked_array.h>
#include <arrow/ipc/writer.h>
#include <arrow/record_batch.h>
#include <arrow/type.h>
#include <arrow/util/base64.h>
#include <arrow/util/key_value_metadata.h>
#include <parquet/arrow/schema.h>
#include <parquet/arrow/writer.h>
#include <parquet/exception.h>
#include <parquet/file_writer.h>

#include <algorithm>

#include "weir/base/version.h"
#include "weir/file/arrow_output_internal.h"
#include "weir/file/column_shape.h"
#include "weir/sys/clock.h"
#include "weir/table/arrow_batch.h"
#include "weir/table/arrow_pool.h"

namespace weir::file {
namespace {

// All open pages together; each column has one of uncompressed values and one dictionary.
constexpr int64_t kPagesBytes = 16 << 20;
constexpr int64_t kLeastPageBytes = 64 << 10;
constexpr int64_t kMostPageBytes = 512 << 10;

// Columns of longer values (on average) carry no statistics: each page would repeat two values in
// its header, and the page index keeps them all in memory until the end.
constexpr double kMostStatisticBytes = 256;

// An open column costs a page of values, two of work space and a compressor, some 1.5 MB when its
// pages fill. Past these numbers of columns (of columns of long values), rows are gathered up to
// kGatheredBytes and written one column after another, so that only one is open at a time.
constexpr int kMostOpenColumns = 32;
constexpr int kMostOpenLongColumns = 16;
constexpr double kLongValueBytes = 64;
constexpr int64_t kGatheredBytes = 16 << 20;

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

// A ParquetFileWriter's contents that lets us see the row group being filled: Arrow's FileWriter
// hides it, and its encoded size is what decides when the group is closed.
class WatchedContents final : public parquet::ParquetFileWriter::Contents {
 public:
  WatchedContents(std::unique_ptr<parquet::ParquetFileWriter> below,
                  std::shared_ptr<parquet::schema::GroupNode> schema,
                  std::shared_ptr<const arrow::KeyValueMetadata> metadata)
      : Contents(std::move(schema), std::move(metadata)), below_(std::move(below)) {}

  void Close() override {
    row_group_ = nullptr;
    below_->Close();
    file_metadata_ = below_->metadata();
  }
  parquet::RowGroupWriter* AppendRowGroup() override {
    return row_group_ = below_->AppendRowGroup();
  }
  parquet::RowGroupWriter* AppendBufferedRowGroup() override {
    return row_group_ = below_->AppendBufferedRowGroup();
  }
  int64_t num_rows() const override { return below_->num_rows(); }
  int num_columns() const override { return below_->num_columns(); }
  int num_row_groups() const override { return below_->num_row_groups(); }
  const std::shared_ptr<parquet::WriterProperties>& properties() const override {
    return below_->properties();
  }
  void AddKeyValueMetadata(const std::shared_ptr<const arrow::KeyValueMetadata>& more) override {
    below_->AddKeyValueMetadata(more);
  }

  /// Encoded bytes of the row group being filled: pages that wait for their dictionary, and pages
  /// that do not.
  int64_t encoded_bytes() const {
    if (row_group_ == nullptr) return 0;
    return row_group_->total_compressed_bytes() + row_group_->total_compressed_bytes_written();
  }

 private:
  std::unique_ptr<parquet::ParquetFileWriter> below_;
  parquet::RowGroupWriter* row_group_ = nullptr;
};

class ParquetWriter final : public TableWriter {
 public:
  ParquetWriter(std::unique_ptr<sys::OutputFile> file, std::string relative_path,
                std::shared_ptr<arrow::Schema> schema, const ParquetOptions& options,
                mem::BlockAllocator& blocks)
      : relative_path_(std::move(relative_path)),
        schema_(std::move(schema)),
        options_(options),
        pool_(blocks),
        output_(std::make_shared<HashingOutput>(std::move(file))) {}

  Status Write(table::Batch batch) override;
  Result<FilePart> Finish() override;
  int64_t file_bytes() const override { return output_->size_bytes(); }
  WriteTimes times() const override {
    return {(encode_ - output_->write_time()).count(), output_->write_time().count()};
  }

 private:
  Status Open(const table::Batch& first);
  Status WriteOpened(table::Batch batch);
  Status WriteGathered();
  std::shared_ptr<parquet::WriterProperties> Properties(const table::Batch& first);
  Error Failure(const arrow::Status& status) const;

  const std::string relative_path_;
  const std::shared_ptr<arrow::Schema> schema_;
  const ParquetOptions options_;
  table::ArrowPool pool_;
  std::shared_ptr<HashingOutput> output_;
  WatchedContents* contents_ = nullptr;  // Owned by writer_.
  std::unique_ptr<parquet::arrow::FileWriter> writer_;
  bool gathers_ = false;
  arrow::RecordBatchVector gathered_;
  int64_t rows_ = 0;
  int64_t group_rows_ = 0;
  int64_t group_raw_bytes_ = 0;
  sys::Duration encode_{0};  // Writing included.
};

Error ParquetWriter::Failure(const arrow::Status& status) const {
  return output_->failure().has_value() ? *output_->failure() : table::FromArrow(status);
}

std::shared_ptr<parquet::WriterProperties> ParquetWriter::Properties(const table::Batch& first) {
  const int64_t columns = std::max<int64_t>(1, schema_->num_fields());
  const int64_t page_bytes = std::clamp(kPagesBytes / columns, kLeastPageBytes, kMostPageBytes);
  parquet::WriterProperties::Builder builder;
  builder.memory_pool(&pool_)
      ->compression(Codec(options_.compression))
      ->data_pagesize(page_bytes)
      ->dictionary_pagesize_limit(page_bytes)
      ->max_row_group_length(INT64_MAX)
      ->enable_write_page_index()
      ->enable_store_decimal_as_integer()
      ->created_by(fmt::format("weir version {}", Version()));
  if (options_.compression == Compression::kZstd) {
    builder.compression_level(options_.level.value_or(kDefaultZstdLevel));
  } else if (options_.level.has_value()) {
    builder.compression_level(*options_.level);
  }
  double row_bytes = 1;
  int long_columns = 0;
  for (size_t column = 0; column < first.columns.size(); ++column) {
    const ColumnShape shape = ShapeOf(first.columns[column]);
    row_bytes = std::max(row_bytes, shape.bytes_per_value);
    const auto& field = *schema_->field(static_cast<int>(column));
    const bool is_list = field.type()->id() == arrow::Type::LIST;
    const std::string path = is_list ? field.name() + ".list.element" : field.name();
    if (!shape.repeats()) builder.disable_dictionary(path);
    if (shape.bytes_per_value > kLongValueBytes) ++long_columns;
    if (shape.bytes_per_value > kMostStatisticBytes) {
      builder.disable_statistics(path);
      builder.disable_write_page_index(path);
    }
  }
  gathers_ = columns > kMostOpenColumns || long_columns > kMostOpenLongColumns;
  // Page sizes are looked at once per write batch: a quarter of a page at most of the widest
  // column.
  const int64_t rows_per_look =
      static_cast<int64_t>(static_cast<double>(page_bytes) / 4 / row_bytes);
  builder.write_batch_size(std::clamp<int64_t>(rows_per_look, 1, 1024));
  return builder.build();
}

Status ParquetWriter::Open(const table::Batch& first) {
  const auto properties = Properties(first);
  const auto arrow_properties = parquet::ArrowWriterProperties::Builder().build();
  std::shared_ptr<parquet::SchemaDescriptor> descriptor;
  auto status = parquet::arrow::ToParquetSchema(schema_.get(), *properties, *arrow_properties,
                                                &descriptor);
  if (!status.ok()) return Failure(status);
  const auto root = std::static_pointer_cast<parquet::schema::GroupNode>(descriptor->schema_root());

  // ARROW:schema lets Arrow's own readers restore field metadata, extension types and time zones.
  const auto serialized = arrow::ipc::SerializeSchema(*schema_, &pool_);
  if (!serialized.ok()) return Failure(serialized.status());
  auto metadata = schema_->metadata()->Copy();
  metadata->Append("ARROW:schema",
                   arrow::util::base64_encode(std::string_view(**serialized)));

  auto below = parquet::ParquetFileWriter::Open(output_, root, properties, metadata);
  auto contents = std::make_unique<WatchedContents>(std::move(below), root, metadata);
  contents_ = contents.get();
  auto watched = std::make_unique<parquet::ParquetFileWriter>();
  watched->Open(std::move(contents));
  status = parquet::arrow::FileWriter::Make(&pool_, std::move(watched), schema_, arrow_properties,
                                            &writer_);
  if (!status.ok()) return Failure(status);
  return Ok();
}

Status ParquetWriter::WriteOpened(table::Batch batch) {
  const int64_t rows = batch.row_count;
  const int64_t raw_bytes = batch.size_bytes;
  rows_ += rows;
  if (gathers_) {
    gathered_.push_back(table::ToArrow(std::move(batch), schema_));
    group_raw_bytes_ += raw_bytes;
    group_rows_ += rows;
    const bool full = group_raw_bytes_ >= std::min(kGatheredBytes, options_.row_group_raw_bytes) ||
                      group_rows_ >= options_.row_group_rows;
    return full ? WriteGathered() : Ok();
  }
  if (group_rows_ == 0) {
    const auto opened = writer_->NewBufferedRowGroup();
    if (!opened.ok()) return Failure(opened);
  }
  const auto written = writer_->WriteRecordBatch(*table::ToArrow(std::move(batch), schema_));
  if (!written.ok()) return Failure(written);
  group_rows_ += rows;
  group_raw_bytes_ += raw_bytes;
  if (group_raw_bytes_ >= options_.row_group_raw_bytes || group_rows_ >= options_.row_group_rows ||
      contents_->encoded_bytes() >= options_.row_group_encoded_bytes) {
    group_rows_ = 0;  // The next batch opens a new group, which writes this one out.
    group_raw_bytes_ = 0;
  }
  return Ok();
}

// Each column's values leave memory as soon as they are written.
Status ParquetWriter::WriteGathered() {
  if (gathered_.empty()) return Ok();
  std::vector<arrow::ArrayVector> columns(static_cast<size_t>(schema_->num_fields()));
  for (auto& batch : gathered_) {
    for (size_t at = 0; at < columns.size(); ++at) {
      columns[at].push_back(batch->column(static_cast<int>(at)));
    }
    batch.reset();
  }
  gathered_.clear();
  group_raw_bytes_ = 0;
  group_rows_ = 0;
  const auto opened = writer_->NewRowGroup();
  if (!opened.ok()) return Failure(opened);
  for (arrow::ArrayVector& chunks : columns) {
    const auto chunked = std::make_shared<arrow::ChunkedArray>(std::move(chunks));
    const auto written = writer_->WriteColumnChunk(chunked);
    if (!written.ok()) return Failure(written);
  }
  return Ok();
}

Status ParquetWriter::Write(table::Batch batch) {
  const sys::Duration start = sys::SteadyNow();
  try {
    if (writer_ == nullptr) WEIR_DO(Open(batch));
    if (batch.row_count > 0) WEIR_DO(WriteOpened(std::move(batch)));
  } catch (const std::exception& thrown) {  // Parquet C++ throws where Arrow returns.
    return Failure(arrow::Status::Invalid(thrown.what()));
  }
  encode_ += sys::SteadyNow() - start;
  return Ok();
}

Result<FilePart> ParquetWriter::Finish() {
  const sys::Duration start = sys::SteadyNow();
  try {
    if (writer_ == nullptr) WEIR_DO(Open(table::Batch{}));
    WEIR_DO(WriteGathered());
    const auto closed = writer_->Close();
    if (!closed.ok()) return Failure(closed);
    writer_.reset();
  } catch (const std::exception& thrown) {
    return Failure(arrow::Status::Invalid(thrown.what()));
  }
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
                                                      mem::BlockAllocator& blocks) {
  WEIR_TRY(auto file, files.Create(path));
  return std::unique_ptr<TableWriter>(std::make_unique<ParquetWriter>(
      std::move(file), relative_path, table::ToArrow(schema, schema_json), options, blocks));
}

}  // namespace weir::file
