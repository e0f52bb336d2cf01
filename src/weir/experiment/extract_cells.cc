#include "weir/experiment/extract_cells.h"

#include "weir/base/units.h"

namespace weir::experiment {
namespace {

constexpr double kMemoryBytes = 96.0 * kMiB;

Cell ParametersOf(const std::string& table, int64_t rows) {
  Cell cell;
  cell.Set("ladder", "extract").Set("kind", table).Set("mode", "full").Set("rows", rows);
  return cell;
}

Variant ExportVariant(Cell parameters, const Bench& bench, const std::string& profile,
                      const std::shared_ptr<TimedTable>& table) {
  parameters.Set("rung", "weir_" + profile).Set("policy", profile);
  Variant variant;
  variant.settings = bench.server;
  variant.settings.Set("warm_up", kWarmUp);
  variant.settings.Set("command",
                       fmt::format("weir export URL {} -o DIR --profile {} --json --quiet",
                                   parameters.Text("kind"), profile));
  variant.parameters = std::move(parameters);
  variant.measure = [table, profile](int) { return table->Export(profile); };
  return variant;
}

struct ExtractTable {
  std::string name;
  std::string database;
  int64_t rows;
  bool with_floor;
  std::vector<std::string> profiles;
  std::function<Status(const std::string& url)> seed;
};

Group GroupOf(const ExtractTable& table, const Bench& bench) {
  const bool with_digest = table.name == "content_items";
  const auto reader = std::make_shared<TimedTable>(
      bench, TimedTableOptions{table.name, table.database, table.seed, with_digest, {}});
  const Cell parameters = ParametersOf(table.name, table.rows);
  Group group;
  if (table.with_floor) group.variants.push_back(RawCopyVariant(parameters, bench, reader));
  for (const std::string& profile : table.profiles) {
    group.variants.push_back(ExportVariant(parameters, bench, profile, reader));
  }
  group.prepare = [reader] { return reader->Prepare(); };
  return group;
}

// The verdict on a value that must stay at or below a limit.
TargetLine AtMost(std::string measure, std::optional<double> value, double limit,
                  const std::function<std::string(double)>& show) {
  TargetLine line{std::move(measure), "", "at most " + show(limit), "not measured"};
  if (!value) return line;
  line.measured = show(*value);
  line.verdict = *value <= limit ? "pass" : "miss";
  return line;
}

std::string ShowRatio(double value) { return fmt::format("{:.3f}", value); }
std::string ShowCount(double value) { return fmt::format("{:.0f}", value); }
std::string ShowBytes(double value) { return FormatBytes(static_cast<int64_t>(value)); }

std::optional<double> Median(const RungCells* rung, std::string_view key) {
  const auto spread = rung == nullptr ? std::nullopt : rung->Of(key);
  return spread ? std::optional(spread->median) : std::nullopt;
}

std::optional<double> Highest(const RungCells* rung, std::string_view key) {
  const auto spread = rung == nullptr ? std::nullopt : rung->Of(key);
  return spread ? std::optional(spread->high) : std::nullopt;
}

std::optional<double> Larger(std::optional<double> a, std::optional<double> b) {
  return a && b ? std::max(a, b) : (a ? a : b);
}

// The median over trials of one rung's wall divided by the other's of the same trial.
std::optional<double> PairedRatio(const RungCells* above, const RungCells* below) {
  if (above == nullptr || below == nullptr) return std::nullopt;
  std::vector<double> ratios;
  for (const Cell* cell : above->cells) {
    for (const Cell* other : below->cells) {
      const auto wall = cell->Number("wall_s");
      const auto other_wall = other->Number("wall_s");
      if (cell->Text("trial") != other->Text("trial") || !wall || !other_wall) continue;
      ratios.push_back(*wall / *other_wall);
    }
  }
  const auto spread = SpreadOf(std::move(ratios));
  return spread ? std::optional(spread->median) : std::nullopt;
}

std::optional<double> TuplesPerRow(const RungCells* rung) {
  const auto tuples = Highest(rung, "tuples_returned");
  const auto rows = Median(rung, "rows");
  return tuples && rows && *rows > 0 ? std::optional(*tuples / *rows) : std::nullopt;
}

}  // namespace

TargetLine DigestLine(const std::vector<const RungCells*>& rungs) {
  TargetLine line{"content_items: content hash, weir's and PostgreSQL's", "", "equal",
                  "not measured"};
  std::string first;
  size_t digests = 0;
  bool equal = true;
  for (const RungCells* rung : rungs) {
    if (rung == nullptr) return line;
    for (const Cell* cell : rung->cells) {
      if (!cell->Has("digest")) return line;
      if (digests++ == 0) first = cell->Text("digest");
      equal = equal && cell->Text("digest") == first;
    }
  }
  line.measured = equal ? first : "different";
  line.verdict = equal ? "pass" : "miss";
  return line;
}

Variant RawCopyVariant(const Cell& parameters, const Bench& bench,
                       const std::shared_ptr<TimedTable>& table) {
  Variant variant;
  variant.parameters = parameters;
  variant.parameters.Set("rung", "raw_copy");
  variant.settings = bench.server;
  variant.settings.Set("warm_up", kWarmUp);
  variant.settings.Set("command",
                       "psql -X -q -d URL -c \"COPY (SELECT <all columns> FROM <table>) TO STDOUT "
                       "(FORMAT binary)\" >/dev/null");
  variant.is_floor = true;
  variant.measure = [table](int) { return table->RawCopy(); };
  return variant;
}

std::vector<Group> ExtractGroups(const ExtractOptions& options, const Bench& bench,
                                 const SeedShown& seed_shown) {
  const auto progress = [seed_shown](const std::string& table) -> SeedProgress {
    return [seed_shown, table](int64_t done, int64_t rows) { seed_shown(table, done, rows); };
  };
  const auto name = [](const char* table, int64_t size) {
    return fmt::format("{}_{}", table, size);
  };
  const sys::Stop& stop = bench.stop;
  const ExtractTable tables[] = {
      {"content_items", name("content_items", options.rows), options.rows, true,
       {"fast", "balanced"},
       [=, &stop, rows = options.rows](const std::string& url) {
         return SeedContentItems(url, rows, progress("content_items"), stop);
       }},
      {"narrow", name("narrow", options.narrow_rows), options.narrow_rows, true, {"fast"},
       [=, &stop, rows = options.narrow_rows](const std::string& url) {
         return SeedNarrow(url, rows, progress("narrow"), stop);
       }},
      {"wide_value", name("wide_value", options.wide_value_megabytes), kWideValueRows, false,
       {"fast"},
       [&stop, megabytes = options.wide_value_megabytes](const std::string& url) {
         return SeedWideValue(url, megabytes, stop);
       }},
      {"wide_columns", name("wide_columns", options.wide_columns_rows), options.wide_columns_rows,
       false, {"fast"},
       [=, &stop, rows = options.wide_columns_rows](const std::string& url) {
         return SeedWideColumns(url, rows, progress("wide_columns"), stop);
       }},
  };
  std::vector<Group> groups;
  for (const ExtractTable& table : tables) groups.push_back(GroupOf(table, bench));
  for (Variant& variant : groups[2].variants) {
    variant.settings.Set("largest_value_bytes",
                         std::to_string(options.wide_value_megabytes * 1'000'000));
  }
  return groups;
}

std::vector<TargetLine> ExtractTargets(const Measurements& measurements) {
  const std::vector<RungCells> all = CellsByRung(measurements);
  const auto find = [&](std::string_view kind, std::string_view rung) {
    return FindRung(all, "extract", kind, rung);
  };
  const RungCells* floor = find("content_items", "raw_copy");
  const RungCells* fast = find("content_items", "weir_fast");
  const RungCells* balanced = find("content_items", "weir_balanced");
  const RungCells* narrow = find("narrow", "weir_fast");
  const RungCells* wide_value = find("wide_value", "weir_fast");
  const RungCells* wide_columns = find("wide_columns", "weir_fast");
  const double largest_value =
      wide_value == nullptr
          ? 0
          : std::strtod(wide_value->settings.Get("largest_value_bytes").c_str(), nullptr);
  const double wide_limit = kMemoryBytes + 5 * largest_value;
  const double columns_limit = kMemoryBytes + 5 * static_cast<double>(kWideColumnBytes);
  return {
      AtMost("content_items: fast wall / raw COPY wall", Median(fast, "floor_ratio"), 1.30,
             ShowRatio),
      AtMost("content_items: peak RSS, highest of all trials",
             Larger(Highest(fast, "peak_rss_bytes"), Highest(balanced, "peak_rss_bytes")),
             kMemoryBytes, ShowBytes),
      AtMost("narrow: peak RSS, highest of all trials", Highest(narrow, "peak_rss_bytes"),
             kMemoryBytes, ShowBytes),
      AtMost("narrow: fast wall / raw COPY wall", Median(narrow, "floor_ratio"), 1.25, ShowRatio),
      AtMost("content_items: pg_tup_returned / rows", TuplesPerRow(fast), 1.01, ShowRatio),
      AtMost("content_items: pg_temp_files", Highest(fast, "temp_files"), 0, ShowCount),
      AtMost("content_items: balanced wall / fast wall", PairedRatio(balanced, fast), 1.05,
             ShowRatio),
      AtMost("wide_value: peak RSS, 96 MiB + 5 x largest value",
             Highest(wide_value, "peak_rss_bytes"), wide_limit, ShowBytes),
      AtMost("wide_columns: peak RSS, 96 MiB + 5 x largest value",
             Highest(wide_columns, "peak_rss_bytes"), columns_limit, ShowBytes),
      AtMost("wide tables: longest value in statistics",
             Larger(Highest(wide_value, "longest_statistic_bytes"),
                    Highest(wide_columns, "longest_statistic_bytes")),
             4096, ShowBytes),
      DigestLine({floor, fast, balanced}),
  };
}

}  // namespace weir::experiment
