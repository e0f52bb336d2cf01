#include "weir/app/run_jobs.h"

#include <algorithm>
#include <array>
#include <csignal>
#include <cstdio>

#include "weir/app/command.h"
#include "weir/app/export_summary.h"
#include "weir/app/progress_line.h"
#include "weir/base/log.h"
#include "weir/base/printable.h"
#include "weir/base/units.h"
#include "weir/ledger/sqlite_ledger.h"

namespace weir::app {
namespace {

constexpr std::array<int, 9> kWorstFirst = {143, 130, 129, 3, 4, 64, 1, 2, 0};

// Which of two exit codes says more to who started us.
int Worse(int a, int b) {
  const auto rank = [](int code) {
    const auto* const found = std::find(kWorstFirst.begin(), kWorstFirst.end(), code);
    WEIR_ASSERT(found != kWorstFirst.end());  // An unknown code must not pass for none.
    return found;
  };
  return rank(a) < rank(b) ? a : b;
}

int CodeOf(const extract::ExportReport& report, const sys::Stop& stop) {
  if (!report.error.has_value()) return 0;
  if (report.error->code == Code::kCancelled && stop.signal() != 0) return 128 + stop.signal();
  return ExitCode(report.error->code);
}

void Show(const extract::ExportReport& report, const OutputStyle& style) {
  if (style.json) {
    std::fprintf(stdout, "%s\n", SummaryJson(report).c_str());
    std::fflush(stdout);
  } else if (!style.quiet && !report.error.has_value()) {
    std::fputs(SummaryText(report).c_str(), stdout);
    std::fputs(HarmText(report.harm).c_str(), stdout);
    std::fflush(stdout);
  }
  if (report.error.has_value()) {
    std::fprintf(stderr, "weir: export %s: %s\n", Printable(report.name).c_str(),
                 Printable(report.error->message).c_str());
  }
}

// The report of an export of which no run was recorded.
extract::ExportReport NotRun(const extract::ExportJob& job, Error error) {
  extract::ExportReport report;
  report.name = job.name;
  report.folder = job.folder;
  report.status = error.code == Code::kCancelled ? ledger::RunStatus::kInterrupted
                                                 : ledger::RunStatus::kFailed;
  report.error = std::move(error);
  return report;
}

// A throttle that someone wrote is obeyed, and its price told.
void ShowPrice(const extract::ExportJob& job, const OutputStyle& style) {
  if (job.options.pace.throttle_ms == 0 || style.quiet) return;
  LogWarn("{}: throttle_ms {} rests {} ms per {} rows: a million rows take {} longer, and the "
          "snapshot is held as much longer; the source reads the same blocks either way",
          job.name, job.options.pace.throttle_ms, job.options.pace.throttle_ms,
          FormatCount(job.options.pace.batch_size),
          FormatDuration(std::chrono::duration_cast<std::chrono::milliseconds>(
              job.options.pace.RestAfter(1'000'000))));
}

extract::ExportReport RunOne(const extract::ExportJob& job, int index,
                             const extract::RunContext& context, const OutputStyle& style) {
  if (context.stop.asked()) {
    return NotRun(job, Fail(Code::kCancelled, "not begun: stopped on request"));
  }
  ShowPrice(job, style);
  extract::Progress progress;
  const ProgressLine line(ExportProgress(job.name, progress, context.clock),
                          ChooseProgressStyle(style.quiet || style.json), context.clock);
  auto report = extract::RunExport(job, index, context, progress);
  return report.ok() ? std::move(report).value() : NotRun(job, std::move(report).error());
}

}  // namespace

file::Compression CompressionOf(config::Compression compression) {
  switch (compression) {
    case config::Compression::kNone: return file::Compression::kNone;
    case config::Compression::kSnappy: return file::Compression::kSnappy;
    case config::Compression::kGzip: return file::Compression::kGzip;
    case config::Compression::kLz4: return file::Compression::kLz4;
    case config::Compression::kZstd: return file::Compression::kZstd;
  }
  return file::Compression::kZstd;
}

void ApplyTuning(const config::Tuning& tuning, extract::ExportJob& job) {
  job.profile = config::ProfileName(tuning.profile);
  job.batch_size_memory_mb = tuning.batch_size_memory_mb;
  extract::ExportOptions& options = job.options;
  options.pace = {tuning.throttle_ms, tuning.batch_size};
  options.byte_timeout = std::chrono::seconds(tuning.statement_timeout_s);
  if (tuning.batch_size_memory_mb.has_value()) {
    options.batch_bytes = std::min(options.batch_bytes, *tuning.batch_size_memory_mb * kMiB);
  }
  // Zero means no limit of ours; PostgreSQL's own is 1 GiB.
  options.max_value_bytes = tuning.max_value_mb == 0 ? kGiB : tuning.max_value_mb * kMiB;
  if (tuning.max_batch_memory_mb.has_value()) {
    options.max_batch_bytes = *tuning.max_batch_memory_mb * kMiB;
    options.batch_bytes = std::min(options.batch_bytes, options.max_batch_bytes);
  }
  switch (tuning.on_batch_memory_exceeded) {
    using enum config::OnBatchMemoryExceeded;
    case kWarn: options.wide_batch = extract::WideBatch::kWarn; break;
    case kFail: options.wide_batch = extract::WideBatch::kFail; break;
    case kAutoShrink: options.wide_batch = extract::WideBatch::kAllow; break;
  }
  job.retry = {tuning.max_retries, tuning.retry_backoff_ms};
  if (tuning.memory_threshold_mb > 0) job.memory_limit_bytes = tuning.memory_threshold_mb * kMiB;
  job.source.settings.lock_timeout_s = tuning.lock_timeout_s;
}

int RunJobs(std::vector<extract::ExportJob> jobs, const std::string& state_path,
            const OutputStyle& style, Workshop& workshop) {
  if (auto made = workshop.files.MakeFolder(sys::ParentPath(state_path)); !made.ok()) {
    return Report(made.error());
  }
  auto opened = ledger::OpenSqliteLedger(state_path, workshop.clock);
  if (!opened.ok()) return Report(opened.error());
  for (const std::string& warning : opened.value().warnings) LogWarn("{}", warning);

  const extract::RunContext context{*opened.value().ledger, workshop.files,
                                    workshop.clock,         workshop.stop,
                                    workshop.blocks,        extract::NewRunGroupId(workshop.clock)};
  int code = 0;
  std::vector<std::string> absent;  // Each reason once, however many tables share it.
  for (size_t index = 0; index < jobs.size(); ++index) {
    const extract::ExportReport report =
        RunOne(jobs[index], static_cast<int>(index) + 1, context, style);
    LogDebug("{}: {} charged to the budget at most, {} kept", report.name,
             FormatBytes(workshop.budget.peak_bytes()), FormatBytes(workshop.blocks.kept_bytes()));
    Show(report, style);
    code = Worse(code, CodeOf(report, workshop.stop));
    if (report.error.has_value()) continue;
    for (const std::string& reason : report.harm.absent_reasons) {
      if (std::find(absent.begin(), absent.end(), reason) == absent.end()) absent.push_back(reason);
    }
  }
  if (!style.json && !style.quiet) std::fputs(AbsentText(absent).c_str(), stdout);
  return code;
}

}  // namespace weir::app
