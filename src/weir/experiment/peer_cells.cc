#include "weir/experiment/peer_cells.h"

#include <filesystem>
#include <nlohmann/json.hpp>

#include "weir/experiment/child_run.h"
#include "weir/experiment/hydrate_run.h"
#include "weir/experiment/sql.h"
#include "weir/experiment/target_lines.h"
#include "weir/sys/process.h"

namespace weir::experiment {
namespace {

constexpr const char* kKind = "peer";
constexpr const char* kColumns[] = {"l_orderkey, l_linenumber", "l_partkey, l_suppkey"};
constexpr double kPressures[] = {0, 4};
constexpr double kShareInRam = 0.8;

// Runs the statements of a file on a new database: the last one is timed, its rows are counted.
constexpr const char* kDriver = R"(
import json, re, sys, time
import duckdb
database, path = sys.argv[1:]
text = re.sub(r"--[^\n]*", "", open(path).read())
*settings, timed = [each for each in text.split(";") if each.strip()]
connection = duckdb.connect(database)
for statement in settings:
    connection.execute(statement)
start = time.perf_counter()
connection.execute(timed)
seconds = time.perf_counter() - start
rows = connection.execute("SELECT count(*) FROM sorted").fetchone()[0]
print(json.dumps({"seconds": seconds, "rows": rows}))
)";

std::string Filled(std::string text, std::string_view word, const std::string& value) {
  const std::string hole = fmt::format("{{{}}}", word);
  for (size_t at = text.find(hole); at != text.npos; at = text.find(hole, at + value.size())) {
    text.replace(at, hole.size(), value);
  }
  return text;
}

int64_t PeerMemory(const TpchFiles& files, double pressure) {
  if (pressure > 0) return MemoryAt(files.lineitem_bytes(), pressure);
  return static_cast<int64_t>(kShareInRam * static_cast<double>(sys::UsableMemoryBytes()));
}

// The version of the module.
Result<std::string> DuckDbVersion(const HydrateBench& bench, const std::string& python) {
  ChildCommand command;
  command.argv = {python, "-c", "import duckdb; print(duckdb.__version__)"};
  command.folder = bench.scratch;
  WEIR_DO(bench.files.MakeFolder(bench.scratch));
  auto run = RunChild(command, bench.clock, bench.stop);
  if (!run.ok() && run.error().code == Code::kCancelled) return std::move(run).error();
  if (!run.ok()) {
    return Fail(Code::kNotFound,
                "'{}' cannot import duckdb ({}): install it there, or name another with "
                "--duckdb-python",
                python, run.error().message);
  }
  std::string version = run.value().output;
  while (version.ends_with('\n')) version.pop_back();
  return version;
}

Result<Cell> ReadDriverOutput(const std::string& output, int64_t rows) {
  const auto printed = nlohmann::json::parse(output, nullptr, false);
  if (!printed.is_object() || !printed.contains("seconds") || !printed.contains("rows")) {
    return Fail(Code::kCorrupt, "DuckDB's driver printed '{}'", output.substr(0, 80));
  }
  if (printed["rows"].get<int64_t>() != rows) {
    return Fail(Code::kCorrupt, "DuckDB sorted {} rows of {}", printed["rows"].get<int64_t>(),
                rows);
  }
  Cell cell;
  cell.Set("span_s", printed["seconds"].get<double>());
  return cell;
}

// One table sorted by DuckDB.
Result<Cell> RunDuckDb(const TpchFiles& files, const HydrateBench& bench, const std::string& python,
                       const std::string& columns, int workers, int64_t memory_bytes) {
  const std::string database = sys::JoinPath(bench.scratch, "peer.duckdb");
  const std::string path = sys::JoinPath(bench.scratch, "peer.sql");
  WEIR_DO(bench.files.Remove(database));
  std::string statements(sql::kDuckdbSortedTable);
  statements = Filled(std::move(statements), "memory_bytes", std::to_string(memory_bytes));
  statements = Filled(std::move(statements), "threads", std::to_string(workers));
  statements = Filled(std::move(statements), "scratch", bench.scratch);
  statements = Filled(std::move(statements), "files", files.folder());
  statements = Filled(std::move(statements), "columns", columns);
  WEIR_DO(bench.files.ReplaceWhole(path, statements));
  ChildCommand command;
  command.argv = {python, "-c", kDriver, database, path};
  command.folder = bench.scratch;
  WEIR_TRY(const ChildRun run, RunChild(command, bench.clock, bench.stop), "DuckDB");
  WEIR_TRY(Cell cell, ReadDriverOutput(run.output, files.lineitem_rows()));
  WEIR_DO(bench.files.Remove(database));
  cell.Merge(run.AsCell()).Set("memory_bytes", memory_bytes);
  return cell;
}

Cell PeerParameters(const HydrateOptions& options, const char* rung, const std::string& columns,
                    double pressure) {
  Cell parameters = HydrateParameters(options, kKind, rung);
  parameters.Set("objects", fmt::format("lineitem ({})", columns)).Set("pressure", pressure);
  return parameters;
}

Variant OurVariant(const HydrateOptions& options, const HydrateBench& bench,
                   const std::shared_ptr<TpchFiles>& files, const std::string& columns,
                   double pressure) {
  const auto measure = [files, columns, pressure](HydrateCall call,
                                                  const RunCall& run) -> Result<Cell> {
    WEIR_TRY(call.sql_path,
             files->WriteSql("peer.sql", fmt::format("CREATE INDEX sorted ON lineitem ({});\n",
                                                     columns)));
    call.memory_bytes = PeerMemory(*files, pressure);
    WEIR_TRY(Cell cell, run(call));
    if (pressure > 1) cell.Set("void", std::string(VoidReason(call.batcher, cell)));
    return cell;
  };
  return HydrateVariant(PeerParameters(options, "auto", columns, pressure),
                        CallOf(options, "auto"), bench, measure);
}

Variant DuckDbVariant(const HydrateOptions& options, const HydrateBench& bench,
                      const std::shared_ptr<TpchFiles>& files, const std::string& python,
                      const std::string& version, const std::string& columns, double pressure) {
  Variant variant;
  variant.parameters = PeerParameters(options, "duckdb", columns, pressure);
  variant.settings.Set("duckdb", version);
  variant.settings.Set("command", "CREATE TABLE sorted AS SELECT * FROM read_parquet(lineitem) "
                                  "ORDER BY columns, into a database file");
  variant.measure = [=, &bench, workers = options.workers](int) {
    return RunDuckDb(*files, bench, python, columns, workers, PeerMemory(*files, pressure));
  };
  return variant;
}

}  // namespace

