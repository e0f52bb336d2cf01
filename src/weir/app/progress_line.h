#pragma once
// ProgressLine: shows on stderr how far long work has come.
#include <functional>
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

/// Shows a line of text until it goes; what a terminal still shows is wiped then.
class ProgressLine {
 public:
  /// `text` is called from a thread of its own, each time that the line is drawn.
  ProgressLine(std::function<std::string()> text, ProgressStyle style, sys::Clock& clock);
  ~ProgressLine();
  ProgressLine(const ProgressLine&) = delete;
  ProgressLine& operator=(const ProgressLine&) = delete;

 private:
  void Run();

  const std::function<std::string()> text_;
  const ProgressStyle style_;
  sys::Clock& clock_;
  sys::Stop done_;
  std::thread thread_;
};

/// The text of an export that begins now. Requires: `progress` and `clock` outlive it.
std::function<std::string()> ExportProgress(std::string name, const extract::Progress& progress,
                                            sys::Clock& clock);

/// "content_items  42%  810,123 rows  45,012 rows/s  211.4 MB/s  ETA 25 s" for `elapsed` so far.
std::string ProgressText(const std::string& name, int64_t rows, int64_t expected_rows,
                         int64_t read_bytes, sys::Duration elapsed);

}  // namespace weir::app
