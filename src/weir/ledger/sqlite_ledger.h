#pragma once
// The ledger in one SQLite file, `.weir_state.db`; why so, and why no WAL:
// docs/decisions/ledger.md.
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "weir/ledger/ledger.h"
#include "weir/sys/clock.h"

namespace weir::ledger {

inline constexpr std::string_view kStateFileName = ".weir_state.db";

enum class IfMissing : uint8_t {
  kCreate,  ///< Begin a new state file.
  kRefuse,  ///< kNotFound: a command that only shows things makes no file.
};

/// An open ledger, and sentences the user should see (a state file that was set aside).
struct OpenedLedger {
  std::unique_ptr<Ledger> ledger;
  std::vector<std::string> warnings;
};

/// Opens the state file at `path`, bringing its schema up to date. It is 0600; `<path>.lock` beside
/// it holds the locks and stays. A damaged file, or one that is not SQLite's, is renamed to
/// `<path>.corrupt-<UTC stamp>` with its journal, told in `warnings`, and a new one is begun.
///
/// Cost:     reads the whole file once to check it.
/// Threads:  any number of processes may open the same path at once, the first time too.
/// Errors:   kNotFound     the folder is not there, or the file is not and `if_missing` is kRefuse.
///           kInvalid      a newer weir wrote the file, another program did, or rights are missing.
///           kExhausted    the disk is full.
///           kUnavailable  another process kept the file busy for 10 s, or the device failed.
/// Requires: `clock` outlives the ledger; it stamps rows with WallMillis().
Result<OpenedLedger> OpenSqliteLedger(const std::string& path, sys::Clock& clock,
                                      IfMissing if_missing = IfMissing::kCreate);

}  // namespace weir::ledger
