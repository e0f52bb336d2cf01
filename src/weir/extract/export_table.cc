#include "weir/extract/export_table.h"

#include <optional>
#include <thread>

#include "weir/base/units.h"
#include "weir/extract/batch_queue.h"

namespace weir::extract {
namespace {

// The encoder's side: pops batches, fills parts.
class PartWriter {
 public:
  PartWriter(const NewWriter& new_writer, const ExportOptions& options, Progress& progress)
      : new_writer_(new_writer), options_(options), progress_(progress) {}

  Status Run(BatchQueue& queue) {
    while (auto batch = queue.Pop()) WEIR_DO(Write(*std::move(batch)));
    if (queue.aborted()) return Ok();  // The reader knows why.
    if (writer_ == nullptr && parts_.empty() && !options_.skip_empty) WEIR_DO(OpenPart());
    return FinishPart();
  }

  std::vector<file::FilePart> TakeParts() { return std::move(parts_); }
  const file::WriteTimes& times() const { return times_; }

 private:
  Status Write(table::Batch batch) {
    if (writer_ == nullptr) WEIR_DO(OpenPart());
    WEIR_DO(writer_->Write(std::move(batch)));
    const int64_t file_bytes = writer_->file_bytes();
    progress_.written_bytes = finished_bytes_ + file_bytes;
    if (options_.max_file_bytes > 0 && file_bytes >= options_.max_file_bytes) return FinishPart();
    return Ok();
  }

  Status OpenPart() {
    WEIR_TRY(writer_, new_writer_(static_cast<int>(parts_.size())));
    return Ok();
  }

  Status FinishPart() {
    if (writer_ == nullptr) return Ok();
    WEIR_TRY(file::FilePart part, writer_->Finish());
    const file::WriteTimes spent = writer_->times();
    times_.encode_nanos += spent.encode_nanos;
    times_.write_nanos += spent.write_nanos;
    finished_bytes_ += part.bytes;
    progress_.written_bytes = finished_bytes_;
    parts_.push_back(std::move(part));
    writer_.reset();
    return Ok();
  }

  const NewWriter& new_writer_;
  const ExportOptions& options_;
  Progress& progress_;
  std::unique_ptr<file::TableWriter> writer_;
  std::vector<file::FilePart> parts_;
  file::WriteTimes times_;
  int64_t finished_bytes_ = 0;
};

// The reader's side: COPY data in, batches out.
class Reader {
 public:
  Reader(Source& source, const ExportOptions& options, mem::BlockAllocator& blocks,
         sys::Clock& clock, const sys::Stop& stop, Progress& progress)
      : source_(source),
        options_(options),
        blocks_(blocks),
        clock_(clock),
        stop_(stop),
        progress_(progress),
        parser_(source.columns(), blocks, options.max_value_bytes) {}

  Status Run(BatchQueue& queue) {
    const sys::Duration start = clock_.Now();
    WEIR_DO(source_.StartCopy(options_.byte_timeout, &totals_.wait));
    while (true) {
      WEIR_TRY(const Bytes data,
               source_.connection().NextCopyData(options_.byte_timeout, &totals_.wait),
               "after {} rows", parser_.row_count());
      if (data.empty()) break;
      totals_.read_bytes += static_cast<int64_t>(data.size());
      WEIR_DO(parser_.Feed(data));
      if (parser_.batch_bytes() >= options_.batch_bytes) WEIR_DO(HandOver(queue));
    }
    WEIR_DO(parser_.End());
    totals_.copy = clock_.Now() - start;
    if (parser_.batch_rows() > 0) WEIR_DO(HandOver(queue));
    totals_.rows = parser_.row_count();
    totals_.decode = clock_.Now() - start - totals_.wait - totals_.blocked - totals_.slept;
    return Ok();
  }

  ExportTotals& totals() { return totals_; }

 private:
  Status HandOver(BatchQueue& queue) {
    table::Batch batch = parser_.TakeBatch();
    const int64_t rows = batch.row_count;
    progress_.rows += rows;
    progress_.read_bytes = totals_.read_bytes;
    ++totals_.batches;
    WEIR_DO(CheckMemory(batch.size_bytes));
    const sys::Duration before = clock_.Now();
    const bool pushed = queue.Push(std::move(batch));
    totals_.blocked += clock_.Now() - before;
    if (!pushed) return Fail(Code::kCancelled, "the encoder stopped");
    Rest(rows);
    return Ok();
  }

  // Rests are taken in pieces long enough that waking up late does not count; what a rest took is
  // what it paid.
  void Rest(int64_t rows) {
    constexpr sys::Duration kLeastRest = std::chrono::milliseconds(50);
    rest_owed_ += options_.pace.RestAfter(rows);
    if (rest_owed_ < kLeastRest) return;
    const sys::Duration rested = clock_.Wait(rest_owed_, stop_);
    rest_owed_ -= rested;
    totals_.slept += rested;
  }

  Status CheckMemory(int64_t batch_bytes) {
    if (options_.max_batch_bytes > 0 && batch_bytes > options_.max_batch_bytes) {
      ++totals_.wide_batches;
      if (options_.wide_batch == WideBatch::kFail) {
        return Fail(
            Code::kExhausted,
            "the row before row {} takes {}, over max_batch_memory_mb ({}); raise it or leave "
            "a column out",
            parser_.row_count() + 1, FormatBytes(batch_bytes),
            FormatBytes(options_.max_batch_bytes));
      }
    }
    const mem::Budget& budget = blocks_.budget();
    if (budget.used_bytes() <= budget.limit_bytes()) return Ok();
    return Fail(
        Code::kExhausted,
        "at row {} memory reached {}, over the limit of {}; raise memory_threshold_mb or leave "
        "a wide column out",
        parser_.row_count(), FormatBytes(budget.used_bytes()), FormatBytes(budget.limit_bytes()));
  }

  Source& source_;
  const ExportOptions& options_;
  mem::BlockAllocator& blocks_;
  sys::Clock& clock_;
  const sys::Stop& stop_;
  Progress& progress_;
  pg::CopyParser parser_;
  ExportTotals totals_;
  sys::Duration rest_owed_{0};
};

}  // namespace

Result<ExportTotals> ExportTable(Source& source, const NewWriter& new_writer,
                                 const ExportOptions& options, mem::BlockAllocator& blocks,
                                 sys::Clock& clock, const sys::Stop& stop, Progress& progress) {
  progress.expected_rows = source.size().estimated_rows;
  BatchQueue queue(kQueueBytes);
  PartWriter writer(new_writer, options, progress);
  Status encoded;
  std::thread encoder([&] {
    encoded = writer.Run(queue);
    if (!encoded.ok()) queue.Abort();
  });

  Reader reader(source, options, blocks, clock, stop, progress);
  Status read = reader.Run(queue);
  if (read.ok()) {
    queue.Close();
  } else {
    queue.Abort();
    source.connection().Cancel();
  }
  encoder.join();
  if (!encoded.ok()) return std::move(encoded).error();
  if (!read.ok()) return std::move(read).error().In(source.name());

  ExportTotals totals = std::move(reader.totals());
  totals.parts = writer.TakeParts();
  totals.encode = std::chrono::nanoseconds(writer.times().encode_nanos);
  totals.write = std::chrono::nanoseconds(writer.times().write_nanos);
  return totals;
}

}  // namespace weir::extract
