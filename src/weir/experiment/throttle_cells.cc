#include "weir/experiment/throttle_cells.h"

#include <signal.h>

#include <algorithm>
#include <cmath>

namespace weir::experiment {
namespace {

// Of the profile `balanced`; written into the configuration too, so that it cannot drift from this.
constexpr int64_t kBatchRows = 10'000;
// A run rests in pieces of at least this much; what is owed at its end is let off.
constexpr double kUnrestedMillis = 50;
constexpr int kPgbenchScale = 10;
constexpr int kPgbenchClients = 2;
// The neighbour ends by itself should this process be unable to end it.
constexpr int kPgbenchBoundSeconds = 3600;
constexpr std::chrono::milliseconds kPgbenchStartBound{30'000};
constexpr std::chrono::milliseconds kPgbenchInterval{20};
constexpr std::chrono::milliseconds kPgbenchEndBound{10'000};
constexpr const char* kNeighbourDatabase = "neighbour";

std::string ConfigOf(int throttle_ms, const std::string& folder) {
  return fmt::format(
      "source:\n"
      "  type: postgres\n"
      "  url_env: WEIR_SOURCE_URL\n"
      "  tuning: {{profile: balanced, batch_size: {}, throttle_ms: {}}}\n"
      "exports:\n"
      "  - name: content_items\n"
      "    table: content_items\n"
      "    mode: full\n"
      "    format: parquet\n"
      "    compression: zstd\n"
      "    destination: {{type: local, path: '{}'}}\n",
      kBatchRows, throttle_ms, folder);
}

// pgbench on a database of its own, running while this object lives.
class Neighbour {
 public:
  Neighbour(const Bench& bench, std::string pgbench)
      : bench_(bench), pgbench_(std::move(pgbench)) {}

  // Makes pgbench's tables.
  Status Prepare() {
    WEIR_TRY(url_, bench_.source.Database(kNeighbourDatabase));
    WEIR_TRY(const std::string there,
             AskOne(url_, "SELECT to_regclass('pgbench_history')", bench_.stop));
    if (!there.empty()) return Ok();
    sys::DiskFiles files;
    WEIR_DO(files.MakeFolder(bench_.scratch));
    WEIR_TRY(const ChildCommand command,
             Command({"-i", "-q", "-s", std::to_string(kPgbenchScale)}));
    WEIR_DO(RunChild(command, bench_.clock, bench_.stop), "pgbench -i");
    return Ok();
  }

  // Measures with pgbench running, and adds its transactions per second.
  Result<Cell> Beside(const std::function<Result<Cell>()>& measure) {
    WEIR_TRY(const auto child, Start());
    WEIR_TRY(const int64_t before, Transactions());
    const sys::Duration start = bench_.clock.Now();
    WEIR_TRY(Cell cell, measure());
    WEIR_TRY(const int64_t after, Transactions());
    const double seconds = sys::Seconds(bench_.clock.Now() - start);
    if (const auto exit_code = child->WaitFor(std::chrono::milliseconds(0))) {
      return Fail(Code::kInvalid, "pgbench ended with {} while the cell was measured", *exit_code);
    }
    child->Signal(SIGTERM);
    child->WaitFor(kPgbenchEndBound);
    cell.Set("jobs_per_s", static_cast<double>(after - before) / seconds);
    return cell;
  }

 private:
  Result<ChildCommand> Command(std::vector<std::string> arguments) {
    WEIR_TRY(const pg::Target target, pg::Target::Parse(url_));
    WEIR_TRY(const ChildAddress address, AddressOf(target));
    ChildCommand command;
    command.argv = {pgbench_};
    command.argv.insert(command.argv.end(), arguments.begin(), arguments.end());
    command.argv.push_back(address.conninfo);
    command.environment = address.environment;
    command.folder = bench_.scratch;
    return command;
  }

  // Returns once its transactions are seen.
  Result<std::unique_ptr<sys::Child>> Start() {
    WEIR_TRY(const ChildCommand command,
             Command({"-n", "-c", std::to_string(kPgbenchClients), "-T",
                      std::to_string(kPgbenchBoundSeconds)}));
    sys::ChildOptions options;
    options.argv = command.argv;
    options.environment = command.environment;
    options.environment.push_back("PATH=/usr/bin:/bin");
    options.folder = "/";
    options.output_path = "/dev/null";
    WEIR_TRY(auto child, sys::Child::Start(std::move(options)));
    WEIR_TRY(const int64_t before, Transactions());
    const sys::Duration end = bench_.clock.Now() + kPgbenchStartBound;
    while (bench_.clock.Now() < end && !bench_.stop.asked()) {
      if (const auto exit_code = child->WaitFor(kPgbenchInterval)) {
        return Fail(Code::kInvalid, "pgbench ended with {}", *exit_code);
      }
      WEIR_TRY(const int64_t now, Transactions());
      if (now >= before + kPgbenchClients) return child;
    }
    return Fail(bench_.stop.asked() ? Code::kCancelled : Code::kUnavailable,
                "pgbench is not at work in time");
  }

  // Rows of pgbench's history: one for each transaction. Read without waiting for statistics.
  Result<int64_t> Transactions() {
    WEIR_TRY(const std::string count,
             AskOne(url_, "SELECT count(*) FROM pgbench_history", bench_.stop));
    return std::stoll(count);
  }

  const Bench& bench_;
  const std::string pgbench_;
  std::string url_;
};

Variant ThrottleVariant(Cell parameters, const Bench& bench, int throttle_ms, int64_t rows,
                        const std::shared_ptr<TimedTable>& table) {
  parameters.Set("rung", fmt::format("throttle_{}", throttle_ms));
  parameters.Set("policy", "row_proportional");
  // slept = throttle_ms for every batch_size rows, whatever the batches were.
  const double planned = static_cast<double>(throttle_ms) * static_cast<double>(rows) / kBatchRows;
  parameters.Set("planned_sleep_ms", planned);
  Variant variant;
  variant.settings = bench.server;
  variant.settings.Set("warm_up", kWarmUp);
  variant.settings.Set("command",
                       fmt::format("weir run -c weir.yaml --export content_items --json --quiet "
                                   "(tuning: profile balanced, batch_size {}, throttle_ms {})",
                                   kBatchRows, throttle_ms));
  variant.parameters = std::move(parameters);
  variant.measure = [table, throttle_ms](int) {
    return table->Run(ConfigOf(throttle_ms, sys::JoinPath(table->scratch(), "out")));
  };
  return variant;
}

std::optional<double> Median(const RungCells* rung, std::string_view key) {
  const auto spread = rung == nullptr ? std::nullopt : rung->Of(key);
  return spread ? std::optional(spread->median) : std::nullopt;
}

// The verdict on two values that must be within `share` of each other, or differ by `slack`.
TargetLine Near(std::string measure, std::optional<double> value, std::optional<double> wanted,
                double share, double slack) {
  TargetLine line{std::move(measure), "",
                  fmt::format("within {:.0f} % or {:.0f}", share * 100, slack), "not measured"};
  if (!value || !wanted) return line;
  line.measured = fmt::format("{:.0f} and {:.0f}", *value, *wanted);
  const double allowed = std::max(std::abs(*wanted) * share, slack);
  line.verdict = std::abs(*value - *wanted) <= allowed ? "pass" : "miss";
  return line;
}

}  // namespace

Result<std::vector<Group>> ThrottleGroups(const ThrottleOptions& options, const Bench& bench,
                                          const SeedShown& seed_shown) {
  if (options.contended && !bench.source.is_private()) {
    return Fail(Code::kUsage, "--contended makes pgbench's tables, so it needs the private server: "
                              "leave out --db");
  }
  const auto seed = [seed_shown, &stop = bench.stop, rows = options.rows](const std::string& url) {
    return SeedContentItems(
        url, rows, [&](int64_t done, int64_t all) { seed_shown("content_items", done, all); },
        stop);
  };
  std::shared_ptr<Neighbour> neighbour;
  TimedTableOptions table_options{"content_items", fmt::format("content_items_{}", options.rows),
                                  seed, true, {}};
  if (options.contended) {
    WEIR_TRY(std::string pgbench, FindClientProgram("pgbench"));
    neighbour = std::make_shared<Neighbour>(bench, std::move(pgbench));
    table_options.beside = [neighbour](const auto& measure) { return neighbour->Beside(measure); };
  }
  const auto table = std::make_shared<TimedTable>(bench, std::move(table_options));
  Cell parameters;
  parameters.Set("ladder", "throttle").Set("kind", "content_items").Set("mode", "full");
  parameters.Set("rows", options.rows).Set("scenario", options.contended ? "contended" : "idle");
  Group group;
  group.variants = {RawCopyVariant(parameters, bench, table),
                    ThrottleVariant(parameters, bench, 50, options.rows, table),
                    ThrottleVariant(parameters, bench, 0, options.rows, table)};
  if (options.contended) {
    for (Variant& variant : group.variants) {
      variant.settings.Set("neighbour", fmt::format("pgbench -s {} -c {} in another database",
                                                    kPgbenchScale, kPgbenchClients));
    }
  }
  group.prepare = [table, neighbour]() -> Status {
    if (neighbour != nullptr) WEIR_DO(neighbour->Prepare());
    return table->Prepare();
  };
  return std::vector<Group>{std::move(group)};
}

std::vector<TargetLine> ThrottleTargets(const Measurements& measurements) {
  const std::vector<RungCells> all = CellsByRung(measurements);
  const RungCells* floor = FindRung(all, "throttle", "content_items", "raw_copy");
  const RungCells* slow = FindRung(all, "throttle", "content_items", "throttle_50");
  const RungCells* fast = FindRung(all, "throttle", "content_items", "throttle_0");
  return {
      Near("slept ms and planned sleep ms", Median(slow, "slept_ms"),
           Median(slow, "planned_sleep_ms"), 0.10, kUnrestedMillis),
      Near("tuples returned, throttle_50 and throttle_0", Median(slow, "tuples_returned"),
           Median(fast, "tuples_returned"), 0.01, 0),
      Near("blocks read, throttle_50 and throttle_0", Median(slow, "blks_read"),
           Median(fast, "blks_read"), 0.01, 100),
      Near("temp files, throttle_50 and none", Median(slow, "temp_files"),
           fast == nullptr ? std::nullopt : std::optional(0.0), 0, 0),
      DigestLine({floor, slow, fast}),
  };
}

}  // namespace weir::experiment
