#include "weir/extract/export_table.h"

#include <algorithm>
#include <thread>

#include "weir/base/units.h"
#include "weir/extract/chunk_queue.h"
#include "weir/extract/copy_chunk.h"
#include "weir/sys/thread.h"

namespace weir::extract {
namespace {

// Batches into the parts of one folder.
class PartWriter {
 public:
  PartWriter(const NewWriter& new_writer, const ExportOptions& options, Progress& progress)
      : new_writer_(new_writer), options_(options), progress_(progress) {}

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
    WEIR_TRY(writer_, new_writer_(static_cast<int>(parts_.size())));
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
  const ExportOptions& options_;
  Progress& progress_;
  std::unique_ptr<file::TableWriter> writer_;
  std::vector<file::FilePart> parts_;
  file::WriteTimes times_;
  int64_t finished_bytes_ = 0;
};

// Blocks that are only kept warm would be given up before anything is refused.
Status CheckBudget(mem::BlockAllocator& blocks, int64_t row) {
  const mem::Budget& budget = blocks.budget();
  const int64_t used_bytes = budget.used_bytes() - blocks.kept_bytes();
  if (used_bytes <= budget.limit_bytes()) return Ok();
  return Fail(Code::kExhausted,
              "at row {} memory reached {}, over the limit of {}; raise memory_threshold_mb in "
              "weir.yaml or leave a wide column out",
              row, FormatBytes(used_bytes), FormatBytes(budget.limit_bytes()));
}

// This thread's side: receives the stream and does nothing else with it, because a server waits
// while nobody empties its socket, and a decoder that runs on its processor holds it up.
class Receiver {
 public:
  Receiver(Source& source, const ExportOptions& options, mem::BlockAllocator& blocks,
           sys::Clock& clock, const sys::Stop& stop, Progress& progress)
      : source_(source),
        options_(options),
        blocks_(blocks),
        clock_(clock),
        stop_(stop),
        progress_(progress) {}

  Status Run(ChunkQueue& queue, ExportTotals& totals) {
    const sys::Duration start = clock_.Now();
    Status done = Receive(queue, totals);
    totals.copy = clock_.Now() - start;
    return done;
  }

 private:
  Status Receive(ChunkQueue& queue, ExportTotals& totals) {
    pg::Connection& connection = source_.connection();
    WEIR_DO(source_.StartCopy(options_.byte_timeout, &totals.wait));
    const int64_t chunk_bytes = std::min(kChunkBytes, options_.batch_bytes);
    bool ended = false;
    while (!ended) {
      CopyChunk chunk(blocks_);
      int64_t rows = 0;
      while (chunk.bytes() < chunk_bytes) {
        WEIR_TRY(const Bytes message,
                 connection.NextCopyData(options_.byte_timeout, &totals.wait), "after {} rows",
                 rows_ + rows);
        ended = message.empty();
        if (ended) break;
        if (message.size() > kTrailerBytes) ++rows;
        totals.read_bytes += std::ssize(message);
        chunk.Append(message, connection.TakeCopyMemory());
      }
      rows_ += rows;
      WEIR_DO(HandOver(std::move(chunk), queue, totals));
      if (!ended) Rest(rows, totals);
    }
    return Ok();
  }

  Status HandOver(CopyChunk chunk, ChunkQueue& queue, ExportTotals& totals) {
    progress_.read_bytes = totals.read_bytes;
    WEIR_DO(CheckBudget(blocks_, rows_));
    const sys::Duration before = clock_.Now();
    const bool pushed = queue.Push(std::move(chunk));
    totals.blocked += clock_.Now() - before;
    return pushed ? Ok() : Status(Fail(Code::kCancelled, "the encoder stopped"));
  }

  // Rests are taken in pieces long enough that waking up late does not count; what a rest took is
  // what it paid.
  void Rest(int64_t rows, ExportTotals& totals) {
    constexpr sys::Duration kLeastRest = std::chrono::milliseconds(50);
    rest_owed_ += options_.pace.RestAfter(rows);
    if (rest_owed_ < kLeastRest) return;
    const sys::Duration rested = clock_.Wait(rest_owed_, stop_);
    rest_owed_ -= rested;
    totals.slept += rested;
  }

  // PostgreSQL sends each row as one message, the first with the stream's header, and the trailer
  // as one more.
  static constexpr size_t kTrailerBytes = 2;

