#include "weir/experiment/hydrate_cells.h"

#include <algorithm>
#include <cmath>
#include <memory>
#include <nlohmann/json.hpp>

#include "weir/base/units.h"
#include "weir/experiment/child_run.h"
#include "weir/experiment/sql.h"
#include "weir/feed/parquet_source.h"
#include "weir/feed/tpch_snapshot.h"
#include "weir/sys/hash.h"

namespace weir::experiment {
namespace {

using nlohmann::json;

constexpr uint64_t kSeed = 1;
constexpr int64_t kLeastMemory = 128 * kMiB;
constexpr const char* kObjectsHeader =
    "sf,scenario,flavor,object,object_kind,trial,hydration_seconds,time_ns,pressure\n";

// The tables that the indexes are on, a name for each index.
std::vector<std::string> TablesOfIndexes() {
  std::vector<std::string> tables;
  const std::string_view sql = sql::kTpchIndexes;
  for (size_t at = sql.find(" ON "); at != sql.npos; at = sql.find(" ON ", at + 1)) {
    const std::string_view rest = sql.substr(at + 4);
    tables.emplace_back(rest.substr(0, rest.find(' ')));
  }
  return tables;
}

// The snapshot, written once, and what it takes as indexes.
class Snapshot {
 public:
  Snapshot(const HydrateOptions& options, const HydrateBench& bench)
      : options_(options), bench_(bench) {}

  Status Prepare() {
    mem::Budget budget("snapshot", mem::kUnlimited);
    mem::BlockAllocator blocks(budget, 16 * kMiB);
    const std::string whole = sys::JoinPath(folder(), "whole");
    if (!bench_.files.Exists(whole)) {
      const feed::TpchGenerator generator(options_.scale_factor, kSeed);
      const auto order =
          options_.shuffled ? feed::RowOrder::kShuffled : feed::RowOrder::kGenerated;
      WEIR_DO(feed::WriteTpchSnapshot(generator, order, kSeed, bench_.files, folder(), blocks));
      WEIR_DO(bench_.files.WriteWhole(whole, ""));
    }
    WEIR_TRY(const auto source, feed::OpenParquetSource(bench_.files, folder(), blocks));
    for (const std::string& table : TablesOfIndexes()) {
      index_bytes_ += source->Find(table)->value_bytes();
    }
    WEIR_DO(bench_.files.MakeFolder(bench_.scratch));
    return bench_.files.ReplaceWhole(
        sql_path(), fmt::format("CREATE SOURCE tpch FROM PARQUET '{}';\n{}", folder(),
                                sql::kTpchIndexes));
  }

  std::string sql_path() const { return sys::JoinPath(bench_.scratch, "indexes.sql"); }
  /// Requires: Prepare() was called, pressure is not 0.
  int64_t MemoryAt(double pressure) const {
    const double bytes = static_cast<double>(index_bytes_) / pressure;
    return std::max(kLeastMemory, static_cast<int64_t>(bytes));
  }

 private:
  std::string folder() const {
    return sys::JoinPath(bench_.folder, fmt::format("tpch-{}-{}", options_.scale_factor,
                                                    options_.shuffled ? "shuffled" : "generated"));
  }

  const HydrateOptions options_;
  const HydrateBench& bench_;
  int64_t index_bytes_ = 0;
};

// What weir hydrate printed, as a cell.
Cell CellOf(const json& printed) {
  Cell cell;
  double span = 0;
  double logs = 0;
  int64_t sum = 0;
  int64_t objects = 0;
  std::string digests;
  for (const json& object : printed.at("objects")) {
    const double seconds = object.at("hydration_ns").get<double>() / 1e9;
    span = std::max(span, object.at("time_ns").get<double>() / 1e9);
    sum += object.at("time_ns").get<int64_t>();
    logs += std::log(std::max(seconds, 1e-6));
    digests += object.at("digest").get<std::string>() + "\n";
    ++objects;
  }
  cell.Set("span_s", span).Set("sum_time_ns", sum).Set("objects_done", objects);
  cell.Set("geomean_s", std::exp(logs / static_cast<double>(std::max<int64_t>(1, objects))));
  cell.Set("digest", fmt::format("{:016x}", sys::Xxh3(AsBytes(digests))));
  for (const auto& [activity, seconds] : printed.at("cpu_s").items()) {
    if (activity == "other") continue;
    cell.Set(activity == "encode" ? "row_encode_s" : activity + "_s", seconds.get<double>());
  }
  cell.Set("peak_anonymous_bytes", printed.at("peak_anonymous_bytes").get<int64_t>());
  const json& pool = printed.at("pool");
  cell.Set("extent_bytes_written", pool.at("extent_bytes_written").get<int64_t>());
  return cell;
}

// The lines of objects.csv that one cell gives.
struct ObjectLines {
  std::string before_object;  // What all of them begin with,
  std::string after_object;   // ... have in the middle,
  std::string end;            // ... and end with.

