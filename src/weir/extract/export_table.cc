#include "weir/extract/export_table.h"

#include <algorithm>

#include "weir/base/units.h"
#include "weir/extract/copy_receiver.h"
#include "weir/extract/memory_check_internal.h"

namespace weir::extract {
namespace {

// Batches into the parts of one folder.
class PartWriter {
 public:
  PartWriter(const NewWriter& new_writer, const file::Yield& yield, const ExportOptions& options,
             Progress& progress)
      : new_writer_(new_writer), yield_(yield), options_(options), progress_(progress) {}

  Status Write(table::Batch batch) {
    if (writer_ == nullptr) WEIR_DO(OpenPart());
    WEIR_DO(writer_->Write(std::move(batch)));
    const int64_t file_bytes = writer_->file_bytes();
    progress_.written_bytes = finished_bytes_ + file_bytes;
    if (options_.max_file_bytes > 0 && file_bytes >= options_.max_file_bytes) return FinishPart();
    return Ok();
  }

  Status Finish() {
    if (writer_ == nullptr && parts_.empty() && !options_.skip_empty) WEIR_DO(OpenPart());
    return FinishPart();
  }

  std::vector<file::FilePart> TakeParts() { return std::move(parts_); }
  /// Of all parts, the open one too.
  file::WriteTimes times() const {
    file::WriteTimes times = times_;
    if (writer_ != nullptr) Add(writer_->times(), times);
    return times;
  }

 private:
  static void Add(const file::WriteTimes& spent, file::WriteTimes& times) {
    times.encode_nanos += spent.encode_nanos;
    times.write_nanos += spent.write_nanos;
  }

  Status OpenPart() {
    WEIR_TRY(writer_, new_writer_(static_cast<int>(parts_.size()), yield_));
    return Ok();
  }

  Status FinishPart() {
    if (writer_ == nullptr) return Ok();
    WEIR_TRY(file::FilePart part, writer_->Finish());
    Add(writer_->times(), times_);
    finished_bytes_ += part.bytes;
    progress_.written_bytes = finished_bytes_;
    parts_.push_back(std::move(part));
    writer_.reset();
    return Ok();
  }

  const NewWriter& new_writer_;
  const file::Yield yield_;
  const ExportOptions& options_;
  Progress& progress_;
  std::unique_ptr<file::TableWriter> writer_;
  std::vector<file::FilePart> parts_;
  file::WriteTimes times_;
  int64_t finished_bytes_ = 0;
};

// The stream into batches, batches into files.
class Export {
 public:
  Export(Source& source, const NewWriter& new_writer, const ExportOptions& options,
         mem::BlockAllocator& blocks, sys::Clock& clock, const sys::Stop& stop, Progress& progress)
      : source_(source),
        options_(options),
        blocks_(blocks),
        clock_(clock),
        progress_(progress),
        receiver_(source, ReceiverOptionsOf(options), blocks, clock, stop, progress),
        parser_(source.columns(), blocks, options.max_value_bytes,
                std::string(source.leave_out())),
        writer_(new_writer, [this] { receiver_.Pump(); }, options, progress) {}

  Status Run(ExportTotals& totals) {
    Status done = Read(totals);
    const file::WriteTimes times = writer_.times();
    totals.rows = parser_.row_count();
    totals.read_bytes = receiver_.bytes();
    totals.copy = receiver_.copy_time();
    totals.wait = receiver_.times().wait;
    totals.receive = receiver_.times().receive;
    totals.slept = receiver_.times().slept;
    totals.encode = std::chrono::nanoseconds(times.encode_nanos) - received_while_encoding_;
    totals.write = std::chrono::nanoseconds(times.write_nanos);
    return done;
  }

 private:
  static ReceiverOptions ReceiverOptionsOf(const ExportOptions& options) {
    return {.block_bytes = std::min(kBlockBytes, options.batch_bytes),
            .ahead_bytes = kAheadBytes,
            .byte_timeout = options.byte_timeout,
            .pace = options.pace};
  }

  Status Read(ExportTotals& totals) {
    WEIR_DO(receiver_.Start(), "{}", source_.name());
    while (true) {
      WEIR_TRY(const auto block, receiver_.Next(), "{}", source_.name());
      if (!block.has_value()) break;
      WEIR_DO(Decode(*block, totals));
    }
    WEIR_DO(parser_.End(), "{}", source_.name());
    if (parser_.batch_rows() > 0) WEIR_DO(WriteBatch(totals));
    WEIR_DO(writer_.Finish());
    totals.parts = writer_.TakeParts();
    return Ok();
  }

  Status Decode(const pg::CopyBlock& block, ExportTotals& totals) {
    // A full batch is written when the block that filled it is freed: a value of 50 MB should not
    // be held once more meanwhile.
    if (parser_.batch_bytes() >= options_.batch_bytes) WEIR_DO(WriteBatch(totals));
    const sys::Duration start = clock_.Now();
    const sys::Duration received_before = receiver_.times().receive;
    int64_t since_pump = 0;
    Status done = block.ForEach([&](Bytes row) -> Status {
      since_pump += std::ssize(row);
      if (since_pump >= kDecodedPerPump) {
        since_pump = 0;
        receiver_.Pump();
      }
      return parser_.Feed(row);
    });
    totals.decode += clock_.Now() - start - (receiver_.times().receive - received_before);
    if (!done.ok()) return std::move(done).error().In(source_.name());
    return Ok();
  }

  Status WriteBatch(ExportTotals& totals) {
    table::Batch batch = parser_.TakeBatch();
    progress_.rows += batch.row_count;
    ++totals.batches;
    WEIR_DO(CheckMemory(batch, totals), "{}", source_.name());
    const sys::Duration received_before = receiver_.times().receive;
    Status written = writer_.Write(std::move(batch));
    received_while_encoding_ += receiver_.times().receive - received_before;
    return written;
  }

  Status CheckMemory(const table::Batch& batch, ExportTotals& totals) {
    const bool wide = options_.max_batch_bytes > 0 && batch.row_count == 1 &&
                      batch.size_bytes > options_.max_batch_bytes;
    if (wide && options_.wide_batch == WideBatch::kFail) {
      return Fail(Code::kExhausted,
                  "row {} takes {}, over max_batch_memory_mb ({}); raise it or leave a column out",
                  parser_.row_count(), FormatBytes(batch.size_bytes),
                  FormatBytes(options_.max_batch_bytes));
    }
    if (wide && options_.wide_batch == WideBatch::kWarn) ++totals.wide_batches;
    return CheckBudget(blocks_, parser_.row_count());
  }

  // Some 30 microseconds of decoding.
  static constexpr int64_t kDecodedPerPump = 64 << 10;

  Source& source_;
  const ExportOptions& options_;
  mem::BlockAllocator& blocks_;
  sys::Clock& clock_;
  Progress& progress_;
  CopyReceiver receiver_;
  pg::CopyParser parser_;
  PartWriter writer_;
  sys::Duration received_while_encoding_{0};
};

}  // namespace

Status ExportTable(Source& source, const NewWriter& new_writer, const ExportOptions& options,
                   mem::BlockAllocator& blocks, sys::Clock& clock, const sys::Stop& stop,
                   Progress& progress, ExportTotals& totals) {
  progress.expected_rows = source.size().estimated_rows;
  totals = {};
  Status done = Export(source, new_writer, options, blocks, clock, stop, progress).Run(totals);
  if (!done.ok()) source.connection().Cancel();
  return done;
}

}  // namespace weir::extract
