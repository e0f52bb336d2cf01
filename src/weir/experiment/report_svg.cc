// The picture of a report: horizontal bars, written by hand.
#include <algorithm>

#include "weir/experiment/report.h"

namespace weir::experiment {
namespace {

constexpr int kLabelWidth = 330;
constexpr int kBarWidth = 480;
constexpr int kValueWidth = 190;
constexpr int kLineHeight = 22;
constexpr int kMargin = 12;

std::string Escaped(const std::string& text) {
  std::string escaped;
  for (const char c : text) {
    if (c == '&') escaped += "&amp;";
    else if (c == '<') escaped += "&lt;";
    else if (c == '>') escaped += "&gt;";
    else escaped += c;
  }
  return escaped;
}

std::string LabelOf(const RungCells& rung) {
  std::string label = rung.Text("kind") + " " + rung.Text("rung");
  if (!rung.Text("scenario").empty()) label += " " + rung.Text("scenario");
  return label;
}

// Rungs that read the same table are drawn to one scale.
double LongestLike(const std::vector<RungCells>& rungs, const RungCells& like) {
  double longest = 0;
  for (const RungCells& rung : rungs) {
    const auto wall = rung.Of("wall_s");
    const bool same = rung.Text("ladder") == like.Text("ladder") &&
                      rung.Text("kind") == like.Text("kind") &&
                      rung.Text("rows") == like.Text("rows");
    if (wall && same) longest = std::max(longest, wall->high);
  }
  return longest;
}

std::string BarOf(const RungCells& rung, const Spread& wall, double longest, int top) {
  const auto x = [&](double seconds) {
    return kLabelWidth + (longest > 0 ? seconds / longest * kBarWidth : 0);
  };
  const int middle = top + kLineHeight / 2;
  const char* colour = rung.Text("rung") == "raw_copy" ? "#9aa5b1" : "#2f6f9f";
  std::string bar = fmt::format("<text x=\"{}\" y=\"{}\">{}</text>\n", kMargin, middle + 4,
                                Escaped(LabelOf(rung)));
  bar += fmt::format("<rect x=\"{}\" y=\"{}\" width=\"{:.1f}\" height=\"{}\" fill=\"{}\"/>\n",
                     kLabelWidth, top + 3, x(wall.median) - kLabelWidth, kLineHeight - 6, colour);
  bar += fmt::format("<line x1=\"{:.1f}\" x2=\"{:.1f}\" y1=\"{}\" y2=\"{}\" stroke=\"#111\"/>\n",
                     x(wall.low), x(wall.high), middle, middle);
  bar += fmt::format("<text x=\"{}\" y=\"{}\">{} s</text>\n", kLabelWidth + kBarWidth + kMargin,
                     middle + 4, ShowSpread(wall, 1, 2));
  return bar;
}

}  // namespace

std::string ReportSvg(const Measurements& measurements) {
  const std::vector<RungCells> rungs = CellsByRung(measurements);
  std::string bars;
  int top = kMargin;
  for (const RungCells& rung : rungs) {
    const auto wall = rung.Of("wall_s");
    if (!wall) continue;
    bars += BarOf(rung, *wall, LongestLike(rungs, rung), top);
    top += kLineHeight;
  }
  const int width = kLabelWidth + kBarWidth + kValueWidth;
  return fmt::format("<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{}\" height=\"{}\" "
                     "font-family=\"sans-serif\" font-size=\"12\">\n"
                     "<rect width=\"100%\" height=\"100%\" fill=\"#fff\"/>\n{}</svg>\n",
                     width, top + kMargin, bars);
}

}  // namespace weir::experiment
