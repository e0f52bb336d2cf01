#include "weir/extract/run_export.h"

#include <algorithm>
#include <random>

#include "weir/base/log.h"
#include "weir/base/units.h"
#include "weir/base/version.h"
#include "weir/file/csv_writer.h"
#include "weir/sys/process.h"

namespace weir::extract {
namespace {

constexpr sys::Duration kHarmSample = std::chrono::seconds(1);

// Carries one export through its steps; they share what is below.
class Run {
 public:
  Run(const ExportJob& job, const RunContext& context, pg::HarmMeter& meter, Progress& progress,
      ExportReport& report)
      : job_(job), context_(context), meter_(meter), progress_(progress), report_(report) {}

  /// The source into files that nobody sees yet.
  Status ReadSource();

  Status Publish() {
    if (report_.totals.parts.empty()) return Ok();  // skip_empty: the previous output stays.
    manifest_.parts = report_.totals.parts;
    return output_->Publish(manifest_);
  }

  bool source_opened() const { return source_opened_; }
  /// The source was there, and the place for the files refused: trying again would only read twice.
  bool output_refused() const { return source_opened_ && output_ == nullptr; }

 private:
  void Describe(const Source& source);
  Status Read(Source& source);
  Status CheckSpace(const pg::TableSize& size);
  Result<std::unique_ptr<file::TableWriter>> NewPart(int part, const file::Yield& yield);

