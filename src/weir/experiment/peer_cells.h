#pragma once
// The peer: lineitem sorted into a table by DuckDB, beside one index of ours over the same files;
// and what it says that our indexes must hold.
#include <memory>
#include <vector>

#include "weir/experiment/hydrate_bench.h"
#include "weir/experiment/rung_cells.h"
#include "weir/experiment/tpch_files.h"

namespace weir::experiment {

/// lineitem by (l_orderkey, l_linenumber) and by (l_partkey, l_suppkey), each in RAM (0.8 of what
/// there is) and in a quarter of its bytes: an index by auto, and DuckDB's CREATE TABLE AS ...
/// ORDER BY into a database file, with the same memory, threads and folder to spill to. A child
/// each.
///
/// Then the content hash of all 18 indexes, and what DuckDB computes of their tables.
///
/// Time is that of the statement: from CREATE INDEX until it can be read, and of CREATE TABLE.
/// Errors: kNotFound when the interpreter is not there or has no module duckdb.
Result<Group> PeerGroup(const HydrateOptions& options, const HydrateBench& bench,
                        const std::shared_ptr<TpchFiles>& files);

/// What auto must reach beside DuckDB; nothing when there is no such cell.
std::vector<TargetLine> PeerTargets(const Rungs& rungs);

}  // namespace weir::experiment
