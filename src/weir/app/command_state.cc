// weir state runs|files|harm: what the ledger holds.
#include <CLI/CLI.hpp>
#include <memory>
#include <nlohmann/json.hpp>

#include "weir/app/command.h"
#include "weir/app/flag_check.h"
#include "weir/app/json_line_internal.h"
#include "weir/app/text_table.h"
#include "weir/base/units.h"
#include "weir/ledger/sqlite_ledger.h"
#include "weir/sys/files.h"

namespace weir::app {
namespace {

using Json = nlohmann::ordered_json;

struct Options {
  std::string config_path;
  std::string state_path;
  ledger::Filter filter;
  std::string export_name;
  bool json = false;
};

Json OrNull(const std::optional<int64_t>& value) { return value ? Json(*value) : Json(nullptr); }
Json OrNull(const std::optional<std::string>& value) {
  return value ? Json(*value) : Json(nullptr);
}
std::string OrDash(const std::optional<int64_t>& value) {
  return value ? FormatCount(*value) : "-";
}

Json RunJson(const ledger::RunRow& row) {
  return {{"run_id", row.start.run_id},
          {"run_group_id", row.start.run_group_id},
          {"export_name", row.start.export_name},
          {"run_at", row.run_at},
          {"status", ledger::RunStatusName(row.end.status)},
          {"duration_ms", OrNull(row.end.duration_ms)},
          {"total_rows", OrNull(row.end.total_rows)},
          {"bytes_written", OrNull(row.end.bytes_written)},
          {"bytes_read", OrNull(row.end.bytes_read)},
          {"peak_rss_mb", OrNull(row.end.peak_rss_mb)},
          {"tuning_profile", row.start.tuning_profile},
          {"format", row.start.format},
          {"mode", row.start.mode},
          {"batches", OrNull(row.end.batches)},
          {"rows_per_batch", OrNull(row.end.rows_per_batch)},
          {"slept_ms", OrNull(row.end.slept_ms)},
          {"source_wait_ms", OrNull(row.end.source_wait_ms)},
          {"decode_ms", OrNull(row.end.decode_ms)},
          {"encode_ms", OrNull(row.end.encode_ms)},
          {"write_ms", OrNull(row.end.write_ms)},
          {"retries", OrNull(row.end.retries)},
          {"error_class", OrNull(row.end.error_class)},
          {"error_message", OrNull(row.end.error_message)},
          {"weir_version", row.start.weir_version}};
}

Status ShowRuns(ledger::Ledger& ledger, const Options& options) {
  WEIR_TRY(const auto rows, ledger.Runs(options.filter));
  TextTable table({"run_id", "export", "started", "status", "rows", "duration", "written", "slept",
                   "waited", "encoded", "peak MB", "error"});
  for (const ledger::RunRow& row : rows) {
    if (options.json) {
      std::fprintf(stdout, "%s\n", JsonLine(RunJson(row)).c_str());
      continue;
    }
    const auto millis = [](const std::optional<int64_t>& ms) {
      return ms ? FormatDuration(std::chrono::milliseconds(*ms)) : std::string("-");
    };
    table.AddRow({row.start.run_id, row.start.export_name, row.run_at,
                  std::string(ledger::RunStatusName(row.end.status)), OrDash(row.end.total_rows),
                  millis(row.end.duration_ms),
                  row.end.bytes_written ? FormatBytes(*row.end.bytes_written) : "-",
                  millis(row.end.slept_ms), millis(row.end.source_wait_ms),
                  millis(row.end.encode_ms), OrDash(row.end.peak_rss_mb),
                  row.end.error_message.value_or("")});
  }
  if (!options.json) std::fputs(table.Text().c_str(), stdout);
  return Ok();
}

Status ShowFiles(ledger::Ledger& ledger, const Options& options) {
  WEIR_TRY(const auto rows, ledger.Files(options.filter));
  TextTable table({"run_id", "export", "path", "rows", "bytes", "xxh3"});
  for (const ledger::FileRow& row : rows) {
    if (options.json) {
      const Json json = {{"run_id", row.run_id},        {"export_name", row.export_name},
                         {"path", row.part.path},       {"rows", row.part.rows},
                         {"bytes", row.part.bytes},     {"xxh3", row.part.xxh3},
                         {"recorded_at", row.recorded_at}};
      std::fprintf(stdout, "%s\n", JsonLine(json).c_str());
      continue;
    }
    table.AddRow({row.run_id, row.export_name, row.part.path, FormatCount(row.part.rows),
                  FormatCount(row.part.bytes), row.part.xxh3});
  }
  if (!options.json) std::fputs(table.Text().c_str(), stdout);
  return Ok();
}

Status ShowHarm(ledger::Ledger& ledger, const Options& options) {
  WEIR_TRY(const auto rows, ledger.HarmOf(options.filter));
  TextTable table({"run_id", "export", "metric", "delta"});
  for (const ledger::HarmRow& row : rows) {
    if (options.json) {
      const Json json = {{"run_id", row.run_id},
                         {"export_name", row.export_name},
                         {"metric", row.metric},
                         {"delta", row.delta},
                         {"recorded_at", row.recorded_at}};
      std::fprintf(stdout, "%s\n", JsonLine(json).c_str());
      continue;
    }
    table.AddRow({row.run_id, row.export_name, row.metric, FormatCount(row.delta)});
  }
  if (!options.json) std::fputs(table.Text().c_str(), stdout);
  return Ok();
}

using Show = Status (*)(ledger::Ledger&, const Options&);

Result<std::string> StatePath(const Options& options) {
  if (!options.state_path.empty()) return options.state_path;
  const auto size = sys::DiskFiles().SizeBytes(options.config_path);
  if (!size.ok()) {
    return Fail(Code::kUsage, "configuration: {}; name a file with -c", size.error().message);
  }
  return sys::JoinPath(sys::ParentPath(options.config_path), ledger::kStateFileName);
}

// A name that was never run is more likely mistyped than meant.
Status CheckExportName(ledger::Ledger& ledger, const std::string& name, const std::string& path) {
  WEIR_TRY(const auto runs,
           ledger.Runs({.export_name = name, .run_id = std::nullopt, .limit = 1}));
  if (!runs.empty()) return Ok();
  return Fail(Code::kNotFound,
              "no run of an export '{}' is recorded in '{}'; leave -e out to see all", name, path);
}

Status ShowState(const Options& options, Show show) {
  sys::RealClock clock;
  WEIR_TRY(const std::string path, StatePath(options));
  WEIR_TRY(const auto ledger, ledger::ReadSqliteLedger(path, clock));
  if (!options.export_name.empty()) {
    WEIR_DO(CheckExportName(*ledger, options.export_name, path));
  }
  return show(*ledger, options);
}

int RunStateCommand(Options options, Show show) {
  if (!options.export_name.empty()) options.filter.export_name = options.export_name;
  const Status shown = ShowState(options, show);
  return shown.ok() ? 0 : Report(shown.error());
}

void AddView(CLI::App& state, const char* name, const char* help, Show show, Action& action) {
  CLI::App* command = state.add_subcommand(name, help);
  const auto options = std::make_shared<Options>();
  auto* config = command->add_option("-c,--config", options->config_path,
                                     "Configuration whose folder holds the state file");
  auto* file =
      command->add_option("--state", options->state_path,
                          "The state file itself, such as DIR/.weir_state.db of an export");
  config->excludes(file);
  command->add_option("-e,--export", options->export_name, "Only this export")->check(NotEmpty());
  command->add_option("-l,--limit", options->filter.limit, "Newest rows shown")
      ->check(AtLeast(1))->capture_default_str();
  command->add_flag("--json", options->json, "One JSON object per row");
  command->callback([options, show, &action, command] {
    if (options->config_path.empty() && options->state_path.empty()) {
      throw CLI::RequiredError("-c FILE or --state FILE");
    }
    action = [options, show] { return RunStateCommand(*options, show); };
  });
}

}  // namespace

void AddState(CLI::App& app, Action& action) {
  CLI::App* state = app.add_subcommand("state", "Show what ran, what it wrote, what it cost");
  state->require_subcommand(1);
  AddView(*state, "runs", "Runs, newest first: rows, sizes, and where the time went", ShowRuns,
          action);
  AddView(*state, "files", "Files that runs wrote", ShowFiles, action);
  AddView(*state, "harm", "What runs cost the source, by metric", ShowHarm, action);
}

}  // namespace weir::app
