#include "weir/experiment/compare.h"

#include <algorithm>
#include <set>

#include "weir/base/units.h"
#include "weir/experiment/rung_cells.h"

namespace weir::experiment {
namespace {

std::string NameOf(const RungCells& rung) {
  const std::string name =
      fmt::format("{} {} {}", rung.Text("ladder"), rung.Text("kind"), rung.Text("rung"));
  const std::string detail = DetailOf(rung);
  return detail.empty() ? name : name + " " + detail;
}

const RungCells* SameSettings(const std::vector<RungCells>& rungs, const RungCells& like) {
  for (const RungCells& rung : rungs) {
    if (rung.Text("settings_hash") == like.Text("settings_hash")) return &rung;
  }
  return nullptr;
}

const RungCells* SameName(const std::vector<RungCells>& rungs, const RungCells& like) {
  for (const RungCells& rung : rungs) {
    if (NameOf(rung) == NameOf(like)) return &rung;
  }
  return nullptr;
}

// "rows is 2000 in one and 4000 in the other; ...".
std::string Differences(const Settings& a, const Settings& b) {
  std::set<std::string> names;
  for (const auto& [name, value] : a.values()) names.insert(name);
  for (const auto& [name, value] : b.values()) names.insert(name);
  std::string text;
  for (const std::string& name : names) {
    if (a.Get(name) == b.Get(name)) continue;
    text += fmt::format("{}{} is '{}' in the first and '{}' in the second",
                        text.empty() ? "" : "; ", name, a.Get(name), b.Get(name));
  }
  return text;
}

// "1.234 -> 1.111, x 0.900" for a key that both have.
std::string Change(const RungCells& a, const RungCells& b, std::string_view key, double divisor,
                   int decimals) {
  const auto before = a.Of(key);
  const auto after = b.Of(key);
  if (!before || !after || before->median == 0) return "-";
  return fmt::format("{:.{}f} -> {:.{}f}, x {:.3f}", before->median / divisor, decimals,
                     after->median / divisor, decimals, after->median / before->median);
}

std::string LineOf(const RungCells& a, const RungCells& b) {
  return fmt::format("{:<40} {:<28} {}\n", NameOf(a), Change(a, b, "wall_s", 1, 2),
                     Change(a, b, "peak_rss_bytes", double{kMiB}, 1));
}

}  // namespace

Result<std::string> CompareText(const Measurements& a, const Measurements& b) {
  const std::vector<RungCells> first = CellsByRung(a);
  const std::vector<RungCells> second = CellsByRung(b);
  std::string lines;
  std::string alone;
  for (const RungCells& rung : first) {
    if (const RungCells* same = SameSettings(second, rung)) {
      lines += LineOf(rung, *same);
    } else if (const RungCells* other = SameName(second, rung)) {
      return Fail(Code::kInvalid, "{} was measured under different settings: {}", NameOf(rung),
                  Differences(rung.settings, other->settings));
    } else {
      alone += fmt::format("only in the first: {}\n", NameOf(rung));
    }
  }
  for (const RungCells& rung : second) {
    if (SameName(first, rung) == nullptr) {
      alone += fmt::format("only in the second: {}\n", NameOf(rung));
    }
  }
  if (lines.empty()) return Fail(Code::kInvalid, "the two folders have no rung in common");
  return fmt::format("first:  {}; {}\nsecond: {}; {}\n\n{:<40} {:<28} {}\n{}{}", a.origin.build,
                     a.origin.machine, b.origin.build, b.origin.machine, "rung", "wall s",
                     "peak RSS MiB", lines, alone);
}

}  // namespace weir::experiment
