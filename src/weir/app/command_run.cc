// weir run -c weir.yaml: the exports of a configuration file.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <memory>

#include "weir/app/command.h"
#include "weir/app/run_jobs.h"
#include "weir/config/connection.h"
#include "weir/ledger/sqlite_ledger.h"

namespace weir::app {
namespace {

struct Options {
  std::string config_path;
  std::vector<std::string> exports;
  std::vector<std::string> params;
  OutputStyle output;
};

Result<pg::Target> TargetOf(const config::SourceConfig& source, sys::Files& files) {
  WEIR_TRY(const config::Connection connection,
           config::ResolveConnection(source, files, config::ProcessEnv));
  WEIR_TRY(pg::Target target, pg::Target::Parse(connection.conninfo.Reveal()));
  if (connection.tls.has_value()) {
    target.Set("sslmode", std::string(config::TlsModeName(connection.tls->mode)));
    if (!connection.tls->ca_file.empty()) target.Set("sslrootcert", connection.tls->ca_file);
  }
  return target;
}

Result<extract::ExportJob> JobOf(const config::Config& config, const config::ExportConfig& one,
                                 const pg::Target& target, const config::GetEnv& query_variables,
                                 Workshop& workshop) {
  extract::ExportJob job;
  job.name = one.name;
  job.source.target = target;
  job.source.asked_by = extract::AskedBy::kFile;
  job.source.table = one.table;
  if (!one.table.has_value()) {
    WEIR_TRY(job.source.query, config::ReadQuery(config, one, workshop.files, query_variables));
  }
  job.folder = config::OutputFolder(one, sys::FormatUtc(workshop.clock.WallMillis()).substr(0, 10));
  job.format =
      one.format == config::Format::kCsv ? extract::Format::kCsv : extract::Format::kParquet;
  job.parquet.compression = CompressionOf(one.compression);
  job.parquet.level = one.compression_level;
  job.parquet.row_group_raw_bytes = one.row_groups.raw_bytes;
  job.parquet.row_group_rows = one.row_groups.rows.value_or(job.parquet.row_group_rows);
  if (!one.row_groups.encoded_bound) job.parquet.row_group_encoded_bytes = INT64_MAX;
  job.options.skip_empty = one.skip_empty;
  job.options.max_file_bytes = one.max_file_bytes;
  ApplyTuning(one.tuning, job);
  return job;
}

// --export may be given several times; a name that is not there is bad usage.
Result<std::vector<const config::ExportConfig*>> Choose(const config::Config& config,
                                                        const std::vector<std::string>& names) {
  std::vector<const config::ExportConfig*> chosen;
  for (const config::ExportConfig& one : config.exports) {
    if (names.empty() || std::find(names.begin(), names.end(), one.name) != names.end()) {
      chosen.push_back(&one);
    }
  }
  for (const std::string& name : names) {
    const bool known = std::any_of(chosen.begin(), chosen.end(),
                                   [&](const auto* one) { return one->name == name; });
    if (known) continue;
    std::string have;
    for (const config::ExportConfig& one : config.exports) {
      have += (have.empty() ? "" : ", ") + one.name;
    }
    return Fail(Code::kUsage, "{} has no export '{}'; it has {}", config.path, name, have);
  }
  return chosen;
}

Result<std::vector<extract::ExportJob>> JobsOf(const Options& options, Workshop& workshop) {
  WEIR_TRY(const config::Params params, config::ParseParams(options.params));
  const config::GetEnv variables = config::WithParams(params, config::ProcessEnv);
  WEIR_TRY(const config::Config config,
           config::LoadConfigFile(options.config_path, workshop.files, variables));
  WEIR_TRY(const auto chosen, Choose(config, options.exports));
  WEIR_TRY(const pg::Target target, TargetOf(config.source, workshop.files));
  std::vector<extract::ExportJob> jobs;
  for (const config::ExportConfig* one : chosen) {
    WEIR_TRY(extract::ExportJob job,
             JobOf(config, *one, target, params.empty() ? nullptr : variables, workshop),
             "export {}", one->name);
    jobs.push_back(std::move(job));
  }
  return jobs;
}

int RunRunCommand(const Options& options) {
  Workshop workshop;
  auto jobs = JobsOf(options, workshop);
  if (!jobs.ok()) return Report(jobs.error());
  const std::string state =
      sys::JoinPath(sys::ParentPath(options.config_path), ledger::kStateFileName);
  return RunJobs(std::move(jobs).value(), state, options.output, workshop);
}

}  // namespace

void AddRun(CLI::App& app, Action& action) {
  CLI::App* command = app.add_subcommand("run", "Run the exports of a configuration file");
  const auto options = std::make_shared<Options>();
  command->add_option("-c,--config", options->config_path, "weir.yaml; keys: docs/config.md")
      ->required()->type_name("FILE");
  command->add_option("-e,--export", options->exports, "Only this export; may be repeated")
      ->type_name("NAME")->take_all();
  command->add_option("-p,--param", options->params,
                      "What ${NAME} in FILE stands for; may be repeated")
      ->type_name("NAME=VALUE")->allow_extra_args(false);
  command->add_flag("--json", options->output.json, "One JSON object per export on stdout");
  command->add_flag("--quiet", options->output.quiet, "No progress, no summary");
  command->callback([options, &action] { action = [options] { return RunRunCommand(*options); }; });
}

}  // namespace weir::app
