#pragma once
// Lines: which lines a server knows of, how far it has drawn from each, and whose turn it is.
#include <map>
#include <span>
#include <vector>

#include "weir/queue/store.h"

namespace weir::queue {

/// Of the tags of one set of workers.
///
/// Turns:   lines of one rank are served in equal shares, beginning with the one after the last
///          served; a lower rank first.
/// Floors:  a line is entered behind the last job that was claimed from it, so that nobody walks
///          over dead rows again. Whoever puts a job further to the front says so by Lower(); what
///          nobody said (another server's jobs, enqueuers that commit late) is found after Sweep().
/// Threads: one at a time.
class Lines {
 public:
  explicit Lines(std::vector<int32_t> tag_ids);

  /// What to claim for `most` free slots; empty: no line is known to have a job.
  std::vector<LineDemand> Demands(int most) const;
  /// What a claim of `demands` for `most` gave.
  void Note(std::span<const LineDemand> demands, int most, std::span<const HeldJob> jobs);
  /// Where lines that are not known to have a job may be.
  std::vector<LineGap> Gaps() const;
  /// A line has jobs, or may have.
  void Add(const Line& line);
  /// All known lines may have new jobs: behind their floors.
  void Doubt();
  /// A job stands in a line, at or behind that moment.
  void Lower(const Line& line, Moment run_at);
  /// Every line is entered at its beginning once more; those without jobs are forgotten.
  void Sweep();
  const std::vector<int32_t>& tag_ids() const { return tag_ids_; }

 private:
  struct Floor {
    Moment run_at = 0;
    JobId id{};
    bool has_jobs = true;  // As far as is known.
  };

  std::vector<int32_t> tag_ids_;  // In order.
  std::map<Line, Floor> floors_;  // Of all known lines.
  std::map<int16_t, Line> last_;  // Served, by rank.
};

}  // namespace weir::queue