  std::string Of(const json& printed) const {
    std::string lines;
    for (const json& object : printed.at("objects")) {
      lines += fmt::format("{}{}{}{:.6f},{}{}", before_object,
                           object.at("object").get<std::string>(), after_object,
                           object.at("hydration_ns").get<double>() / 1e9,
                           object.at("time_ns").get<int64_t>(), end);
    }
    return lines;
  }
  // `all` without those that are there already: of a cell that was measured and not recorded.
  std::string Without(std::string_view all) const {
    std::string others;
    while (!all.empty()) {
      const std::string_view line = all.substr(0, all.find('\n') + 1);
      const bool same = line.starts_with(before_object) && line.ends_with(end) &&
                        line.find(after_object) != line.npos;
      if (!same) others += line;
      all.remove_prefix(line.size());
    }
    return others;
  }
};

// One rung at one pressure.
class HydrateCell {
 public:
  HydrateCell(const HydrateOptions& options, const HydrateBench& bench,
              std::shared_ptr<Snapshot> snapshot, std::string rung, double pressure)
      : options_(options),
        bench_(bench),
        snapshot_(std::move(snapshot)),
        rung_(std::move(rung)),
        pressure_(pressure) {}

  Result<Cell> Measure(int trial) {
    const bool bound = pressure_ > 0;
    const int64_t memory = bound ? snapshot_->MemoryAt(pressure_) : 0;
    ChildCommand command;
    command.argv = {ThisProgram(),   "hydrate",       snapshot_->sql_path(),
                    "--json",        "--digest",      "--batcher",
                    rung_,           "--workers",     std::to_string(options_.workers),
                    "--concurrency", std::to_string(options_.concurrency)};
    if (bound) {
      command.argv.insert(command.argv.end(), {"--spill-dir", bench_.scratch, "--memory",
                                               std::to_string(memory)});
    }
    command.folder = bench_.scratch;
    WEIR_TRY(const ChildRun run, RunChild(command, bench_.clock, bench_.stop), "{}", rung_);
    const json printed = json::parse(run.output, nullptr, false);
    if (printed.is_discarded()) {
      return Fail(Code::kCorrupt, "weir hydrate printed no JSON: {}", run.output.substr(0, 80));
    }
    Cell cell = run.AsCell();
    cell.Merge(CellOf(printed));
    if (bound) cell.Set("memory_bytes", memory);
    WEIR_DO(RecordObjects(printed, trial));
    return cell;
  }

 private:
  Status RecordObjects(const json& printed, int trial) {
    const ObjectLines lines = {fmt::format("{},initial,{},", options_.scale_factor, rung_),
                               fmt::format(",index,{},", trial), fmt::format(",{}\n", pressure_)};
    const std::string path = sys::JoinPath(bench_.folder, "objects.csv");
    std::string all = kObjectsHeader;
    if (bench_.files.Exists(path)) {
      WEIR_TRY(all, bench_.files.Read(path, kMostObjectsBytes));
    }
    return bench_.files.ReplaceWhole(path, lines.Without(all) + lines.Of(printed));
  }

  static constexpr int64_t kMostObjectsBytes = 64 * kMiB;

