#pragma once
// TimedTable: one seed table, read once by psql or by weir as a process of its own.
#include <functional>
#include <string>
#include <vector>

#include "weir/experiment/bench_source.h"
#include "weir/experiment/child_run.h"
#include "weir/experiment/ladder.h"

namespace weir::experiment {

/// What all tables of a ladder share. All referred to must outlive the ladder.
struct Bench {
  BenchSource& source;
  std::string scratch;  ///< Absolute path of a folder that is emptied before each cell.
  std::string psql;     ///< Full path.
  std::string weir;     ///< Full path.
  Settings server;      ///< source.ServerSettings().
  sys::Clock& clock;
  const sys::Stop& stop;
};

/// Starts or reaches the source and looks up the programs. `folder` is the bench folder.
Result<Bench> OpenBench(BenchSource& source, const std::string& folder, sys::Clock& clock,
                        const sys::Stop& stop);

/// How the machine is made ready before the cells of a table; a setting of each of them.
inline constexpr const char* kWarmUp = "one raw COPY of the table, not timed";

struct TimedTableOptions {
  std::string table;
  std::string database;  ///< The private server's, made if missing.
  std::function<Status(const std::string& url)> seed;
  /// The cells get a digest: the floor's from PostgreSQL, weir's from its files, after the clock
  /// has stopped and by processes of their own, lest this one grows.
  bool with_digest = false;
  /// Calls `measure` once, with something else at work beside it, and adds to its cell. Empty: the
  /// table is read alone.
  std::function<Result<Cell>(const std::function<Result<Cell>()>& measure)> beside;
};

/// Threads: one.
class TimedTable {
 public:
  TimedTable(const Bench& bench, TimedTableOptions options)
      : bench_(bench), options_(std::move(options)) {}

  /// Seeds the table unless it is there, writes out what that left dirty, has PostgreSQL compute
  /// the digest, and warms the caches.
  Status Prepare();

  /// `psql -c "COPY (SELECT columns) TO STDOUT (FORMAT binary)" >/dev/null`: the same statement
  /// that weir sends, its output thrown away.
  Result<Cell> RawCopy();

  /// `weir export URL table -o <scratch> --profile <profile>`.
  Result<Cell> Export(const std::string& profile);

  /// `weir run -c <scratch>/weir.yaml --export <table>`, where `config` is that file's text and
  /// reads its source from WEIR_SOURCE_URL.
  Result<Cell> Run(const std::string& config);

  /// Requires: Prepare() was called.
  const std::string& url() const { return url_; }
  const std::string& scratch() const { return bench_.scratch; }

 private:
  Status EmptyScratch();
  ChildCommand PsqlCommand() const;
  Result<Cell> Timed(const ChildCommand& command, ChildRun* run);
  Result<std::string> DigestOf(const std::string& folder);
  Result<Cell> Weir(std::vector<std::string> arguments, std::vector<std::string> environment);

  const Bench& bench_;
  const TimedTableOptions options_;
  std::string url_;
  std::string digest_;  // PostgreSQL's; empty when not asked for.
  ChildAddress address_;
  std::string copy_;  // The COPY statement.
  int64_t rows_ = 0;  // In the table, as PostgreSQL counts them.
};

/// A folder for a bench, as an absolute path: made if missing, and then so that the user of a
/// private server may pass through it.
Result<std::string> MakeBenchFolder(sys::Files& files, const std::string& path);

}  // namespace weir::experiment
