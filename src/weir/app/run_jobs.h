#pragma once
// RunJobs: runs exports one after another, shows them, and turns how they ended into an exit code.
#include <string>
#include <vector>

#include "weir/app/workshop.h"
#include "weir/config/config.h"
#include "weir/extract/run_export.h"

namespace weir::app {

struct OutputStyle {
  bool json = false;   ///< One JSON object per export on stdout, nothing else.
  bool quiet = false;  ///< No progress and no summary; errors only.
};

file::Compression CompressionOf(config::Compression compression);

/// Fills in what a profile and written settings decide: batch and pace, limits, timeouts.
void ApplyTuning(const config::Tuning& tuning, extract::ExportJob& job);

/// Runs `jobs` with the ledger `state_path`. A failed export does not keep later ones from running;
/// a signal does. Returns 0, or the exit code of the worst failure: 3 before 4, 64, 1 and 2; and
/// 129, 130 or 143 after a signal.
int RunJobs(std::vector<extract::ExportJob> jobs, const std::string& state_path,
            const OutputStyle& style, Workshop& workshop);

}  // namespace weir::app
