#include "weir/app/app.h"

#include <fcntl.h>
#include <malloc.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <cerrno>
#include <csignal>
#include <cstdio>

#include "weir/app/command.h"
#include "weir/app/libraries.h"
#include "weir/base/log.h"
#include "weir/base/printable.h"
#include "weir/base/secret.h"
#include "weir/base/version.h"

namespace weir::app {
namespace {

constexpr int kUsageExit = 64;

// "weir export", of the command that was reached before the error.
std::string CommandOf(const CLI::App& app) {
  const auto below = app.get_subcommands();
  if (below.empty()) return app.get_name();
  return app.get_name() + " " + CommandOf(*below.front());
}

// Help goes to stdout as CLI11 prints it. Its errors repeat what was typed, so passwords are hidden
// in them; its exit codes are its own, ours is 64.
int Parse(CLI::App& app, int argc, char** argv, int* code) {
  try {
    app.parse(argc, argv);
    return 0;
  } catch (const CLI::ParseError& error) {
    *code = error.get_exit_code() == 0 ? app.exit(error) : kUsageExit;
    if (*code == kUsageExit) {
      const std::string message = HidePasswords(error.what());
      std::fprintf(stderr, "weir: %s; see %s --help\n",
                   Printable(message.substr(0, message.find('\n'))).c_str(),
                   CommandOf(app).c_str());
    }
    return 1;
  }
}

// What libpq and the compressors take from malloc: messages of kilobytes and work space of up to a
// megabyte, freed and asked for again at once. By default glibc gives such memory back to the
// kernel each time, and each page of it is a fault when it returns: 0.9 million in an export of
// content_items, 0.1 million with these.
void TuneMalloc() {
  mallopt(M_ARENA_MAX, 2);  // An arena per thread would hold on to memory nobody uses.
  mallopt(M_MMAP_THRESHOLD, 4 << 20);
  mallopt(M_TRIM_THRESHOLD, 8 << 20);
}

// A closed standard descriptor would be given to the next file that is opened, a state file say,
// and printing would write there. Opened for reading, stdout fails as it should.
void HoldStandardDescriptors() {
  for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; ++fd) {
    if (fcntl(fd, F_GETFD) >= 0 || errno != EBADF) continue;
    [[maybe_unused]] const int held =
        open("/dev/null", fd == STDERR_FILENO ? O_WRONLY : O_RDONLY);  // The lowest free one: fd.
  }
}

// What was printed may be lost only here, at the end: success is then none.
int CodeAfterPrinting(int code) {
  if (std::fflush(stdout) == 0 && std::ferror(stdout) == 0) return code;
  std::fputs("weir: stdout cannot be written (closed, full, or its reader left), so what was "
             "printed is incomplete; runs are recorded all the same: see weir state\n",
             stderr);
  return code == 0 ? ExitCode(Code::kInvalid) : code;
}

}  // namespace

int Report(const Error& error) {
  std::fprintf(stderr, "weir: %s\n", Printable(HidePasswords(error.message)).c_str());
  return ExitCode(error.code);
}

int Report(const Error& error, const sys::Stop& stop) {
  const int code = Report(error);
  const bool by_signal = error.code == Code::kCancelled && stop.signal() != 0;
  return by_signal ? kSignalExit + stop.signal() : code;
}

namespace {

int RunCommandLine(int argc, char** argv) {
  CLI::App app("weir copies tables out of a live PostgreSQL, and measures what that did to it.",
               "weir");
  app.set_version_flag("--version", VersionText());
  app.require_subcommand(0, 1);
  bool verbose = false;
  app.add_flag("-v,--verbose", verbose, "Say more on stderr");
  Action action;
  AddDemo(app, action);
  AddRun(app, action);
  AddExport(app, action);
  AddState(app, action);
  AddHydrate(app, action);
  AddBench(app, action);

  int code = 0;
  if (Parse(app, argc, argv, &code) != 0) return code;
  if (verbose) SetLogLevel(LogLevel::kDebug);
  if (!action) {
    std::fputs(app.help().c_str(), stdout);
    return 0;
  }
  return action();
}

}  // namespace

int Main(int argc, char** argv) {
  TuneMalloc();
  HoldStandardDescriptors();
  std::signal(SIGPIPE, SIG_IGN);  // A reader of ours that leaves does not end the work.
  std::signal(SIGXFSZ, SIG_IGN);  // A file that may not grow further is an error, with its name.
  return CodeAfterPrinting(RunCommandLine(argc, argv));
}

}  // namespace weir::app
