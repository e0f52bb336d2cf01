#include "weir/app/app.h"

#include <malloc.h>

#include <CLI/CLI.hpp>
#include <cstdio>

#include "weir/app/command.h"
#include "weir/app/libraries.h"
#include "weir/base/log.h"
#include "weir/base/version.h"

namespace weir::app {
namespace {

constexpr int kUsageExit = 64;

// What help and errors print: CLI11 gives its own exit codes for bad usage, DESIGN says 64.
int Parse(CLI::App& app, int argc, char** argv, int* code) {
  try {
    app.parse(argc, argv);
    return 0;
  } catch (const CLI::ParseError& error) {
    *code = app.exit(error) == 0 ? 0 : kUsageExit;
    return 1;
  }
}

}  // namespace

int Report(const Error& error) {
  std::fprintf(stderr, "weir: %s\n", error.message.c_str());
  return ExitCode(error.code);
}

int Main(int argc, char** argv) {
  mallopt(M_ARENA_MAX, 2);  // glibc's arena per thread would hold on to memory nobody uses.
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

}  // namespace weir::app
