#include "weir/experiment/duckdb_run.h"

#include <nlohmann/json.hpp>

namespace weir::experiment {
namespace {

constexpr const char* kDriver = R"(
import json, re, sys, time
import duckdb
database, path = sys.argv[1:]
text = re.sub(r"--[^\n]*", "", open(path).read())
connection = duckdb.connect(database)
connection.execute("SET enable_progress_bar = false")
answers = []
for statement in text.split(";"):
    if not statement.strip():
        continue
    start = time.perf_counter()
    row = connection.execute(statement).fetchone()
    seconds = time.perf_counter() - start
    answers += [str(row[0])] if row else []
print(json.dumps({"seconds": seconds, "answers": answers}))
)";

}  // namespace

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

std::string Filled(std::string_view text, const Words& words) {
  std::string filled(text);
  for (const auto& [word, value] : words) {
    const std::string hole = fmt::format("{{{}}}", word);
    for (size_t at = filled.find(hole); at != filled.npos;
         at = filled.find(hole, at + value.size())) {
      filled.replace(at, hole.size(), value);
    }
  }
  return filled;
}

Result<DuckDbRun> RunDuckDb(const HydrateBench& bench, const std::string& python,
                            const std::string& statements) {
  const std::string database = sys::JoinPath(bench.scratch, "peer.duckdb");
  const std::string path = sys::JoinPath(bench.scratch, "duckdb.sql");
  WEIR_DO(bench.files.Remove(database));
  WEIR_DO(bench.files.ReplaceWhole(path, statements));
  ChildCommand command;
  command.argv = {python, "-c", kDriver, database, path};
  command.folder = bench.scratch;
  DuckDbRun run;
  WEIR_TRY(run.child, RunChild(command, bench.clock, bench.stop), "DuckDB");
  WEIR_DO(bench.files.Remove(database));
  const auto printed = nlohmann::json::parse(run.child.output, nullptr, false);
  if (!printed.is_object() || !printed.contains("seconds") || !printed.contains("answers")) {
    return Fail(Code::kCorrupt, "DuckDB's driver printed '{}'", run.child.output.substr(0, 80));
  }
  run.last_s = printed["seconds"].get<double>();
  run.answers = printed["answers"].get<std::vector<std::string>>();
  return run;
}

}  // namespace weir::experiment
