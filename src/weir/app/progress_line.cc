#include "weir/app/progress_line.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <string_view>

#include "weir/base/printable.h"
#include "weir/base/units.h"
#include "weir/sys/thread.h"

namespace weir::app {
namespace {

constexpr sys::Duration kBarInterval = std::chrono::milliseconds(200);
constexpr sys::Duration kLineInterval = std::chrono::seconds(10);

}  // namespace

ProgressStyle ChooseProgressStyle(bool quiet) {
  if (quiet) return ProgressStyle::kNone;
  const char* const term = std::getenv("TERM");
  const bool redraws = term != nullptr && *term != '\0' && std::string_view(term) != "dumb";
  return redraws && isatty(STDERR_FILENO) != 0 ? ProgressStyle::kBar : ProgressStyle::kLines;
}

std::string ProgressText(const std::string& name, int64_t rows, int64_t expected_rows,
                         int64_t read_bytes, sys::Duration elapsed) {
  const double seconds = std::max(sys::Seconds(elapsed), 0.001);
  std::string text = Printable(name);
  if (expected_rows > 0) {
    text += fmt::format("  {:.0f}%", std::min(99.0, 100.0 * static_cast<double>(rows) /
                                                        static_cast<double>(expected_rows)));
  }
  text += fmt::format("  {} rows  {} rows/s  {:.1f} MB/s", FormatCount(rows),
                      FormatCount(static_cast<int64_t>(static_cast<double>(rows) / seconds)),
                      static_cast<double>(read_bytes) / 1e6 / seconds);
  if (expected_rows > rows && rows > 0) {
    const double left =
        seconds * static_cast<double>(expected_rows - rows) / static_cast<double>(rows);
    text += "  ETA " + FormatDuration(std::chrono::milliseconds(static_cast<int64_t>(left * 1000)));
  }
  return text;
}

std::function<std::string()> ExportProgress(std::string name, const extract::Progress& progress,
                                            sys::Clock& clock) {
  return [name = std::move(name), &progress, &clock, start = clock.Now()] {
    return ProgressText(name, progress.rows, progress.expected_rows, progress.read_bytes,
                        clock.Now() - start);
  };
}

ProgressLine::ProgressLine(std::function<std::string()> text, ProgressStyle style,
                           sys::Clock& clock)
    : text_(std::move(text)), style_(style), clock_(clock) {
  if (style_ == ProgressStyle::kNone) return;
  if (auto started = sys::StartThread([this] { Run(); }); started.ok()) {
    thread_ = std::move(started).value();  // Without it there is no progress to be seen.
  }
}

ProgressLine::~ProgressLine() {
  done_.Ask();
  if (thread_.joinable()) thread_.join();
}

void ProgressLine::Run() {
  const bool bar = style_ == ProgressStyle::kBar;
  const sys::Duration interval = bar ? kBarInterval : kLineInterval;
  clock_.Wait(interval, done_);
  while (!done_.asked()) {
    std::fprintf(stderr, bar ? "\r\033[K%s" : "%s\n", text_().c_str());
    std::fflush(stderr);
    clock_.Wait(interval, done_);
  }
  if (bar) std::fputs("\r\033[K", stderr);
}

}  // namespace weir::app
