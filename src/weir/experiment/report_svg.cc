// The picture of a report: horizontal bars, written by hand.
#include <algorithm>

#include "weir/experiment/report.h"

namespace weir::experiment {
namespace {

constexpr size_t kLabelWidth = 330;  // At least.
constexpr size_t kLetterWidth = 7;   // Of most, at this size.
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
  if (const std::string detail = DetailOf(rung); !detail.empty()) label += " " + detail;
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

std::string BarOf(const RungCells& rung, const Spread& wall, double longest, int label_width,
                  int top) {
  const auto x = [&](double seconds) {
    return label_width + (longest > 0 ? seconds / longest * kBarWidth : 0);
  };
  const int middle = top + kLineHeight / 2;
  const char* colour = rung.Text("rung") == "raw_copy" ? "#9aa5b1" : "#2f6f9f";
  std::string bar = fmt::format("<text x=\"{}\" y=\"{}\">{}</text>\n", kMargin, middle + 4,
                                Escaped(LabelOf(rung)));
  bar += fmt::format("<rect x=\"{}\" y=\"{}\" width=\"{:.1f}\" height=\"{}\" fill=\"{}\"/>\n",
                     label_width, top + 3, x(wall.median) - label_width, kLineHeight - 6, colour);
  bar += fmt::format("<line x1=\"{:.1f}\" x2=\"{:.1f}\" y1=\"{}\" y2=\"{}\" stroke=\"#111\"/>\n",
                     x(wall.low), x(wall.high), middle, middle);
  bar += fmt::format("<text x=\"{}\" y=\"{}\">{} s</text>\n", label_width + kBarWidth + kMargin,
                     middle + 4, ShowSpread(wall, 1, 2));
  return bar;
}

}  // namespace

std::string ReportSvg(const Measurements& measurements) {
  const std::vector<RungCells> rungs = CellsByRung(measurements);
  size_t letters = 0;
  for (const RungCells& rung : rungs) letters = std::max(letters, LabelOf(rung).size());
  const auto label_width = static_cast<int>(std::max(kLabelWidth, letters * kLetterWidth));
  std::string bars;
  int top = kMargin;
  for (const RungCells& rung : rungs) {
    const auto wall = rung.Of("wall_s");
    if (!wall) continue;
    bars += BarOf(rung, *wall, LongestLike(rungs, rung), label_width, top);
    top += kLineHeight;
  }
  const int width = label_width + kBarWidth + kValueWidth;
  return fmt::format("<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{}\" height=\"{}\" "
                     "font-family=\"sans-serif\" font-size=\"12\">\n"
                     "<rect width=\"100%\" height=\"100%\" fill=\"#fff\"/>\n{}</svg>\n",
                     width, top + kMargin, bars);
}

}  // namespace weir::experiment
