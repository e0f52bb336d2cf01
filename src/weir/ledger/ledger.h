#pragma once
// Ledger: what was run, what it wrote and what it cost the source. One interface; SQLite below it.
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "weir/base/result.h"

namespace weir::ledger {

enum class RunStatus : uint8_t {
  kRunning,      ///< Begun, not finished.
  kSuccess,      ///< Every row is out and the output stands under its final name.
  kFailed,       ///< An error ended it; see error_message.
  kInterrupted,  ///< Someone stopped it, or its process died.
  kSkipped,      ///< Nothing was written, on purpose; see skip_reason.
};

/// "running", "success", "failed", "interrupted", "skipped": the text in export_metrics.status.
std::string_view RunStatusName(RunStatus status);

/// What is known when a run of one export begins.
struct RunStart {
  std::string run_id;        ///< Unique per (run, export).
  std::string run_group_id;  ///< Joins the exports of one run.
  std::string export_name;
  std::string mode = "full";
  std::string format;          ///< "parquet", "csv".
  std::string tuning_profile;  ///< "fast", "balanced", "safe".
  std::string source_type = "postgres";
  std::string destination_type = "local";
  std::string weir_version;
  std::optional<int64_t> batch_size;  ///< Rows.
  std::optional<int64_t> batch_size_memory_mb;
  std::optional<int64_t> chunk_size;  ///< Rows.
  std::optional<std::string> chunk_key;
  int64_t parallel = 1;

  friend bool operator==(const RunStart&, const RunStart&) = default;
};

/// What is known when a run ends. An absent value was not measured; a zero was, and is zero.
struct RunEnd {
  RunStatus status = RunStatus::kFailed;
  std::optional<std::string> error_message;  ///< No secrets: it is stored as it is.
  std::optional<std::string> error_class;
  std::optional<std::string> skip_reason;

  std::optional<int64_t> duration_ms;
  std::optional<int64_t> total_rows;
  std::optional<int64_t> peak_rss_mb;
  std::optional<int64_t> files_produced;
  std::optional<int64_t> files_committed;
  std::optional<int64_t> bytes_written;  ///< At the destination.
  std::optional<int64_t> bytes_read;     ///< Of the COPY stream.
  std::optional<int64_t> retries;
  std::optional<int64_t> source_count;  ///< COUNT(*) of a reconcile.
  std::optional<int64_t> pg_temp_bytes_delta;
  std::optional<int64_t> longest_chunk_ms;

  std::optional<bool> validated;  ///< These four: absent when the check was not run.
  std::optional<bool> reconciled;
  std::optional<bool> quality_passed;
  std::optional<bool> schema_changed;

  std::optional<std::string> schema_fingerprint;
  std::optional<std::string> cursor_min;
  std::optional<std::string> cursor_max;
  std::optional<std::string> key_descriptor_json;
  std::optional<std::string> offending_value;
  std::optional<std::string> server_context_json;

  std::optional<int64_t> batches;
  std::optional<int64_t> rows_per_batch;  ///< total_rows / batches, rounded.
  std::optional<int64_t> slept_ms;        ///< Where the time went, summed over threads.
  std::optional<int64_t> source_wait_ms;
  std::optional<int64_t> decode_ms;
  std::optional<int64_t> encode_ms;
  std::optional<int64_t> write_ms;

  friend bool operator==(const RunEnd&, const RunEnd&) = default;
};

/// One row of export_metrics. While it is running, `end` holds its status and nothing else.
struct RunRow {
  int64_t id = 0;      ///< Rises with each Begin().
  std::string run_at;  ///< UTC, as sys::FormatUtc writes it; so are all times below.
  RunStart start;
  RunEnd end;
};

/// One harm metric of a run, say {"pg_blks_read", 153008}.
struct Harm {
  std::string metric;
  int64_t delta = 0;
};

struct HarmRow {
  int64_t id = 0;
  std::string run_id;
  std::string export_name;
  std::string metric;
  int64_t delta = 0;
  std::string recorded_at;
};

/// One file that a run wrote.
struct FilePart {
  std::string path;  ///< Relative to the export's output folder.
  int64_t rows = 0;
  int64_t bytes = 0;
  std::string xxh3;  ///< 16 hex digits.
};

struct FileRow {
  std::string run_id;
  std::string export_name;
  FilePart part;
  std::string recorded_at;
};

/// Which rows a query returns: the newest `limit` that match, newest first.
struct Filter {
  std::optional<std::string> export_name;
  std::optional<std::string> run_id;
  int64_t limit = 50;
};

/// Proof that this process alone runs an export. Dropping it, or dying in any way, lets it go.
///
/// Requires: taken before Begin() and kept until after Finish(), or a living run is taken for a
///           dead one.
class ExportLock {
 public:
  virtual ~ExportLock() = default;
  virtual const std::string& export_name() const = 0;
};

/// The record of runs. Every call that returns Ok() is durable: a power cut does not undo it.
///
/// Shape:     a run is Begin, then RecordFiles and RecordHarm in any order and number, then Finish.
/// Invariant: run_id names at most one row; an export has at most one row whose status is running.
/// Threads:   any; calls take turns.
/// Cost:      a write is one transaction, 3 or 4 fsyncs. A query walks back from the newest row.
/// Errors:    every call may return, with a message naming the state file, the reason and the
///            remedy,
///            kExhausted    the disk is full. Nothing was recorded.
///            kUnavailable  another process kept the file busy for 10 s, or the device failed.
///            kInvalid      the file or its folder may not be written.
///            kCorrupt      the file fails its checks. Stop: opening it again sets it aside.
class Ledger {
 public:
  virtual ~Ledger() = default;

  /// Claims `export_name` for this process. Rows of that export left running by a process that died
  /// become interrupted, with the reason in error_message.
  ///
  /// Errors: kInvalid when the export is running now, in this process or another; the message names
  ///         the export and its run.
  virtual Result<std::unique_ptr<ExportLock>> LockExport(const std::string& export_name) = 0;

  /// Records that a run of `lock`'s export began now. Crash after it: a running row, settled later.
  /// Fault point: ledger.begun.
  /// Errors:   kInvalid when start.run_id was used before.
  /// Requires: start.export_name == lock.export_name(), and a lock that this ledger gave.
  virtual Status Begin(const ExportLock& lock, const RunStart& start) = 0;

  /// Records files of a begun run, all or none. The same path again replaces what was recorded of
  /// it. Fault point: ledger.files_recorded.
  /// Errors: kNotFound when no run has `run_id`.
  virtual Status RecordFiles(const std::string& run_id, std::span<const FilePart> parts) = 0;

  /// Records harm metrics of a begun run, all or none. The same metric again replaces its delta.
  /// Fault point: ledger.harm_recorded.
  /// Errors: kNotFound when no run has `run_id`.
  virtual Status RecordHarm(const std::string& run_id, std::span<const Harm> harm) = 0;

  /// Records how a run ended. Fault point: ledger.finished.
  /// Errors:   kNotFound when no run with `run_id` is running.
  /// Requires: end.status != RunStatus::kRunning.
  virtual Status Finish(const std::string& run_id, const RunEnd& end) = 0;

  /// A row left running by a process that died is read as interrupted.
  virtual Result<std::vector<RunRow>> Runs(const Filter& filter) = 0;
  virtual Result<std::vector<FileRow>> Files(const Filter& filter) = 0;
  virtual Result<std::vector<HarmRow>> HarmOf(const Filter& filter) = 0;
};

}  // namespace weir::ledger