  const ExportJob& job_;
  const RunContext& context_;
  pg::HarmMeter& meter_;
  Progress& progress_;
  ExportReport& report_;
  std::unique_ptr<file::OutputFolder> output_;
  file::Manifest manifest_;
  bool source_opened_ = false;
};

std::string_view FormatName(Format format) { return format == Format::kCsv ? "csv" : "parquet"; }

// The source is closed when this returns, its sessions' counters flushed.
Status Run::ReadSource() {
  WEIR_DO(file::CheckFolderName(job_.folder));
  WEIR_TRY(const auto source, Source::Open(job_.source, context_.stop));
  source_opened_ = true;
  auto read = Read(*source);
  report_.snapshot_hold = std::max(report_.snapshot_hold, std::optional(source->snapshot_hold()));
  return read;
}

void Run::Describe(const Source& source) {
  manifest_.run_id = report_.run_id;
  manifest_.export_name = job_.name;
  manifest_.status = "success";
  manifest_.format = FormatName(job_.format);
  manifest_.snapshot_lsn = source.mark().lsn;
  manifest_.snapshot_xid = source.mark().xid;
  manifest_.snapshot_taken_at = source.mark().taken_at;
  manifest_.schema = source.schema();
  manifest_.primary_key = source.primary_key();
}

Status Run::Read(Source& source) {
  WEIR_DO(CheckSpace(source.size()));
  WEIR_TRY(output_, file::OutputFolder::Open(context_.files, job_.folder, report_.run_id));
  Describe(source);
  const NewWriter new_writer = [this](int part, const file::Yield& yield) {
    return NewPart(part, yield);
  };
  WEIR_DO(ExportTable(source, new_writer, job_.options, context_.blocks, context_.clock,
                      context_.stop, progress_, report_.totals));
  if (report_.totals.wide_batches > 0) {
    LogWarn("export {}: {} batches took more than max_batch_memory_mb ({})", job_.name,
            report_.totals.wide_batches, FormatBytes(job_.options.max_batch_bytes));
  }
  meter_.SampleNow();  // The snapshot is never older than now.
  return source.Close();
}

// The table's size in PostgreSQL, compressed as it is there, is a fair guess of its size as zstd
// Parquet.
Status Run::CheckSpace(const pg::TableSize& size) {
  std::string folder = sys::ParentPath(job_.folder);
  while (!context_.files.Exists(folder)) folder = sys::ParentPath(folder);
  WEIR_TRY(const int64_t free_bytes, context_.files.FreeBytes(folder));
  const int64_t expected = size.table_bytes;
  const SourceRequest& source = job_.source;
  const bool whole = source.columns.empty() && source.exclude.empty() && source.where.empty() &&
                     !source.limit.has_value();
  if (!whole) return Ok();  // How much of it will be read, nobody knows.
  if (free_bytes < expected / 4) {
    return Fail(Code::kExhausted,
                "'{}' has {} free, and a table of {} needs about as much; free space or choose "
                "another folder",
                folder, FormatBytes(free_bytes), FormatBytes(expected));
  }
  if (free_bytes < expected) {
    LogWarn("export {}: '{}' has {} free for a table of {}", job_.name, folder,
            FormatBytes(free_bytes), FormatBytes(expected));
  }
  return Ok();
}

Result<std::unique_ptr<file::TableWriter>> Run::NewPart(int part, const file::Yield& yield) {
  const std::string name = file::PartName(report_.run_id, part, FormatName(job_.format));
  const std::string path = output_->PathOf(name);
  if (job_.format == Format::kCsv) {
    return file::NewCsvWriter(context_.files, path, name, manifest_.schema, yield);
  }
  return file::NewParquetWriter(context_.files, path, name, manifest_.schema,
                                file::SchemaJson(manifest_.schema), job_.parquet, context_.blocks,
                                yield);
}

ledger::RunStart StartOf(const ExportJob& job, const ExportReport& report,
                         const std::string& run_group_id) {
  ledger::RunStart start;
  start.run_id = report.run_id;
  start.run_group_id = run_group_id;
  start.export_name = job.name;
  start.format = FormatName(job.format);
  start.tuning_profile = job.profile;
  start.weir_version = Version();
  start.batch_size = job.options.pace.batch_size;
  start.batch_size_memory_mb = job.batch_size_memory_mb;
  return start;
}

// What was counted; absent where no COPY was begun.
void AddTotals(const ExportTotals& totals, ledger::RunEnd& end) {
  if (!totals.copy.has_value()) return;
  end.total_rows = totals.rows;
  end.bytes_read = totals.read_bytes;
  end.batches = totals.batches;
  if (totals.batches > 0) end.rows_per_batch = totals.rows / totals.batches;
  end.slept_ms = sys::Millis(totals.slept);
  end.source_wait_ms = sys::Millis(totals.wait);
  end.decode_ms = sys::Millis(totals.decode);
  end.encode_ms = sys::Millis(totals.encode);
  end.write_ms = sys::Millis(totals.write);
}

ledger::RunEnd EndOf(const ExportReport& report) {
  ledger::RunEnd end;
  end.status = report.status;
  if (report.error.has_value()) {
    end.error_message = report.error->message;
    end.error_class = CodeName(report.error->code);
  }
  if (report.status == ledger::RunStatus::kSkipped) end.skip_reason = "the source has no rows";
  end.duration_ms = sys::Millis(report.duration);
  end.peak_rss_mb = report.peak_rss_bytes / kMiB;
  const auto files = static_cast<int64_t>(report.totals.parts.size());
  if (!report.error.has_value() || files > 0) end.files_produced = files;
  end.files_committed = report.error.has_value() ? 0 : files;
  end.bytes_written = report.written_bytes();
  end.retries = report.retries;
  for (const pg::HarmMetric& metric : report.harm.metrics) {
    if (metric.metric == "pg_temp_bytes") end.pg_temp_bytes_delta = metric.delta;
  }
  AddTotals(report.totals, end);
  return end;
}

Status Record(ledger::Ledger& ledger, const ExportReport& report) {
  if (!report.error.has_value() && !report.totals.parts.empty()) {
    std::vector<ledger::FilePart> parts;
    for (const file::FilePart& part : report.totals.parts) {
      parts.push_back({part.path, part.rows, part.bytes, part.xxh3});
    }
    WEIR_DO(ledger.RecordFiles(report.run_id, parts));
  }
  std::vector<ledger::Harm> harm;
  for (const pg::HarmMetric& metric : report.harm.metrics) {
    harm.push_back({metric.metric, metric.delta});
  }
  WEIR_DO(ledger.RecordHarm(report.run_id, harm));
  return ledger.Finish(report.run_id, EndOf(report));
}

// An export named as its table says the name once.
Status WithoutName(Status done, const std::string& name) {
  if (done.ok()) return done;
  Error error = std::move(done).error();
  if (error.message.starts_with(name + ": ")) error.message.erase(0, name.size() + 2);
  return error;
}

// Reads the source until that is done, fails for good, or has no retries left. `report` keeps the
// longest snapshot of all tries, and the totals of the last.
Result<std::unique_ptr<Run>> ReadWithRetries(const ExportJob& job, const RunContext& context,
                                             pg::HarmMeter& meter, Progress& progress,
                                             ExportReport& report) {
  bool opened = false;  // Once it was, it may be away for several tries.
  while (true) {
    report.totals = {};
    auto run = std::make_unique<Run>(job, context, meter, progress, report);
    const Status done = WithoutName(run->ReadSource(), job.name);
    opened = opened || run->source_opened();
    if (done.ok()) return run;
    const bool again = done.error().code == Code::kUnavailable && opened &&
                       !run->output_refused() && report.retries < job.retry.max_retries;
    if (!again) return done.error();
    run.reset();
    ++report.retries;
    const sys::Duration pause = job.retry.PauseBefore(report.retries);
    LogWarn("export {}: {}; trying again from the start (retry {} of {})", job.name,
            done.error().message, report.retries, job.retry.max_retries);
    context.clock.Wait(pause, context.stop);
    WEIR_DO(context.stop.Check());
    progress.rows = 0;
    progress.read_bytes = 0;
    progress.written_bytes = 0;
  }
}

// Everything between Begin and Finish of the ledger. The harm is that of all tries, but for
// longest_statement_ms, which is the last try's.
Status Perform(const ExportJob& job, const RunContext& context, Progress& progress,
               ExportReport& report) {
  const auto meter =
      pg::HarmMeter::Start({.target = job.source.target,
                            .run_id = report.run_id,
                            .table = job.source.table ? job.source.table->Display() : "",
                            .sample_interval = kHarmSample,
                            .reply_bound = job.meter_reply_bound},
                           context.clock, context.stop);
  auto run = ReadWithRetries(job, context, *meter, progress, report);
  report.harm = meter->Finish(report.snapshot_hold, report.totals.copy);
  return run.ok() ? run.value()->Publish() : Status(std::move(run).error());
}

}  // namespace

int64_t ExportReport::written_bytes() const {
  int64_t bytes = 0;
  if (error.has_value()) return 0;
  for (const file::FilePart& part : totals.parts) bytes += part.bytes;
  return bytes;
}

std::string NewRunGroupId(sys::Clock& clock) {
  std::string stamp;
  for (const char c : sys::FormatUtc(clock.WallMillis()).substr(0, 19)) {
    if (c != '-' && c != ':') stamp += c;
  }
  std::random_device random;
  return fmt::format("{}-{:06x}", stamp, random() & 0xFFFFFF);
}

Result<ExportReport> RunExport(ExportJob job, int index, const RunContext& context,
                               Progress& progress) {
  ExportReport report;
  report.name = job.name;
  report.folder = job.folder;
  report.run_id = fmt::format("{}-{}", context.run_group_id, index);
  job.source.settings.application_name = pg::ApplicationName(
      report.run_id, job.source.table.has_value() ? job.source.table->name : job.name);

  WEIR_TRY(const auto lock, context.ledger.LockExport(job.name));
  WEIR_DO(context.ledger.Begin(*lock, StartOf(job, report, context.run_group_id)));
  const sys::Duration start = context.clock.Now();
  context.blocks.budget().SetLimit(job.memory_limit_bytes);
  auto done = Perform(job, context, progress, report);
  report.duration = context.clock.Now() - start;
  report.peak_rss_bytes = sys::ReadProcessUsage().peak_rss_bytes;
  if (done.ok()) {
    const bool skipped = job.options.skip_empty && report.totals.parts.empty();
    report.earlier_stands = skipped && context.files.Exists(job.folder);
    report.status = skipped ? ledger::RunStatus::kSkipped : ledger::RunStatus::kSuccess;
  } else {
    report.error = std::move(done).error();
    report.status = report.error->code == Code::kCancelled ? ledger::RunStatus::kInterrupted
                                                           : ledger::RunStatus::kFailed;
  }
  WEIR_DO(Record(context.ledger, report), "export {}", job.name);
  return report;
}

}  // namespace weir::extract
