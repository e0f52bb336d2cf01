#include "weir/queue/lines.h"

#include <algorithm>

namespace weir::queue {
namespace {

// More than this is not asked for at once: a claim's parameters stay small, and a tenant of many
// gets its turn by the next.
constexpr size_t kMostDemands = 64;

}  // namespace

Lines::Lines(std::vector<int32_t> tag_ids) : tag_ids_(std::move(tag_ids)) {
  std::sort(tag_ids_.begin(), tag_ids_.end());
}

std::vector<LineDemand> Lines::Demands(int most) const {
  std::map<int16_t, std::vector<std::pair<Line, const Floor*>>> by_rank;
  for (const auto& [line, floor] : floors_) {
    if (floor.has_jobs) by_rank[line.rank].emplace_back(line, &floor);
  }
  std::vector<LineDemand> demands;
  for (auto& [rank, lines] : by_rank) {
    const auto last = last_.find(rank);
    if (last != last_.end()) {
      const auto next = std::find_if(lines.begin(), lines.end(), [&](const auto& line) {
        return line.first > last->second;
      });
      std::rotate(lines.begin(), next, lines.end());
    }
    const int count = static_cast<int>(lines.size());
    const int share = (most + count - 1) / count;
    for (const auto& [line, floor] : lines) {
      if (demands.size() == kMostDemands) return demands;
      demands.push_back({line, floor->run_at, floor->id, share});
    }
  }
  return demands;
}

void Lines::Note(std::span<const LineDemand> demands, int most, std::span<const HeldJob> jobs) {
  std::map<Line, int> given;
  for (const HeldJob& job : jobs) {
    ++given[job.line];
    Floor& floor = floors_[job.line];
    if (std::pair(job.run_at, job.id) > std::pair(floor.run_at, floor.id)) {
      floor.run_at = job.run_at;
      floor.id = job.id;
    }
    last_[job.line.rank] = job.line;
  }
  if (static_cast<int>(jobs.size()) == most) return;  // Not all lines were looked into.
  for (const LineDemand& demand : demands) {
    const auto count = given.find(demand.line);
    const int got = count == given.end() ? 0 : count->second;
    if (got < demand.most) floors_[demand.line].has_jobs = false;
  }
}

std::vector<LineGap> Lines::Gaps() const {
  std::vector<LineGap> gaps;
  for (const int32_t tag : tag_ids_) {
    Line after{tag, INT16_MIN, 0};
    for (auto at = floors_.lower_bound(after); at != floors_.end() && at->first.tag_id == tag;
         ++at) {
      gaps.push_back({after, at->first});
      after = at->first;
    }
    gaps.push_back({after, {tag, INT16_MAX, INT32_MAX}});
  }
  return gaps;
}

void Lines::Add(const Line& line) { floors_[line].has_jobs = true; }

void Lines::Lower(const Line& line, Moment run_at) {
  Floor& floor = floors_[line];
  floor.has_jobs = true;
  if (run_at > floor.run_at) return;
  floor.run_at = run_at - 1;  // Of equal moments ids decide; all of them are behind this.
  floor.id = {};
}

void Lines::Doubt() {
  for (auto& [line, floor] : floors_) floor.has_jobs = true;
}

void Lines::Sweep() {
  std::erase_if(floors_, [](const auto& known) { return !known.second.has_jobs; });
  for (auto& [line, floor] : floors_) floor = {};
}

}  // namespace weir::queue
