// weir bench extract|throttle|hydrate|report|compare|digest: measure, resume, show, compare. Named
// in the plural, because command_bench.cc would be built as a binary of its own.
#include <CLI/CLI.hpp>
#include <cstdio>
#include <map>
#include <memory>
#include <set>

#include "weir/app/command.h"
#include "weir/app/flag_check.h"
#include "weir/app/workshop.h"
#include "weir/base/units.h"
#include "weir/config/connection.h"
#include "weir/experiment/compare.h"
#include "weir/experiment/digest.h"
#include "weir/experiment/extract_cells.h"
#include "weir/experiment/hydrate_cells.h"
#include "weir/experiment/report.h"
#include "weir/experiment/sweep_cells.h"
#include "weir/experiment/throttle_cells.h"

namespace weir::app {
namespace {

using experiment::Bench;
using experiment::Cell;
using experiment::Group;
using experiment::Measurements;
using experiment::Variant;

// What every ladder takes.
struct LadderFlags {
  int trials = 3;
  std::string url;
  experiment::Socket socket = experiment::Socket::kUnix;
  std::string folder = "weir-bench";
  bool json = false;
};

using MakeGroups =
    std::function<Result<std::vector<Group>>(const Bench& bench, experiment::SeedShown seed_shown)>;

void ShowCell(const Variant& variant, int trial, const Cell* cell, bool json) {
  if (cell == nullptr) return;
  const double wall = cell->Number("wall_s").value_or(0);
  const int64_t peak = static_cast<int64_t>(cell->Number("peak_rss_bytes").value_or(0));
  std::fprintf(stderr, "%s, trial %d: %.2f s, peak memory %s\n", variant.name().c_str(), trial,
               wall, FormatBytes(peak).c_str());
  if (!json) return;
  std::fprintf(stdout, "%s\n", cell->JsonLine().c_str());
  std::fflush(stdout);
}

// At most ten lines for each table: one when another tenth of it is there.
experiment::SeedShown ShowTenths() {
  struct Shown {
    std::string table;
    int64_t tenth = 0;
  };
  return [last = std::make_shared<Shown>()](const std::string& table, int64_t done, int64_t rows) {
    const int64_t tenth = done * 10 / rows;
    if (last->table == table && last->tenth == tenth) return;
    *last = {table, tenth};
    std::fprintf(stderr, "seeding %s: %s of %s rows\n", table.c_str(), FormatCount(done).c_str(),
                 FormatCount(rows).c_str());
  };
}

// The cells of these groups alone: a folder may hold cells of other settings too.
Measurements OfGroups(const Measurements& all, const std::vector<Group>& groups) {
  std::set<std::string> hashes;
  for (const Group& group : groups) {
    for (const Variant& variant : group.variants) hashes.insert(variant.AllSettings().Hash());
  }
  Measurements mine = all;
  std::erase_if(mine.cells,
                [&](const Cell& cell) { return !hashes.contains(cell.Text("settings_hash")); });
  return mine;
}

// Measures what `store` does not have yet, then reports on all cells of these groups.
Status MeasureAndReport(const LadderFlags& flags, const std::vector<Group>& groups,
                        const std::string& folder, const std::string& scratch,
                        experiment::CellStore& store, Workshop& workshop) {
  const auto shown = [&](const Variant& variant, int trial, const Cell* cell) {
    ShowCell(variant, trial, cell, flags.json);
  };
  WEIR_DO(experiment::RunLadder(groups, flags.trials, store, shown, workshop.stop));
  WEIR_DO(workshop.files.Remove(scratch));
  Measurements mine = OfGroups(store.measurements(), groups);
  WEIR_TRY(mine.objects, experiment::ReadObjects(workshop.files, folder));
  WEIR_DO(experiment::WriteReport(workshop.files, folder, mine));
  if (!flags.json) std::fputs(experiment::ReportText(mine).c_str(), stdout);
  return Ok();
}

Status RunLadderCommand(const LadderFlags& flags, const MakeGroups& make_groups,
                        Workshop& workshop) {
  if (!flags.url.empty()) WEIR_DO(config::CheckTls(flags.url, config::ProcessEnv), "--db");
  WEIR_TRY(const std::string folder, experiment::MakeBenchFolder(workshop.files, flags.folder));
  WEIR_TRY(auto store,
           experiment::CellStore::Open(workshop.files, folder, experiment::ThisOrigin()));
  WEIR_TRY(const auto source, experiment::BenchSource::Open(flags.url, folder, flags.socket,
                                                            workshop.stop));
  WEIR_TRY(const Bench bench,
           experiment::OpenBench(*source, folder, workshop.clock, workshop.stop));
  WEIR_TRY(const std::vector<Group> groups, make_groups(bench, ShowTenths()));
  return MeasureAndReport(flags, groups, folder, bench.scratch, store, workshop);
}

int RunLadder(const LadderFlags& flags, const MakeGroups& make_groups) {
  Workshop workshop;
  const Status done = RunLadderCommand(flags, make_groups, workshop);
  if (done.ok()) return 0;
  return Report(done.error(), workshop.stop);
}

int RunReport(const std::string& folder) {
  sys::DiskFiles files;
  const auto measurements = experiment::ReadMeasurements(files, folder);
  if (!measurements.ok()) return Report(measurements.error());
  std::fputs(experiment::ReportText(measurements.value()).c_str(), stdout);
  const Status written = experiment::WriteReport(files, folder, measurements.value());
  return written.ok() ? 0 : Report(written.error());
}

int RunDigest(const std::string& folder) {
  Workshop workshop;
  const auto digest =
      experiment::DigestOfFiles(workshop.files, folder, workshop.blocks, workshop.stop);
  if (!digest.ok()) return Report(digest.error());
  std::printf("%s\n", digest.value().c_str());
  return 0;
}

int RunCompare(const std::string& first, const std::string& second) {
  sys::DiskFiles files;
  const auto a = experiment::ReadMeasurements(files, first);
  if (!a.ok()) return Report(a.error());
  const auto b = experiment::ReadMeasurements(files, second);
  if (!b.ok()) return Report(b.error());
  const auto text = experiment::CompareText(a.value(), b.value());
  if (!text.ok()) return Report(text.error());
  std::fputs(text.value().c_str(), stdout);
  return 0;
}

void AddOutputFlags(CLI::App* command, LadderFlags& flags) {
  command->add_option("--trials", flags.trials, "Times that each cell is measured")
      ->check(AtLeast(1))->capture_default_str();
  command->add_option("--out", flags.folder, "Cells, report, and the data that is measured")
      ->type_name("DIR")->check(NotEmpty())->capture_default_str();
  command->add_flag("--json", flags.json, "One JSON object per cell on stdout");
}

// Of ladders that read a PostgreSQL.
void AddLadderFlags(CLI::App* command, LadderFlags& flags) {
  AddOutputFlags(command, flags);
  CLI::Option* const db =
      command->add_option("--db", flags.url, "A PostgreSQL to seed and read; none: a private one")
          ->type_name("URL");
  const std::map<std::string, experiment::Socket> sockets = {{"tcp", experiment::Socket::kTcp},
                                                             {"unix", experiment::Socket::kUnix}};
  command->add_option("--socket", flags.socket, "How a private one is reached: unix or tcp")
      ->transform(CLI::CheckedTransformer(sockets).description(""))
      ->default_str("unix")->excludes(db);
}

void AddExtract(CLI::App* bench, Action& action) {
  struct Options {
    LadderFlags flags;
    experiment::ExtractOptions ladder;
  };
  CLI::App* command = bench->add_subcommand("extract", "Tables to Parquet, beside a raw COPY");
  const auto options = std::make_shared<Options>();
  AddLadderFlags(command, options->flags);
  const auto add_size = [&](const char* name, int64_t& size, const char* what) {
    command->add_option(name, size, what)->check(AtLeast(1))->capture_default_str();
  };
  add_size("--rows", options->ladder.rows, "Rows of content_items");
  add_size("--narrow-rows", options->ladder.narrow_rows, "Rows of narrow");
  add_size("--wide-columns-rows", options->ladder.wide_columns_rows,
           "Rows of wide_columns, 2 MB each");
  add_size("--wide-value-mb", options->ladder.wide_value_megabytes,
           "The large text of wide_value");
  command->callback([options, &action] {
    action = [options] {
      return RunLadder(options->flags, [&](const Bench& bench, experiment::SeedShown seed_shown) {
        return Result(ExtractGroups(options->ladder, bench, seed_shown));
      });
    };
  });
}

void AddThrottle(CLI::App* bench, Action& action) {
  struct Options {
    LadderFlags flags;
    experiment::ThrottleOptions ladder;
  };
  CLI::App* command =
      bench->add_subcommand("throttle", "What pausing costs, and what it spares the source");
  const auto options = std::make_shared<Options>();
  AddLadderFlags(command, options->flags);
  command->add_option("--rows", options->ladder.rows, "Rows of content_items")
      ->check(AtLeast(1))->capture_default_str();
  command->add_flag("--contended", options->ladder.contended, "pgbench runs beside every cell");
  command->callback([options, &action] {
    action = [options] {
      return RunLadder(options->flags, [&](const Bench& bench, experiment::SeedShown seed_shown) {
        return ThrottleGroups(options->ladder, bench, seed_shown);
      });
    };
  });
}

Status RunHydrateLadder(const LadderFlags& flags, const experiment::HydrateOptions& ladder,
                        Workshop& workshop) {
  WEIR_TRY(const std::string folder, experiment::MakeBenchFolder(workshop.files, flags.folder));
  WEIR_TRY(auto store,
           experiment::CellStore::Open(workshop.files, folder, experiment::ThisOrigin()));
  const experiment::HydrateBench bench{folder,         sys::JoinPath(folder, "scratch"),
                                       workshop.files, workshop.clock,
                                       workshop.stop,  store};
  WEIR_TRY(const std::vector<Group> groups, experiment::HydrateGroups(ladder, bench));
  return MeasureAndReport(flags, groups, folder, bench.scratch, store, workshop);
}

// What all hydrate ladders build, and how.
void AddHydrateFlags(CLI::App* command, experiment::HydrateOptions& ladder, std::string& order,
                     std::string& scenario) {
  command->add_option("--scale-factor", ladder.scale_factor, "Of TPC-H")
      ->check(CLI::Range(0.001, 1000.0))->capture_default_str();
  command->add_option("--order", order, "Of the snapshot's rows: shuffled or generated")
      ->check(CLI::IsMember({"shuffled", "generated"}))->capture_default_str();
  command->add_option("--scenario", scenario,
                      "initial, or rehydrate: after a run that was killed half way")
      ->check(CLI::IsMember({"initial", "rehydrate"}))->capture_default_str();
  command->add_option("--workers", ladder.workers, "Threads of each")
      ->check(CLI::Range(1, 64))->capture_default_str();
  command->add_option("--concurrency", ladder.concurrency, "Objects at a time; 0: what fits")
      ->check(CLI::Range(0, 1000))->capture_default_str();
  command->add_option("--probe-sorted", ladder.probes.sorted,
                      "Probes of the largest index afterwards, in the order of its keys; 0: none")
      ->check(CLI::Range(int64_t{0}, int64_t{1'000'000'000}))->capture_default_str();
  command->add_option("--probe-random", ladder.probes.random, "The same in a random order")
      ->check(CLI::Range(int64_t{0}, int64_t{1'000'000'000}))->capture_default_str();
}

// Which ladders, and their rungs. A flag that a ladder would not heed is refused beside it.
void AddHydrateLadders(CLI::App* command, experiment::HydrateOptions& ladder) {
  CLI::Option* const rungs =
      command
          ->add_option("--rungs", ladder.rungs,
                       "Batchers, divided by commas; else those that the targets name")
          ->delimiter(',')
          ->check(CLI::IsMember({"legacy", "auto", "paged", "paged_malloc", "paged_spill",
                                 "paged_lz4", "paged_pageout"}));
  CLI::Option* const pressures =
      command
          ->add_option("--pressures", ladder.pressures,
                       "Bytes of all indexes / --memory, divided by commas; 0: no bound; below 1: "
                       "what legacy held / --memory")
          ->delimiter(',')->check(CLI::Range(0.0, 1000.0))->capture_default_str();
  command->add_option("--limits", ladder.limits,
                      "Instead: working set of legacy / memory of a control group with swap, "
                      "divided by commas; needs root")
      ->delimiter(',')->check(CLI::Range(1.0, 1000.0))->excludes(pressures);
  command->add_option("--duckdb-python", ladder.duckdb_python,
                      "Instead: beside DuckDB, which this Python interpreter can import")
      ->type_name("PATH")->check(NotEmpty())->excludes(pressures)->excludes(rungs)
      ->excludes(command->get_option("--scenario"));  // One group: killed after four.
  command->add_option("--sweep", ladder.sweeps,
                      "Instead: settings of the pool, divided by commas: threads, eager, codec, "
                      "fraction, malloc")
      ->delimiter(',')->check(CLI::IsMember(experiment::SweepNames()))
      ->excludes(pressures)->excludes(rungs);
}

void AddHydrateLadder(CLI::App* bench, Action& action) {
  struct Options {
    LadderFlags flags;
    experiment::HydrateOptions ladder;
    std::string order = "shuffled";
    std::string scenario = "initial";
  };
  CLI::App* command =
      bench->add_subcommand("hydrate", "The 18 indexes of TPC-H, by batcher and memory");
  const auto options = std::make_shared<Options>();
  AddOutputFlags(command, options->flags);
  AddHydrateFlags(command, options->ladder, options->order, options->scenario);
  AddHydrateLadders(command, options->ladder);
  command->callback([options, &action] {
    action = [options] {
      options->ladder.shuffled = options->order == "shuffled";
      options->ladder.rehydrate = options->scenario == "rehydrate";
      Workshop workshop;
      const Status done = RunHydrateLadder(options->flags, options->ladder, workshop);
      return done.ok() ? 0 : Report(done.error(), workshop.stop);
    };
  });
}

}  // namespace

void AddBench(CLI::App& app, Action& action) {
  CLI::App* bench = app.add_subcommand("bench", "Measure weir, and show what was measured");
  bench->require_subcommand(1);
  AddExtract(bench, action);
  AddThrottle(bench, action);
  AddHydrateLadder(bench, action);

  CLI::App* report = bench->add_subcommand("report", "Show a folder of cells; writes report.md");
  const auto folder = std::make_shared<std::string>();
  report->add_option("DIR", *folder, "What --out named")->required();
  report->callback([folder, &action] { action = [folder] { return RunReport(*folder); }; });

  CLI::App* digest =
      bench->add_subcommand("digest", "Rows and content hash of the files of one export");
  const auto export_folder = std::make_shared<std::string>();
  digest->add_option("DIR", *export_folder, "The folder with manifest.json")->required();
  digest->callback(
      [export_folder, &action] { action = [export_folder] { return RunDigest(*export_folder); }; });

  CLI::App* compare = bench->add_subcommand("compare", "Medians of two folders of cells as ratios");
  const auto folders = std::make_shared<std::pair<std::string, std::string>>();
  compare->add_option("DIR_A", folders->first, "The folder to compare with")->required();
  compare->add_option("DIR_B", folders->second, "The folder that is compared")->required();
  compare->callback([folders, &action] {
    action = [folders] { return RunCompare(folders->first, folders->second); };
  });
}

}  // namespace weir::app
