#pragma once
// The command line: one CLI11 app, one file per command.

namespace weir::app {

/// Runs the command that argv names; gives the process's exit code (README).
int Main(int argc, char** argv);

}  // namespace weir::app