  const HydrateOptions options_;
  const HydrateBench& bench_;
  const std::shared_ptr<Snapshot> snapshot_;
  const std::string rung_;
  const double pressure_;
};

Variant VariantOf(const HydrateOptions& options, const HydrateBench& bench,
                  const std::shared_ptr<Snapshot>& snapshot, const std::string& rung,
                  double pressure) {
  Variant variant;
  variant.parameters.Set("ladder", "hydrate").Set("kind", "indexes").Set("rung", rung);
  variant.parameters.Set("scale_factor", options.scale_factor).Set("pressure", pressure);
  variant.parameters.Set("order", options.shuffled ? "shuffled" : "generated");
  variant.parameters.Set("objects", "indexes").Set("scenario", "initial");
  variant.parameters.Set("workers", static_cast<int64_t>(options.workers));
  variant.parameters.Set("concurrency", static_cast<int64_t>(options.concurrency));
  variant.settings.Set("seed", std::to_string(kSeed));
  variant.settings.Set("command", fmt::format("weir hydrate indexes.sql --batcher {} --workers {} "
                                              "--concurrency {} --memory M --json --digest",
                                              rung, options.workers, options.concurrency));
  const auto cell = std::make_shared<HydrateCell>(options, bench, snapshot, rung, pressure);
  variant.measure = [cell](int trial) { return cell->Measure(trial); };
  return variant;
}

// The rung at this pressure; nullptr when it was not measured.
const RungCells* At(const std::vector<RungCells>& rungs, std::string_view rung, double pressure) {
  for (const RungCells& each : rungs) {
    const auto measured = each.Of("pressure");
    if (each.Text("ladder") == "hydrate" && each.Text("rung") == rung && measured.has_value() &&
        measured->median == pressure) {
      return &each;
    }
  }
  return nullptr;
}

// The median over the trials of the sum of some keys.
std::optional<double> MedianOfSum(const RungCells* rung,
                                  const std::vector<std::string_view>& keys) {
  if (rung == nullptr) return std::nullopt;
  std::vector<double> sums;
  for (const Cell* cell : rung->cells) {
    double sum = 0;
    for (const std::string_view key : keys) sum += cell->Number(key).value_or(0);
    sums.push_back(sum);
  }
  const auto spread = SpreadOf(std::move(sums));
  return spread ? std::optional(spread->median) : std::nullopt;
}

TargetLine RatioLine(std::string measure, const RungCells* rung, const RungCells* floor,
                     const std::vector<std::string_view>& keys, double limit) {
  TargetLine line{std::move(measure), "", fmt::format("at most {:.2f}", limit), "not measured"};
  const auto ours = MedianOfSum(rung, keys);
  const auto theirs = MedianOfSum(floor, keys);
  if (!ours || !theirs || *theirs == 0) return line;
  const double ratio = *ours / *theirs;
  line.measured = fmt::format("{:.3f}", ratio);
  line.verdict = ratio <= limit ? "pass" : "miss";
  return line;
}

TargetLine MemoryLine(const RungCells& rung) {
  const double limit = rung.Of("memory_bytes")->median;
  const double peak = rung.Of("peak_anonymous_bytes")->high;
  return {fmt::format("{} at pressure {}: peak anonymous memory, highest of all trials",
                      rung.Text("rung"), rung.Of("pressure")->median),
          FormatBytes(static_cast<int64_t>(peak)),
          "at most " + FormatBytes(static_cast<int64_t>(limit)), peak <= limit ? "pass" : "miss"};
}

}  // namespace

std::vector<Group> HydrateGroups(const HydrateOptions& options, const HydrateBench& bench) {
  const auto snapshot = std::make_shared<Snapshot>(options, bench);
  Group group;
  group.prepare = [snapshot] { return snapshot->Prepare(); };
  for (const double pressure : options.pressures) {
    for (const std::string& rung : options.rungs) {
      if (pressure > 0 && (rung == "legacy" || rung == "paged")) continue;  // They know no bound.
      group.variants.push_back(VariantOf(options, bench, snapshot, rung, pressure));
    }
  }
  return {group};
}

std::vector<TargetLine> HydrateTargets(const Measurements& measurements) {
  const std::vector<RungCells> rungs = CellsByRung(measurements);
  const RungCells* const legacy = At(rungs, "legacy", 0);
  const RungCells* const ours = At(rungs, "auto", 0);
  std::vector<TargetLine> lines = {
      RatioLine("indexes: span, auto / legacy", ours, legacy, {"span_s"}, 0.50),
      RatioLine("indexes: exchange + sort + copy + merge CPU, auto / legacy", ours, legacy,
                {"exchange_s", "sort_s", "copy_s", "merge_s"}, 0.30),
      RatioLine("indexes: span, paged / legacy", At(rungs, "paged", 0), legacy, {"span_s"},
                1.03)};
  std::vector<std::string> digests;
  for (const RungCells& rung : rungs) {
    if (rung.Text("ladder") != "hydrate") continue;
    if (rung.Of("memory_bytes").has_value()) lines.push_back(MemoryLine(rung));
    for (const Cell* cell : rung.cells) digests.push_back(cell->Text("digest"));
  }
  const bool same = std::all_of(digests.begin(), digests.end(),
                                [&](const auto& digest) { return digest == digests.front(); });
  if (!digests.empty()) {
    lines.push_back({"indexes: digests of all cells", same ? digests.front() : "they differ",
                     "equal", same ? "pass" : "miss"});
  }
  return lines;
}

}  // namespace weir::experiment
