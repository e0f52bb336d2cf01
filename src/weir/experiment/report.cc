#include "weir/experiment/report.h"

#include <algorithm>

#include "weir/base/units.h"
#include "weir/experiment/extract_cells.h"
#include "weir/experiment/hydrate_cells.h"
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

std::vector<LadderReport> Ladders() {
  return {
      {"extract",
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
        {"temp_files", "temp files"}},
       ExtractTargets},
      {"throttle",
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
        {"jobs_per_s", "neighbour's transactions/s", 1, 1}},
       ThrottleTargets},
      {"hydrate",
       {{"pressure", "pressure", 1, 1},
        {"span_s", "span s", 1, 2},
        {"geomean_s", "geomean s", 1, 3},
        {"memory_bytes", "memory MiB", double{kMiB}, 1},
        {"peak_anonymous_bytes", "peak anonymous MiB", double{kMiB}, 1},
        {"peak_rss_bytes", "peak RSS MiB", double{kMiB}, 1},
        {"utime_s", "user s", 1, 2},
        {"stime_s", "system s", 1, 2},
        {"decode_s", "decode s", 1, 2},
        {"row_encode_s", "row encode s", 1, 2},
        {"exchange_s", "exchange s", 1, 2},
        {"sort_s", "sort s", 1, 2},
        {"merge_s", "merge s", 1, 2},
        {"copy_s", "copy s", 1, 2},
        {"codec_s", "codec s", 1, 2},
        {"io_s", "io s", 1, 2},
        {"extent_bytes_written", "spilled MB", kMillion, 1}},
       HydrateTargets},
  };
}

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
  if (!rung.Text("scenario").empty()) title += ", " + rung.Text("scenario");
  return title;
}

Table TableOf(const std::string& title, const std::vector<const RungCells*>& rungs,
              const LadderReport& ladder) {
  Table table{title, {"rung", "trials"}, {}};
  for (const RungCells* rung : rungs) {
    table.lines.push_back({rung->Text("rung"), std::to_string(rung->cells.size())});
  }
  for (const ReportColumn& column : ladder.columns) {
    const bool anywhere = std::any_of(rungs.begin(), rungs.end(), [&](const RungCells* rung) {
      return rung->Of(column.key).has_value();
    });
    if (!anywhere) continue;
    table.headings.emplace_back(column.heading);
    for (size_t index = 0; index < rungs.size(); ++index) {
      const auto spread = rungs[index]->Of(column.key);
      table.lines[index].push_back(
          spread ? ShowSpread(*spread, column.divisor, column.decimals) : "");
    }
  }
  return table;
}

// Settings that all rungs of the ladder share on one line, then the command of each rung.
std::vector<std::string> NotesOf(const std::vector<const RungCells*>& rungs,
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

std::vector<Section> SectionsOf(const Measurements& measurements) {
  const std::vector<RungCells> all = CellsByRung(measurements);
  std::vector<Section> sections;
  for (const LadderReport& ladder : Ladders()) {
    std::vector<const RungCells*> mine;
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
      std::vector<const RungCells*> rungs;
      std::copy_if(mine.begin(), mine.end(), std::back_inserter(rungs),
                   [&](const RungCells* rung) { return TitleOf(*rung) == title; });
      section.tables.push_back(TableOf(title, rungs, ladder));
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