Result<Group> PeerGroup(const HydrateOptions& options, const HydrateBench& bench,
                        const std::shared_ptr<TpchFiles>& files) {
  // Children run elsewhere; a link is kept, since it may stand for a virtual environment.
  const std::string python = std::filesystem::absolute(options.duckdb_python).string();
  WEIR_TRY(const std::string version, DuckDbVersion(bench, python));
  Group group;
  group.prepare = [files] { return files->Prepare(); };
  for (const char* columns : kColumns) {
    for (const double pressure : kPressures) {
      for (Variant& variant :
           std::vector{OurVariant(options, bench, files, columns, pressure),
                       DuckDbVariant(options, bench, files, python, version, columns, pressure)}) {
        variant.detail = fmt::format("({}){}", columns, pressure > 0 ? " in a quarter" : "");
        group.variants.push_back(std::move(variant));
      }
    }
  }
  return group;
}

std::vector<TargetLine> PeerTargets(const Rungs& rungs) {
  std::vector<TargetLine> lines;
  for (const Rungs& pair :
       GroupBy(Select(rungs, {{"kind", kKind}}),
               {"scale_factor", "order", "workers", "concurrency", "objects", "pressure"})) {
    const RungCells& any = *pair.front();
    const std::string measure = fmt::format(
        "{}, {} {}: span, auto / DuckDB", CircumstancesOf(any), any.Text("objects"),
        any.Text("pressure") == "0" ? "in RAM" : "in 1/" + any.Text("pressure") + " of its bytes");
    const RungCells* const ours = First(Select(pair, {{"rung", "auto"}}));
    const RungCells* const theirs = First(Select(pair, {{"rung", "duckdb"}}));
    lines.push_back(
        UnlessVoid(AtMost(measure, RatioOf(ours, theirs, {"span_s"}), 0.50), {ours}));
  }
  return lines;
}

}  // namespace weir::experiment
