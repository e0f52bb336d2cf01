// weir export URL TABLE... -o DIR: tables to files without a configuration.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <memory>

#include "weir/app/command.h"
#include "weir/app/flag_check.h"
#include "weir/app/run_jobs.h"
#include "weir/config/connection.h"
#include "weir/ledger/sqlite_ledger.h"

namespace weir::app {
namespace {

struct Options {
  std::string url;
  std::vector<std::string> tables;
  std::string folder;
  std::string format = "parquet";
  std::string compression;  // Empty: not written.
  std::optional<int> level;
  std::string profile = "balanced";
  std::vector<std::string> columns;
  std::vector<std::string> exclude;
  std::string where;
  std::optional<int64_t> limit;
  OutputStyle output;
};

// Refuses what the two flags would otherwise be ignored for, before anything is read.
Status CheckCompression(const Options& options, config::Compression compression) {
  if (options.format == "csv") {
    const bool none = options.compression.empty() || options.compression == "none";
    if (none && !options.level) return Ok();
    return Fail(Code::kUsage, "CSV files are not compressed; leave --compression and "
                              "--compression-level out, or take --format parquet");
  }
  return options.level ? config::CheckCompressionLevel(compression, *options.level) : Ok();
}

// What a flag that may be repeated holds.
Result<std::vector<std::string>> NamesOf(const std::vector<std::string>& lists) {
  std::vector<std::string> names;
  for (const std::string& list : lists) {
    WEIR_TRY(auto more, pg::ParseColumnNames(list));
    names.insert(names.end(), more.begin(), more.end());
  }
  return names;
}

// What is the same for every table.
Result<extract::ExportJob> CommonJob(const Options& options) {
  extract::ExportJob job;
  WEIR_TRY(job.source.target, pg::Target::Parse(options.url));
  WEIR_DO(config::CheckTls(options.url, config::ProcessEnv));
  WEIR_TRY(job.source.columns, NamesOf(options.columns), "--columns");
  WEIR_TRY(job.source.exclude, NamesOf(options.exclude), "--exclude");
  job.source.where = options.where;
  job.source.limit = options.limit;
  job.format = options.format == "csv" ? extract::Format::kCsv : extract::Format::kParquet;
  const auto compression =
      config::ParseCompression(options.compression).value_or(config::Compression::kZstd);
  WEIR_DO(CheckCompression(options, compression));
  job.parquet.compression = CompressionOf(compression);
  job.parquet.level = options.level;
  ApplyTuning(config::ProfileDefaults(config::ParseProfile(options.profile).value()), job);
  return job;
}

// The folder is <schema>.<table>: an unqualified name must be looked up to know its schema.
Result<std::vector<extract::ExportJob>> JobsOf(const Options& options, const sys::Stop& stop) {
  WEIR_TRY(const extract::ExportJob common, CommonJob(options));
  WEIR_TRY(const auto connection, pg::Connection::Open(common.source.target, "weir/export", stop));
  std::vector<extract::ExportJob> jobs;
  for (const std::string& text : options.tables) {
    WEIR_TRY(const pg::TableName written, pg::TableName::Parse(text));
    WEIR_TRY(const pg::TableName table, pg::ResolveTable(*connection, written));
    const bool again = std::any_of(jobs.begin(), jobs.end(),
                                   [&](const auto& job) { return job.source.table == table; });
    if (again) {
      return Fail(Code::kUsage, "table {} is named twice; name each table once", table.Display());
    }
    extract::ExportJob& job = jobs.emplace_back(common);
    job.source.table = table;
    job.name = table.Display();
    job.folder = sys::JoinPath(options.folder, table.FileName());
  }
  return jobs;
}

int RunExportCommand(const Options& options) {
  Workshop workshop;
  auto jobs = JobsOf(options, workshop.stop);
  if (!jobs.ok()) return Report(jobs.error(), workshop.stop);
  const std::string state = sys::JoinPath(options.folder, ledger::kStateFileName);
  return RunJobs(std::move(jobs).value(), state, options.output, workshop);
}

}  // namespace

void AddExport(CLI::App& app, Action& action) {
  CLI::App* command = app.add_subcommand("export", "Copy tables to files, without a configuration");
  const auto options = std::make_shared<Options>();
  command->add_option("URL", options->url, "postgresql://user@host:port/database")->required();
  command->add_option("TABLE", options->tables, "[schema.]name, quoted as in psql")->required();
  command->add_option("-o,--output", options->folder, "Writes DIR/<schema>.<table>/")->required()
      ->type_name("DIR")->check(NotEmpty());
  command->add_option("--format", options->format, "parquet or csv")
      ->check(CLI::IsMember({"parquet", "csv"}))->capture_default_str();
  command->add_option("--compression", options->compression, "Of Parquet")
      ->check(CLI::IsMember({"zstd", "snappy", "gzip", "lz4", "none"}))->default_str("zstd");
  command->add_option("--compression-level", options->level, "zstd 1-22, gzip 0-9");
  command->add_option("--profile", options->profile, "Pace and limits")
      ->check(CLI::IsMember({"fast", "balanced", "safe"}))->capture_default_str();
  command->add_option("--columns", options->columns,
                      "Only these columns: id,\"Odd name\", quoted as in psql; may be repeated")
      ->type_name("NAMES")->allow_extra_args(false);
  command->add_option("--exclude", options->exclude, "All columns but these, written the same way")
      ->type_name("NAMES")->allow_extra_args(false);
  command->add_option("--where", options->where, "Only rows where this SQL condition holds")
      ->check(NotEmpty());
  command->add_option("--limit", options->limit, "At most this many rows")
      ->check(AtLeast(0));
  command->add_flag("--json", options->output.json, "One JSON object per table on stdout");
  command->add_flag("--quiet", options->output.quiet, "No progress, no summary");
  command->callback(
      [options, &action] { action = [options] { return RunExportCommand(*options); }; });
}

}  // namespace weir::app
