#include "weir/experiment/report.h"

#include <algorithm>

#include "weir/base/units.h"
#include "weir/experiment/extract_cells.h"
#include "weir/experiment/hydrate_cells.h"
#include "weir/experiment/object_ratios.h"
#include "weir/experiment/throttle_cells.h"

namespace weir::experiment {
namespace {

using Line = std::vector<std::string>;

struct Table {
  std::string title;
  Line headings;
  std::vector<Line> lines;
};

// One ladder's part of a report.
struct Section {
  std::string ladder;
  std::vector<Table> tables;
  std::vector<TargetLine> targets;
  std::vector<std::string> notes;
};

constexpr double kMillion = 1e6;

LadderReport Extract() {
  return {"extract",
          {},
          {{"",
            {{"wall_s", "wall s", 1, 2},
             {"floor_ratio", "wall / raw COPY", 1, 3},
             {"peak_rss_bytes", "peak RSS MiB", double{kMiB}, 1},
             {"utime_s", "user s", 1, 2},
             {"stime_s", "system s", 1, 2},
             {"rows_per_s", "rows/s"},
             {"output_bytes", "output MB", kMillion, 1},
             {"source_wait_ms", "source wait ms"},
             {"decode_s", "decode s", 1, 2},
             {"encode_ms", "encode ms"},
             {"snapshot_hold_ms", "snapshot hold ms"},
             {"tuples_returned", "tuples returned"},
             {"blks_read", "blocks read"},
             {"temp_files", "temp files"}}}},
          ExtractTargets};
}

LadderReport Throttle() {
  return {"throttle",
          {},
          {{"",
            {{"wall_s", "wall s", 1, 2},
             {"floor_ratio", "wall / raw COPY", 1, 3},
             {"peak_rss_bytes", "peak RSS MiB", double{kMiB}, 1},
             {"output_bytes", "output MB", kMillion, 1},
             {"planned_sleep_ms", "planned sleep ms"},
             {"slept_ms", "slept ms"},
             {"snapshot_hold_ms", "snapshot hold ms"},
             {"tuples_returned", "tuples returned"},
             {"blks_read", "blocks read"},
             {"temp_files", "temp files"},
             {"jobs_per_s", "neighbour's transactions/s", 1, 1}}}},
          ThrottleTargets};
}

ReportTable HydrateSpans() {
  return {"spans",
          {{"span_s", "span s", 1, 2},
           {"sum_time_ns", "sum of times s", 1e9, 2},
           {"geomean_s", "geomean s", 1, 3},
           {"geomean_ratio", "geomean / legacy", 1, 3},
           {"median_ratio", "median / legacy", 1, 3},
           {"large_geomean_ratio", "large geomean / legacy", 1, 3},
           {"large_median_ratio", "large median / legacy", 1, 3},
           {"objects_compared", "objects compared"},
           {"probe_sorted_per_s", "sorted probes/s"},
           {"probe_random_per_s", "random probes/s"},
           {"write_bytes_per_s", "write MB/s", kMillion, 1},
           {"read_bytes_per_s", "read MB/s", kMillion, 1}}};
}

ReportTable HydrateProcessor() {
  return {"processor and waits",
          {{"utime_s", "user s", 1, 2},
           {"stime_s", "system s", 1, 2},
           {"decode_s", "decode s", 1, 2},
           {"encode_s", "encode s", 1, 2},
           {"exchange_s", "exchange s", 1, 2},
           {"sort_s", "sort s", 1, 2},
           {"merge_s", "merge s", 1, 2},
           {"copy_s", "copy s", 1, 2},
           {"codec_s", "codec s", 1, 2},
           {"io_s", "io s", 1, 2},
           {"other_s", "other s", 1, 2},
           {"uncounted_s", "uncounted s", 1, 2},
           {"wait_spill_s", "spill wait s", 1, 2},
           {"wait_read_s", "read wait s", 1, 2},
           {"wait_budget_s", "budget wait s", 1, 2},
           {"wait_meet_s", "meeting wait s", 1, 2},
           {"wait_fault_s", "fault wait s", 1, 2},
           {"fewest_busy_cores", "fewest busy cores", 1, 2},
           {"spill_pinned_s", "spill pinned s", 1, 2}}};
}

ReportTable HydrateMemory() {
  return {"memory and disk",
          {{"memory_bytes", "memory MiB", double{kMiB}, 1},
           {"limit_bytes", "limit MiB", double{kMiB}, 1},
           {"peak_anonymous_bytes", "peak anonymous MiB", double{kMiB}, 1},
           {"peak_rss_bytes", "peak RSS MiB", double{kMiB}, 1},
           {"peak_usage_bytes", "peak of the group MiB", double{kMiB}, 1},
           {"peak_working_set_bytes", "peak working set MiB", double{kMiB}, 1},
           {"peak_swap_bytes", "peak swap MiB", double{kMiB}, 1},
           {"ledger_gap_bytes", "ledger gap MiB", double{kMiB}, 1},
           {"major_faults", "major faults"},
           {"update_bytes", "updates MB", kMillion, 1},
           {"extent_raw_bytes_written", "spilled MB, raw", kMillion, 1},
           {"extent_bytes_written", "spilled MB", kMillion, 1},
           {"device_written_bytes", "device written MB", kMillion, 1},
           {"device_read_bytes", "device read MB", kMillion, 1}}};
}

LadderReport Hydrate() {
  return {"hydrate",
          {{"pressure", "pressure", 1, 1},
           {"workers", "workers"},
           {"concurrency", "hc"},
           {"spill_threads", "spill threads"},
           {"spill_codec", "codec"},
           {"budget_fraction", "budget fraction", 1, 2}},
          {HydrateSpans(), HydrateProcessor(), HydrateMemory()},
          HydrateTargets};
}

std::vector<LadderReport> Ladders() { return {Extract(), Throttle(), Hydrate()}; }

// 1234567.5 with one decimal -> "1,234,567.5".
std::string ShowNumber(double value, int decimals) {
  std::string text = fmt::format("{:.{}f}", value, decimals);
  const size_t point = std::min(text.find('.'), text.size());
  return FormatCount(std::stoll(text.substr(0, point))) + text.substr(point);
}

// Columns on a terminal: every code point of ours is one wide.
size_t Width(const std::string& text) {
  return static_cast<size_t>(
      std::count_if(text.begin(), text.end(), [](char c) { return (c & 0xC0) != 0x80; }));
}

std::string TitleOf(const RungCells& rung) {
  std::string title = rung.Text("kind");
  if (const auto rows = rung.Of("rows")) {
    title += fmt::format(", {} rows", FormatCount(static_cast<int64_t>(rows->median)));
  }
  if (rung.Of("scale_factor")) title += ", SF " + rung.Text("scale_factor");
  for (const char* key : {"order", "objects", "scenario"}) {
    const std::string& text = rung.Text(key);
    if (!text.empty() && text != rung.Text("kind")) title += ", " + text;
  }
  return title;
}

// The rung, with those of its settings that are words; "(void)" when what it measured is not what
// it says.
std::string LabelOf(const RungCells& rung) {
  std::string label = rung.Text("rung");
  if (!rung.Text("spill_handoff").empty()) label += ", " + rung.Text("spill_handoff");
  if (!rung.Text("eager_backing").empty()) label += ", eager " + rung.Text("eager_backing");
  const bool is_void = std::any_of(rung.cells.begin(), rung.cells.end(),
                                   [](const Cell* cell) { return cell->Has("void"); });
  return is_void ? label + " (void)" : label;
}

// Adds the columns that a cell of these rungs has. Returns how many they are.
size_t AddColumns(const Rungs& rungs, const std::vector<ReportColumn>& columns, Table& table) {
  size_t added = 0;
  for (const ReportColumn& column : columns) {
    const bool anywhere = std::any_of(rungs.begin(), rungs.end(), [&](const RungCells* rung) {
      return rung->Of(column.key).has_value();
    });
    if (!anywhere) continue;
    ++added;
    table.headings.emplace_back(column.heading);
    for (size_t index = 0; index < rungs.size(); ++index) {
      const auto spread = rungs[index]->Of(column.key);
      table.lines[index].push_back(
          spread ? ShowSpread(*spread, column.divisor, column.decimals) : "");
    }
  }
  return added;
}

// The tables of a ladder for these rungs, without those that would be empty.
std::vector<Table> TablesOf(const std::string& title, const Rungs& rungs,
                            const LadderReport& ladder) {
  std::vector<Table> tables;
  for (const ReportTable& part : ladder.tables) {
    Table table{part.name.empty() ? title : fmt::format("{}: {}", title, part.name),
                {"rung", "trials"},
                {}};
    for (const RungCells* rung : rungs) {
      table.lines.push_back({LabelOf(*rung), std::to_string(rung->cells.size())});
    }
    AddColumns(rungs, ladder.identity, table);
    if (AddColumns(rungs, part.columns, table) > 0) tables.push_back(std::move(table));
  }
  return tables;
}

// Settings that all rungs of the ladder share on one line, then the command of each rung.
std::vector<std::string> NotesOf(const Rungs& rungs,
                                 const Origin& origin) {
  std::vector<std::string> notes = {"Build: " + origin.build, "Machine: " + origin.machine};
  std::string shared;
  for (const auto& [name, value] : rungs.front()->settings.values()) {
    if (name == "command" || name == "ladder") continue;
    const bool everywhere =
        std::all_of(rungs.begin(), rungs.end(), [&, &name = name, &value = value](
                                                    const RungCells* rung) {
          return rung->settings.Get(name) == value;
        });
    if (everywhere) shared += fmt::format("{}{}={}", shared.empty() ? "" : ", ", name, value);
  }
  if (!shared.empty()) notes.push_back("Settings: " + shared);
  std::vector<std::string> commands;
  for (const RungCells* rung : rungs) {
    const std::string command = rung->settings.Get("command");
    if (command.empty()) continue;
    const std::string note = fmt::format("{}: {}", rung->Text("rung"), command);
    if (std::find(notes.begin(), notes.end(), note) == notes.end()) notes.push_back(note);
  }
  return notes;
}

std::vector<Section> SectionsOf(const Measurements& as_measured) {
  const Measurements measurements = WithObjectRatios(as_measured);
  const std::vector<RungCells> all = CellsByRung(measurements);
  std::vector<Section> sections;
  for (const LadderReport& ladder : Ladders()) {
    Rungs mine;
    std::vector<std::string> titles;
    for (const RungCells& rung : all) {
      if (rung.Text("ladder") != ladder.ladder) continue;
      mine.push_back(&rung);
      const std::string title = TitleOf(rung);
      if (std::find(titles.begin(), titles.end(), title) == titles.end()) titles.push_back(title);
    }
    if (mine.empty()) continue;
    Section section{std::string(ladder.ladder), {}, ladder.targets(measurements), {}};
    for (const std::string& title : titles) {
      Rungs rungs;
      std::copy_if(mine.begin(), mine.end(), std::back_inserter(rungs),
                   [&](const RungCells* rung) { return TitleOf(*rung) == title; });
      for (Table& table : TablesOf(title, rungs, ladder)) {
        section.tables.push_back(std::move(table));
      }
    }
    section.notes = NotesOf(mine, measurements.origin);
    sections.push_back(std::move(section));
  }
  return sections;
}

Table TargetTable(const std::vector<TargetLine>& targets) {
  Table table{"targets", {"measure", "measured", "target", "verdict"}, {}};
  for (const TargetLine& line : targets) {
    table.lines.push_back({line.measure, line.measured, line.target, line.verdict});
  }
  return table;
}

std::string TextOf(const Table& table) {
  std::vector<Line> lines = {table.headings};
  lines.insert(lines.end(), table.lines.begin(), table.lines.end());
  std::vector<size_t> widths(table.headings.size());
  for (const Line& line : lines) {
    for (size_t at = 0; at < line.size(); ++at) widths[at] = std::max(widths[at], Width(line[at]));
  }
  std::string text = table.title + "\n";
  for (const Line& line : lines) {
    std::string row = " ";
    for (size_t at = 0; at < line.size(); ++at) {
      row += " " + line[at] + std::string(widths[at] - Width(line[at]) + 1, ' ');
    }
    row.erase(row.find_last_not_of(' ') + 1);
    text += row + "\n";
  }
  return text + "\n";
}

std::string MarkdownOf(const Table& table) {
  const auto line_of = [](const Line& line) {
    std::string text = "|";
    for (const std::string& field : line) text += " " + field + " |";
    return text + "\n";
  };
  std::string text = line_of(table.headings);
  text += line_of(Line(table.headings.size(), "---"));
  for (const Line& line : table.lines) text += line_of(line);
  return text + "\n";
}

}  // namespace

std::string ShowSpread(const Spread& spread, double divisor, int decimals) {
  const std::string median = ShowNumber(spread.median / divisor, decimals);
  const std::string low = ShowNumber(spread.low / divisor, decimals);
  const std::string high = ShowNumber(spread.high / divisor, decimals);
  if (low == high) return median;
  return fmt::format("{} [{}–{}]", median, low, high);
}

std::string ReportText(const Measurements& measurements) {
  std::string text;
  for (const Section& section : SectionsOf(measurements)) {
    for (Table table : section.tables) {
      table.title = section.ladder + ": " + table.title;
      text += TextOf(table);
    }
    if (!section.targets.empty()) text += TextOf(TargetTable(section.targets));
    for (const std::string& note : section.notes) text += note + "\n";
    text += "\n";
  }
  return text;
}

std::string ReportMarkdown(const Measurements& measurements) {
  std::string text = "# Bench report\n\nMedian [lowest–highest] of the trials; ratios are of "
                     "cells of the same trial.\n\n![wall times](report.svg)\n\n";
  for (const Section& section : SectionsOf(measurements)) {
    text += fmt::format("## {}\n\n", section.ladder);
    for (const Table& table : section.tables) {
      text += fmt::format("### {}\n\n{}", table.title, MarkdownOf(table));
    }
    if (!section.targets.empty()) {
      text += "### Targets\n\n" + MarkdownOf(TargetTable(section.targets));
    }
    for (const std::string& note : section.notes) text += fmt::format("- {}\n", note);
    text += "\n";
  }
  return text;
}

Status WriteReport(sys::Files& files, const std::string& folder,
                   const Measurements& measurements) {
  WEIR_DO(files.ReplaceWhole(sys::JoinPath(folder, "report.md"), ReportMarkdown(measurements)));
  return files.ReplaceWhole(sys::JoinPath(folder, "report.svg"), ReportSvg(measurements));
}

}  // namespace weir::experiment
