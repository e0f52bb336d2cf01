#pragma once
// DuckDbRun: statements that DuckDB runs, in a Python interpreter that is a process of its own.
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "weir/experiment/child_run.h"
#include "weir/experiment/hydrate_bench.h"

namespace weir::experiment {

/// The version of the module duckdb that `python`, an absolute path, can import.
/// Errors: kNotFound when it is not there or cannot; kCancelled.
Result<std::string> DuckDbVersion(const HydrateBench& bench, const std::string& python);

/// A template with the words in braces replaced, "{word}".
using Words = std::vector<std::pair<std::string_view, std::string>>;
std::string Filled(std::string_view text, const Words& words);

struct DuckDbRun {
  ChildRun child;
  double last_s = 0;                 ///< Seconds of the last statement alone.
  std::vector<std::string> answers;  ///< The first value of each statement that gives one.
};

/// Runs `statements`, divided by semicolons, on a new database file in the scratch folder, which is
/// removed after it.
/// Errors: of RunChild; kCorrupt when the driver prints what it never does.
Result<DuckDbRun> RunDuckDb(const HydrateBench& bench, const std::string& python,
                            const std::string& statements);

}  // namespace weir::experiment
