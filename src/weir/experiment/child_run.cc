#include "weir/experiment/child_run.h"

#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>

#include "weir/base/units.h"
#include "weir/sys/files.h"

namespace weir::experiment {
namespace {

// How soon a stop is noticed; the child's end is noticed at once.
constexpr std::chrono::milliseconds kStopInterval{100};
constexpr std::chrono::milliseconds kEndBound{30'000};
constexpr int64_t kOutputLimitBytes = 16 * kMiB;
constexpr size_t kTailBytes = 400;

std::vector<std::string> Environment(const std::vector<std::string>& ours) {
  std::vector<std::string> all = ours;
  for (char** entry = environ; *entry != nullptr; ++entry) {
    const std::string inherited(*entry);
    const std::string start = inherited.substr(0, inherited.find('=') + 1);
    const bool replaced = std::any_of(ours.begin(), ours.end(), [&](const std::string& each) {
      return each.starts_with(start);
    });
    if (!replaced) all.push_back(inherited);
  }
  return all;
}

// The end of a text on one line.
std::string Tail(std::string text) {
  while (!text.empty() && text.back() == '\n') text.pop_back();
  if (text.size() > kTailBytes) text.erase(0, text.size() - kTailBytes);
  std::replace(text.begin(), text.end(), '\n', '|');
  return text;
}

Error Ended(const std::string& program, int exit_code, const std::string& errors) {
  Code code = Code::kInvalid;
  if (exit_code == 2) code = Code::kUnavailable;
  if (exit_code == 3) code = Code::kCorrupt;
  return Fail(code, "{} ended with {}: {}", std::filesystem::path(program).filename().string(),
              exit_code, Tail(errors));
}

std::string ReadOr(sys::Files& files, const std::string& path) {
  auto text = files.Read(path, kOutputLimitBytes);
  return text.ok() ? std::move(text).value() : std::string();
}

// The exit code, or none when `stop` came first; the child has then been ended.
std::optional<int> AwaitEnd(sys::Child& child, const sys::Stop& stop) {
  while (!stop.asked()) {
    if (const auto exit_code = child.WaitFor(kStopInterval)) return exit_code;
  }
  child.Signal(SIGTERM);
  child.WaitFor(kEndBound);
  return std::nullopt;
}

}  // namespace

Cell ChildRun::AsCell() const {
  Cell cell;
  cell.Set("wall_s", sys::Seconds(wall));
  cell.Set("utime_s", static_cast<double>(usage.user_micros) / 1e6);
  cell.Set("stime_s", static_cast<double>(usage.system_micros) / 1e6);
  cell.Set("peak_rss_bytes", usage.peak_rss_bytes);
  cell.Set("major_faults", usage.major_faults);
  return cell;
}

Result<ChildRun> RunChild(const ChildCommand& command, sys::Clock& clock, const sys::Stop& stop) {
  sys::DiskFiles files;
  const std::string output_path = sys::JoinPath(command.folder, "stdout");
  const std::string error_path = sys::JoinPath(command.folder, "stderr");
  WEIR_DO(files.Remove(output_path));
  WEIR_DO(files.Remove(error_path));

  sys::ChildOptions options;
  options.argv = command.argv;
  options.environment = Environment(command.environment);
  options.folder = command.folder;
  options.output_path = command.discard_output ? "/dev/null" : output_path;
  options.error_path = error_path;
  options.group_path = command.group_path;

  ChildRun run;
  const sys::Duration start = clock.Now();
  WEIR_TRY(const auto child, sys::Child::Start(std::move(options)));
  const auto exit_code = AwaitEnd(*child, stop);
  run.wall = clock.Now() - start;
  if (!exit_code) return Fail(Code::kCancelled, "stopped; run it again to go on from here");
  if (*exit_code != command.exit_code) {
    return Ended(command.argv[0], *exit_code, ReadOr(files, error_path));
  }
  run.usage = child->usage();
  run.output = ReadOr(files, output_path);
  return run;
}

std::string ThisProgram() {
  std::error_code error;
  const auto path = std::filesystem::read_symlink("/proc/self/exe", error);
  return error ? std::string("/proc/self/exe") : path.string();
}

}  // namespace weir::experiment
