#include "weir/experiment/timed_table.h"

#include <unistd.h>

#include <filesystem>
#include <nlohmann/json.hpp>

#include "weir/experiment/digest.h"
#include "weir/ledger/sqlite_ledger.h"
#include "weir/pg/catalog.h"
#include "weir/pg/select_sql.h"

namespace weir::experiment {
namespace {

struct HarmKey {
  std::string_view metric;
  std::string_view key;
};

// Metrics of export_harm that are columns of cells.csv.
constexpr HarmKey kHarmKeys[] = {
    {"pg_tup_returned", "tuples_returned"},
    {"pg_blks_read", "blks_read"},
    {"pg_blks_hit", "blks_hit"},
    {"pg_temp_files", "temp_files"},
    {"snapshot_hold_ms", "snapshot_hold_ms"},
    {"longest_statement_ms", "longest_statement_ms"},
    {"buffers_evicted", "buffers_evicted"},
};

// A number of the summary, or none.
std::optional<double> NumberOf(const nlohmann::json& summary, const char* name) {
  const auto found = summary.find(name);
  if (found == summary.end() || !found->is_number()) return std::nullopt;
  return found->get<double>();
}

std::optional<double> SecondsOf(const nlohmann::json& summary, const char* name) {
  const auto millis = NumberOf(summary, name);
  return millis ? std::optional(*millis / 1000) : std::nullopt;
}

struct Summary {
  Cell cell;
  std::string folder;  // Where the files are.
};

// What `weir --json` says of one export.
Result<Summary> ReadSummary(const std::string& output, int64_t rows) {
  const auto summary = nlohmann::json::parse(output, nullptr, false);
  if (!summary.is_object()) {
    return Fail(Code::kCorrupt, "weir --json gave no object: '{}'", output.substr(0, 200));
  }
  const auto exported = NumberOf(summary, "total_rows");
  if (!exported || *exported != static_cast<double>(rows)) {
    return Fail(Code::kCorrupt, "weir exported {} rows of {}", exported.value_or(-1), rows);
  }
  Summary read;
  read.folder = summary.value("folder", "");
  Cell& cell = read.cell;
  cell.Set("output_bytes", NumberOf(summary, "bytes_written"));
  cell.Set("snapshot_hold_ms", NumberOf(summary, "snapshot_hold_ms"));
  cell.Set("slept_ms", NumberOf(summary, "slept_ms"));
  cell.Set("source_wait_ms", NumberOf(summary, "source_wait_ms"));
  cell.Set("encode_ms", NumberOf(summary, "encode_ms"));
  cell.Set("decode_s", SecondsOf(summary, "decode_ms"));
  cell.Set("io_s", SecondsOf(summary, "write_ms"));
  const auto batches = NumberOf(summary, "batches");
  cell.Set("batches", batches);
  if (batches && *batches > 0) cell.Set("rows_per_batch", *exported / *batches);
  return read;
}

// The harm that the only run of a state file recorded. A metric that is not there stays absent.
Result<Cell> ReadHarm(const std::string& state_path, sys::Clock& clock) {
  WEIR_TRY(const auto state, ledger::ReadSqliteLedger(state_path, clock));
  WEIR_TRY(const auto harm, state->HarmOf({}));
  Cell cell;
  for (const ledger::HarmRow& row : harm) {
    for (const HarmKey& known : kHarmKeys) {
      if (row.metric == known.metric) cell.Set(known.key, row.delta);
    }
  }
  return cell;
}

Cell Rated(const ChildRun& run, int64_t rows) {
  Cell cell = run.AsCell();
  cell.Set("rows_per_s", static_cast<double>(rows) / std::max(sys::Seconds(run.wall), 1e-6));
  return cell;
}

}  // namespace

Result<Bench> OpenBench(BenchSource& source, const std::string& folder, sys::Clock& clock,
                        const sys::Stop& stop) {
  WEIR_TRY(std::string psql, FindClientProgram("psql"));
  WEIR_TRY(Settings server, source.ServerSettings());
  return Bench{source, sys::JoinPath(folder, "scratch"), std::move(psql), ThisProgram(),
               std::move(server), clock, stop};
}

Status TimedTable::Prepare() {
  WEIR_TRY(url_, bench_.source.Database(options_.database));
  WEIR_DO(options_.seed(url_));
  WEIR_TRY(pg::Target target, pg::Target::Parse(url_));
  WEIR_TRY(address_, AddressOf(target));
  WEIR_TRY(auto connection, pg::Connection::Open(std::move(target), "weir/bench", bench_.stop,
                                                 pg::kNoBound));
  if (bench_.source.is_private()) WEIR_DO(connection->Exec("CHECKPOINT"));

  WEIR_TRY(const pg::TableName name, pg::ResolveTable(*connection, {"", options_.table}));
  WEIR_TRY(const pg::TableInfo info, pg::DescribeTable(*connection, name));
  pg::SelectParts parts;
  parts.table = info.name;
  for (const pg::CatalogColumn& column : info.columns) parts.columns.push_back(column.name);
  copy_ = pg::CopySql(pg::SelectSql(*connection, parts));
  WEIR_TRY(const pg::Row count,
           connection->QueryRow(fmt::format("SELECT count(*) FROM {}", name.Display())));
  rows_ = std::stoll(*count[0]);
  connection.reset();
  if (options_.with_digest) {
    WEIR_TRY(digest_, DigestOfTable(url_, options_.table, bench_.stop));
  }
  WEIR_DO(EmptyScratch());
  WEIR_DO(RunChild(PsqlCommand(), bench_.clock, bench_.stop), "warming the caches with {}",
          options_.table);
  return Ok();
}

Status TimedTable::EmptyScratch() {
  sys::DiskFiles files;
  WEIR_DO(files.Remove(bench_.scratch));
  return files.MakeFolder(bench_.scratch);
}

ChildCommand TimedTable::PsqlCommand() const {
  ChildCommand command;
  command.argv = {bench_.psql, "-X", "-q", "-d", address_.conninfo, "-c", copy_};
  command.environment = address_.environment;
  command.folder = bench_.scratch;
  command.discard_output = true;
  return command;
}

Result<Cell> TimedTable::Timed(const ChildCommand& command, ChildRun* run) {
  const auto measure = [&]() -> Result<Cell> {
    WEIR_TRY(*run, RunChild(command, bench_.clock, bench_.stop));
    return Rated(*run, rows_);
  };
  return options_.beside ? options_.beside(measure) : measure();
}

Result<Cell> TimedTable::RawCopy() {
  WEIR_DO(EmptyScratch());
  ChildRun run;
  WEIR_TRY(Cell cell, Timed(PsqlCommand(), &run));
  return cell.Set("digest", digest_);
}

Result<Cell> TimedTable::Export(const std::string& profile) {
  WEIR_DO(EmptyScratch());
  return Weir({"export", address_.conninfo, options_.table, "-o", bench_.scratch, "--profile",
               profile, "--json", "--quiet"},
              {});
}

Result<Cell> TimedTable::Run(const std::string& config) {
  WEIR_DO(EmptyScratch());
  sys::DiskFiles files;
  const std::string path = sys::JoinPath(bench_.scratch, "weir.yaml");
  WEIR_DO(files.WriteWhole(path, config));
  return Weir({"run", "-c", path, "--export", options_.table, "--json", "--quiet"},
              {"WEIR_SOURCE_URL=" + address_.conninfo});
}

Result<std::string> TimedTable::DigestOf(const std::string& folder) {
  ChildCommand command;
  command.argv = {bench_.weir, "bench", "digest", folder};
  command.folder = bench_.scratch;
  WEIR_TRY(const ChildRun run, RunChild(command, bench_.clock, bench_.stop), "digest");
  return run.output.substr(0, run.output.find('\n'));
}

// What is in the scratch folder after a failure is left there for who looks for the reason.
Result<Cell> TimedTable::Weir(std::vector<std::string> arguments,
                              std::vector<std::string> environment) {
  ChildCommand command;
  command.argv = {bench_.weir};
  command.argv.insert(command.argv.end(), arguments.begin(), arguments.end());
  command.environment = address_.environment;
  command.environment.insert(command.environment.end(), environment.begin(), environment.end());
  command.folder = bench_.scratch;
  ChildRun run;
  WEIR_TRY(Cell cell, Timed(command, &run));

  WEIR_TRY(const Summary summary, ReadSummary(run.output, rows_));
  const std::string state = sys::JoinPath(bench_.scratch, ledger::kStateFileName);
  WEIR_TRY(const Cell harm, ReadHarm(state, bench_.clock));
  cell.Merge(summary.cell).Merge(harm);
  sys::DiskFiles files;
  WEIR_TRY(const int64_t statistic, LongestStatisticOfFiles(files, summary.folder));
  cell.Set("longest_statistic_bytes", statistic);
  if (options_.with_digest) {
    WEIR_TRY(std::string digest, DigestOf(summary.folder));
    cell.Set("digest", std::move(digest));
  }
  WEIR_DO(EmptyScratch());
  return cell;
}

Result<std::string> MakeBenchFolder(sys::Files& files, const std::string& path) {
  std::error_code error;
  std::string folder = std::filesystem::absolute(path, error).lexically_normal().string();
  if (error) return Fail(Code::kInvalid, "no such folder '{}': {}", path, error.message());
  while (folder.size() > 1 && folder.back() == '/') folder.pop_back();
  if (files.Exists(folder)) return folder;
  WEIR_DO(files.MakeFolder(folder));
  // Root's server runs as another user, who must be able to enter; what is in it stays private.
  if (geteuid() == 0) std::filesystem::permissions(folder, std::filesystem::perms(0711), error);
  return folder;
}

}  // namespace weir::experiment
