#include "weir/experiment/peer_cells.h"

#include <filesystem>

#include "weir/experiment/duckdb_run.h"
#include "weir/experiment/hydrate_run.h"
#include "weir/experiment/sql.h"
#include "weir/experiment/target_lines.h"
#include "weir/sys/process.h"

namespace weir::experiment {
namespace {

constexpr const char* kKind = "peer";
constexpr const char* kContentKind = "content";
constexpr const char* kColumns[] = {"l_orderkey, l_linenumber", "l_partkey, l_suppkey"};
constexpr double kPressures[] = {0, 4};
constexpr double kShareInRam = 0.8;

// DuckDB, and what it reads.
struct Peer {
  std::string python;
  std::string version;
  std::shared_ptr<TpchFiles> files;
};

int64_t PeerMemory(const TpchFiles& files, double pressure) {
  if (pressure > 0) return MemoryAt(files.lineitem_bytes(), pressure);
  return static_cast<int64_t>(kShareInRam * static_cast<double>(sys::UsableMemoryBytes()));
}

// ---- One table, sorted.

Result<Cell> SortWithDuckDb(const Peer& peer, const HydrateBench& bench,
                            const std::string& columns, int workers, double pressure) {
  const int64_t memory = PeerMemory(*peer.files, pressure);
  WEIR_TRY(const DuckDbRun run,
           RunDuckDb(bench, peer.python,
                     Filled(sql::kDuckdbSortedTable, {{"memory_bytes", std::to_string(memory)},
                                                      {"threads", std::to_string(workers)},
                                                      {"scratch", bench.scratch},
                                                      {"files", peer.files->folder()},
                                                      {"columns", columns}})));
  // CREATE TABLE AS gives the number of rows.
  const std::string rows = std::to_string(peer.files->lineitem_rows());
  if (run.answers.empty() || run.answers.back() != rows) {
    return Fail(Code::kCorrupt, "DuckDB sorted {} rows of {}",
                run.answers.empty() ? "no" : run.answers.back(), rows);
  }
  Cell cell = run.child.AsCell();
  return cell.Set("span_s", run.last_s).Set("memory_bytes", memory);
}

Cell PeerParameters(const HydrateOptions& options, const char* rung, const std::string& columns,
                    double pressure) {
  Cell parameters = HydrateParameters(options, kKind, rung);
  parameters.Set("objects", fmt::format("lineitem ({})", columns)).Set("pressure", pressure);
  return parameters;
}

Variant OurVariant(const HydrateOptions& options, const HydrateBench& bench, const Peer& peer,
                   const std::string& columns, double pressure) {
  const auto measure = [files = peer.files, columns, pressure](
                           HydrateCall call, const RunCall& run) -> Result<Cell> {
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

Variant DuckDbVariant(const HydrateOptions& options, const HydrateBench& bench, const Peer& peer,
                      const std::string& columns, double pressure) {
  Variant variant;
  variant.parameters = PeerParameters(options, "duckdb", columns, pressure);
  variant.settings.Set("duckdb", peer.version);
  variant.settings.Set("command", "CREATE TABLE sorted AS SELECT * FROM read_parquet(lineitem) "
                                  "ORDER BY columns, into a database file");
  variant.measure = [=, &bench, workers = options.workers](int) {
    return SortWithDuckDb(peer, bench, columns, workers, pressure);
  };
  return variant;
}

void AddSorted(const HydrateOptions& options, const HydrateBench& bench, const Peer& peer,
               Group& group) {
  for (const char* columns : kColumns) {
    for (const double pressure : kPressures) {
      for (Variant& variant : std::vector{OurVariant(options, bench, peer, columns, pressure),
                                          DuckDbVariant(options, bench, peer, columns, pressure)}) {
        variant.detail = fmt::format("({}){}", columns, pressure > 0 ? " in a quarter" : "");
        group.variants.push_back(std::move(variant));
      }
    }
  }
}

// ---- The contents of all indexes.

// The texts of a row, as content hashes join them.
std::string RowText(const std::vector<std::string>& columns) {
  std::string text = "concat_ws(chr(31)";
  for (const std::string& column : columns) {
    text += fmt::format(", coalesce(CAST(\"{}\" AS VARCHAR), chr(30))", column);
  }
  return text + ")";
}

// An index has all rows of its table.
Result<Cell> HashWithDuckDb(const Peer& peer, const HydrateBench& bench) {
  std::string statements;
  for (const std::string& table : TablesOfIndexes()) {
    statements += Filled(sql::kDuckdbContentHash,
                         {{"row_text", RowText(peer.files->ColumnsOf(table))},
                          {"files", peer.files->folder()},
                          {"table", table}});
  }
  WEIR_TRY(const DuckDbRun run, RunDuckDb(bench, peer.python, statements));
  Cell cell = run.child.AsCell();
  return cell.Set("content_hash", OneDigest(run.answers));
}

void AddContent(const HydrateOptions& options, const HydrateBench& bench, const Peer& peer,
                Group& group) {
  HydrateCall call = CallOf(options, "auto");
  call.flags = {"--content-hash"};
  group.variants.push_back(HydrateVariant(
      HydrateParameters(options, kContentKind, "auto"), call, bench,
      [files = peer.files](HydrateCall now, const RunCall& run) -> Result<Cell> {
        WEIR_TRY(now.sql_path, files->WriteSql("indexes.sql", sql::kTpchIndexes));
        return run(now);
      }));
  Variant variant;
  variant.parameters = HydrateParameters(options, kContentKind, "duckdb");
  variant.settings.Set("duckdb", peer.version);
  variant.settings.Set("command", "count and sum of the MD5 of all rows of the tables");
  variant.measure = [peer, &bench](int) { return HashWithDuckDb(peer, bench); };
  group.variants.push_back(std::move(variant));
}

}  // namespace

Result<Group> PeerGroup(const HydrateOptions& options, const HydrateBench& bench,
                        const std::shared_ptr<TpchFiles>& files) {
  // Children run elsewhere; a link is kept, since it may stand for a virtual environment.
  Peer peer = {std::filesystem::absolute(options.duckdb_python).string(), "", files};
  WEIR_TRY(peer.version, DuckDbVersion(bench, peer.python));
  Group group;
  group.prepare = [files] { return files->Prepare(); };
  AddSorted(options, bench, peer, group);
  AddContent(options, bench, peer, group);
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
