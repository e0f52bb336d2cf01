#pragma once
// Command: what each file of a command gives to app.cc.
#include <functional>

#include "weir/base/result.h"
#include "weir/sys/stop.h"

namespace CLI {
class App;
}

namespace weir::app {

/// Set by the sub-command that was given; called after parsing. Returns the exit code.
using Action = std::function<int()>;

void AddDemo(CLI::App& app, Action& action);
void AddExport(CLI::App& app, Action& action);
void AddRun(CLI::App& app, Action& action);
void AddState(CLI::App& app, Action& action);
void AddHydrate(CLI::App& app, Action& action);
void AddBench(CLI::App& app, Action& action);

/// Plus the signal's number: the exit code of work that a signal ended, as shells count.
inline constexpr int kSignalExit = 128;

/// Prints "weir: <message>" to stderr; gives the error's exit code.
int Report(const Error& error);
/// The same, but kSignalExit + the signal for work that a signal ended.
int Report(const Error& error, const sys::Stop& stop);

}  // namespace weir::app
