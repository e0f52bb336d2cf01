#pragma once
// ProgressLine: shows an export's progress on stderr while it runs.
#include <string>
#include <thread>

#include "weir/extract/progress.h"
#include "weir/sys/clock.h"
#include "weir/sys/stop.h"

namespace weir::app {

enum class ProgressStyle {
  kNone,   ///< --quiet, --json.
  kBar,    ///< A terminal: one line, redrawn.
  kLines,  ///< Not a terminal: a line every ten seconds.
};

/// kBar on a terminal that TERM says can be redrawn, kLines elsewhere, kNone when `quiet`.
ProgressStyle ChooseProgressStyle(bool quiet);

/// Lives as long as the export does; the last line is wiped when it goes.
class ProgressLine {
 public:
  ProgressLine(std::string name, const extract::Progress& progress, ProgressStyle style,
               sys::Clock& clock);
  ~ProgressLine();
  ProgressLine(const ProgressLine&) = delete;
  ProgressLine& operator=(const ProgressLine&) = delete;

 private:
  void Run();

  const std::string name_;
  const extract::Progress& progress_;
  const ProgressStyle style_;
  sys::Clock& clock_;
  const sys::Duration start_;
  sys::Stop done_;
  std::thread thread_;
};

/// "content_items  42%  810,123 rows  45,012 rows/s  211.4 MB/s  ETA 25 s" for `elapsed` so far.
std::string ProgressText(const std::string& name, int64_t rows, int64_t expected_rows,
                         int64_t read_bytes, sys::Duration elapsed);

}  // namespace weir::app
