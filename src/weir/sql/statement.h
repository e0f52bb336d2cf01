#pragma once
// ParseStatements: a SQL text as the statements that weir knows.
#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "weir/base/result.h"
#include "weir/sql/position.h"

namespace weir::sql {

inline constexpr double kMaxScaleFactor = 1000;
/// A longer interval is a mistake, and microseconds of a day are far from overflowing.
inline constexpr std::chrono::hours kMaxTickInterval{24};
/// PostgreSQL would cut the rest of a longer name off.
inline constexpr size_t kMaxNameBytes = 63;
/// A statement's text, which also bounds how deep its expressions nest: libpg_query writes them out
/// by recursion, 8 MiB of stack are enough for more than twice this.
inline constexpr size_t kMaxStatementBytes = size_t{64} << 10;

/// FROM LOAD GENERATOR TPCH (SCALE FACTOR 0.1, TICK INTERVAL '1s', SEED 7): options in any order.
struct TpchLoad {
  double scale_factor = 1;  ///< In (0, kMaxScaleFactor].
  /// In (0, kMaxTickInterval]; nothing: the rows never change.
  std::optional<std::chrono::microseconds> tick_interval;
  uint64_t seed = 1;
};

/// FROM PARQUET 'folder'
struct ParquetFolder {
  std::string path;  ///< As written; not empty.
};

/// CREATE SOURCE [IF NOT EXISTS] name [IN CLUSTER c] FROM ... [FOR ALL TABLES]; the last is what
/// every source does, and may be said.
struct CreateSource {
  std::string name;
  bool if_not_exists = false;
  std::variant<TpchLoad, ParquetFolder> from;
  std::string cluster;  ///< Where the statement wants it to run; empty when it does not say.
};

/// ALTER SOURCE name PAUSE|RESUME
struct AlterSource {
  enum class Change { kPause, kResume };
  std::string name;
  Change change = Change::kPause;
};

/// DROP SOURCE [IF EXISTS] name
struct DropSource {
  std::string name;
  bool if_exists = false;
};

/// [source.]table
struct TableRef {
  std::string source;  ///< Empty when it does not say.
  std::string table;

  friend bool operator==(const TableRef&, const TableRef&) = default;
};

/// CREATE INDEX [[IF NOT EXISTS] name] [IN CLUSTER c] ON [source.]table (column, ...)
struct CreateIndex {
  std::string name;
  /// The statement names none, so `name` is table_column_..._idx as PostgreSQL forms it. Where
  /// that is taken, PostgreSQL appends the first number from 1 that makes it free.
  bool name_is_default = false;
  bool if_not_exists = false;
  TableRef table;
  std::vector<std::string> key_columns;  ///< In order; never empty.
  std::string cluster;  ///< As in CreateSource.
};

/// DROP INDEX [IF EXISTS] name
struct DropIndex {
  std::string name;
  bool if_exists = false;
};

/// ALTER SYSTEM SET name = value
struct AlterSystem {
  std::string name;
  std::string value;  ///< A text without its quotes, or a number.
};

using StatementBody =
    std::variant<CreateSource, AlterSource, DropSource, CreateIndex, DropIndex, AlterSystem>;

struct Statement {
  StatementBody body;
  std::string text;  ///< As written, without the semicolon.
  Position at;       ///< Of its first character.
};

/// Statements in their order. Names without quotes are folded to lower case, as PostgreSQL does.
///
/// Cost:   O(bytes), and a parse by PostgreSQL's grammar of what is not about sources.
/// Errors: kUsage, one sentence that begins with `line L, column C: `: those of SplitStatements; a
///         statement that is not SQL, in PostgreSQL's words; one that is, and that weir does not
///         know; a part of one that weir does not do; a statement or a name that is too long.
Result<std::vector<Statement>> ParseStatements(std::string_view text);

}  // namespace weir::sql
