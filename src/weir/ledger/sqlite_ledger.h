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

/// An open ledger, and sentences the user should see (a state file that was set aside).
struct OpenedLedger {
  std::unique_ptr<Ledger> ledger;
  std::vector<std::string> warnings;
};

/// Opens the state file at `path` to record runs, making it when missing and bringing its schema up
/// to date. It is 0600; `<path>.lock` beside it holds the locks and stays. A damaged file, or one
/// that is not SQLite's, is renamed to `<path>.corrupt-<UTC stamp>` with its journal, told in
/// `warnings`, and a new one is begun; one that is not named kStateFileName is refused instead.
///
/// Cost:     reads the whole file once to check it.
/// Threads:  any number of processes may open the same path at once, the first time too.
/// Errors:   kNotFound     the folder is not there.
///           kInvalid      a newer weir wrote the file, another program did, or rights are missing.
///           kExhausted    the disk is full.
///           kUnavailable  another process kept the file busy for 10 s, or the device failed.
/// Requires: `clock` outlives the ledger; it stamps rows with WallMillis().
Result<OpenedLedger> OpenSqliteLedger(const std::string& path, sys::Clock& clock);

/// Opens the state file at `path` to look at it: nothing is made, changed or renamed, and nothing
/// locked but the file itself, by SQLite, while a query reads it. Calls that record give kInvalid.
///
/// Cost:     reads the whole file once to check it.
/// Errors:   kNotFound     the file or its folder is not there.
///           kInvalid      it is no state file, damaged, of another version, or may not be read.
///           kUnavailable  another process kept the file busy for 10 s, or the device failed.
/// Requires: as above.
Result<std::unique_ptr<Ledger>> ReadSqliteLedger(const std::string& path, sys::Clock& clock);

}  // namespace weir::ledger