  Source& source_;
  const ExportOptions& options_;
  mem::BlockAllocator& blocks_;
  sys::Clock& clock_;
  const sys::Stop& stop_;
  Progress& progress_;
  int64_t rows_ = 0;
  sys::Duration rest_owed_{0};
};

// The other thread's side: chunks into batches, batches into files.
class Encoder {
 public:
  Encoder(Source& source, const NewWriter& new_writer, const ExportOptions& options,
          mem::BlockAllocator& blocks, sys::Clock& clock, Progress& progress)
      : source_name_(source.name()),
        options_(options),
        blocks_(blocks),
        clock_(clock),
        progress_(progress),
        parser_(source.columns(), blocks, options.max_value_bytes,
                std::string(source.leave_out())),
        writer_(new_writer, options, progress) {}

  Status Run(ChunkQueue& queue, ExportTotals& totals) {
    sys::Duration worked{0};
    Status done = Encode(queue, totals, worked);
    const file::WriteTimes times = writer_.times();
    totals.rows = parser_.row_count();
    totals.encode = std::chrono::nanoseconds(times.encode_nanos);
    totals.write = std::chrono::nanoseconds(times.write_nanos);
    totals.decode = worked - totals.encode - totals.write;
    return done;
  }

 private:
  // `worked` becomes the time not spent waiting for chunks.
  Status Encode(ChunkQueue& queue, ExportTotals& totals, sys::Duration& worked) {
    const auto timed = [&](auto work) {
      const sys::Duration start = clock_.Now();
      Status done = work();
      worked += clock_.Now() - start;
      return done;
    };
    while (auto chunk = queue.Pop()) {
      WEIR_DO(timed([&] {
        return chunk->Drain([&](Bytes piece) { return Take(piece, totals); });
      }));
    }
    if (queue.aborted()) return Ok();  // The receiver knows why.
    return timed([&] { return FinishAll(totals); });
  }

  Status FinishAll(ExportTotals& totals) {
    WEIR_DO(parser_.End(), "{}", source_name_);
    if (parser_.batch_rows() > 0) WEIR_DO(WriteBatch(totals));
    WEIR_DO(writer_.Finish());
    totals.parts = writer_.TakeParts();
    return Ok();
  }

  // A full batch is written when the piece that filled it is freed: a value of 50 MB should not be
  // held once more meanwhile.
  Status Take(Bytes piece, ExportTotals& totals) {
    if (parser_.batch_bytes() >= options_.batch_bytes) WEIR_DO(WriteBatch(totals));
    WEIR_DO(parser_.Feed(piece), "{}", source_name_);
    return Ok();
  }

  Status WriteBatch(ExportTotals& totals) {
    table::Batch batch = parser_.TakeBatch();
    progress_.rows += batch.row_count;
    ++totals.batches;
    WEIR_DO(CheckMemory(batch, totals), "{}", source_name_);
    return writer_.Write(std::move(batch));
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

  const std::string& source_name_;
  const ExportOptions& options_;
  mem::BlockAllocator& blocks_;
  sys::Clock& clock_;
  Progress& progress_;
  pg::CopyParser parser_;
  PartWriter writer_;
};

}  // namespace

Status ExportTable(Source& source, const NewWriter& new_writer, const ExportOptions& options,
                   mem::BlockAllocator& blocks, sys::Clock& clock, const sys::Stop& stop,
                   Progress& progress, ExportTotals& totals) {
  progress.expected_rows = source.size().estimated_rows;
  ChunkQueue queue(kQueueBytes);
  totals = {};  // Each side writes its own members.
  Status encoded;
  WEIR_TRY(std::thread encoding, sys::StartThread([&] {
    Encoder encoder(source, new_writer, options, blocks, clock, progress);
    encoded = encoder.Run(queue, totals);
    if (encoded.ok()) return;
    queue.Abort();
    source.connection().Cancel();  // The receiver may be waiting for a server that says nothing.
  }));

  Status received = Receiver(source, options, blocks, clock, stop, progress).Run(queue, totals);
  if (received.ok()) {
    queue.Close();
  } else {
    queue.Abort();
    source.connection().Cancel();
  }
  encoding.join();
  if (!encoded.ok()) return std::move(encoded).error();
  if (!received.ok()) return std::move(received).error().In(source.name());
  return Ok();
}

}  // namespace weir::extract
