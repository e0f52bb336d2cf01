#pragma once
// RunExport: one export from its lock to its record: source, files, manifest, ledger, harm.
#include <optional>
#include <string>
#include <vector>

#include "weir/extract/export_table.h"
#include "weir/file/parquet_writer.h"
#include "weir/ledger/ledger.h"
#include "weir/pg/harm_meter.h"

namespace weir::extract {

enum class Format { kParquet, kCsv };

/// One export, fully decided.
struct ExportJob {
  std::string name;
  SourceRequest source;         ///< settings.application_name is filled in by RunExport.
  std::string folder;           ///< Final path of the output.
  Format format = Format::kParquet;
  file::ParquetOptions parquet;
  ExportOptions options;
  RetryPolicy retry;
  int64_t memory_limit_bytes = mem::kUnlimited;  ///< Of everything charged to the run's blocks.
  sys::Duration meter_reply_bound = pg::kMeterReplyBound;
  std::string profile = "balanced";
  std::optional<int64_t> batch_size_memory_mb;
};

/// What the run is part of, and what it may use. All referred to must outlive the call.
struct RunContext {
  ledger::Ledger& ledger;
  sys::Files& files;
  sys::Clock& clock;
  const sys::Stop& stop;
  mem::BlockAllocator& blocks;
  std::string run_group_id;
};

/// How one export ended.
struct ExportReport {
  std::string run_id;
  std::string name;
  std::string folder;
  ledger::RunStatus status = ledger::RunStatus::kFailed;
  bool earlier_stands = false;          ///< Skipped, and the folder holds an earlier export.
  std::optional<Error> error;           ///< Set unless status is success or skipped.
  ExportTotals totals;                  ///< Of the last try, as far as it came.
  sys::Duration duration{0};
  int64_t retries = 0;
  int64_t peak_rss_bytes = 0;           ///< Of the whole process.
  std::optional<sys::Duration> snapshot_hold;  ///< The longest of all tries; absent: none was held.
  pg::HarmReport harm;
  int64_t written_bytes() const;  ///< Of all parts; zero unless they stand under their names.
};

/// "20261130T111535-3f9ac2": names a run of any number of exports. Unique by its random end.
std::string NewRunGroupId(sys::Clock& clock);

/// Runs `job` as number `index` of its group and records it; a failed or interrupted run is
/// recorded too.
///
/// A source that goes away once it was opened is tried again as job.retry says: nothing was
/// published, so nothing can be twice. One that was never reached fails at once.
/// Errors: only when the run could not be recorded: the ledger's, and kUnavailable when the export
///         runs already. Whatever else went wrong stands in the report.
Result<ExportReport> RunExport(ExportJob job, int index, const RunContext& context,
                               Progress& progress);

}  // namespace weir::extract
