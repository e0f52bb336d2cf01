#pragma once
// Database, Statement, Transaction: SQLite with weir's errors. The only code that calls sqlite3.
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "weir/base/result.h"

struct sqlite3;
struct sqlite3_stmt;

namespace weir::ledger {

class Database;

/// One prepared statement: bind by name, step, read columns by name.
///
/// Threads: one at a time. Requires: the Database outlives it.
class Statement {
 public:
  Statement(Database& database, sqlite3_stmt* handle);
  ~Statement();
  Statement(Statement&& other) noexcept;
  Statement& operator=(Statement&&) = delete;

  /// Sets the parameter `:name`. Requires: the statement has it.
  void Bind(std::string_view name, int64_t value);
  void Bind(std::string_view name, std::string_view value);
  void Bind(std::string_view name, const std::string& value) {
    Bind(name, std::string_view(value));
  }
  /// An absent value is NULL.
  template <typename T>
  void Bind(std::string_view name, const std::optional<T>& value) {
    if (value.has_value()) {
      if constexpr (std::is_same_v<T, bool>) {
        Bind(name, int64_t{*value});
      } else {
        Bind(name, *value);
      }
    }
  }

  /// True when a row is there to read, false at the end.
  Result<bool> Step();
  /// Ready to run again, with nothing bound.
  void Reset();

  /// The column `name` of the row. Requires: it exists, and Step() returned true.
  void Read(std::string_view name, int64_t& out) const;
  void Read(std::string_view name, std::string& out) const;
  void Read(std::string_view name, std::optional<bool>& out) const;
  template <typename T>
  void Read(std::string_view name, std::optional<T>& out) const {
    if (IsNull(name)) return;
    Read(name, out.emplace());
  }

 private:
  int ParameterOf(std::string_view name) const;
  int ColumnOf(std::string_view name) const;
  bool IsNull(std::string_view name) const;

  Database& database_;
  sqlite3_stmt* handle_;
  std::vector<std::string> columns_;
};

/// One connection to one file.
///
/// Threads: one at a time.
/// Errors:  those of Ledger, with the path in front; kCorrupt also for a file that is not SQLite's.
class Database {
 public:
  enum class Access : uint8_t { kWrite, kRead };

  /// Opens an existing file (an empty one is an empty database) and sets the connection up. With
  /// kRead the file is never changed, and nothing is made beside it; damage is then kInvalid.
  static Result<std::unique_ptr<Database>> Open(const std::string& path,
                                                Access access = Access::kWrite);
  ~Database();
  Database(const Database&) = delete;
  Database& operator=(const Database&) = delete;

  /// Runs a script of statements that return nothing.
  Status Execute(std::string_view script);
  Result<Statement> Prepare(std::string_view sql);
  /// The first column of the first row of `sql`.
  Result<int64_t> QueryInt(std::string_view sql);
  /// Errors: kCorrupt with SQLite's first finding. Reads the whole file.
  Status QuickCheck();

  /// Rows changed by the last statement.
  int64_t changes() const;
  const std::string& path() const { return path_; }
  /// The last failure of this connection as an Error.
  Error LastError() const;

 private:
  Database(sqlite3* handle, std::string path, Access access);

  sqlite3* handle_;
  std::string path_;
  Access access_;
};

/// BEGIN IMMEDIATE until Commit(), or a rollback when dropped.
class Transaction {
 public:
  /// Waits for the write lock. Errors: kUnavailable after 10 s.
  static Result<Transaction> Start(Database& database);
  ~Transaction();
  Transaction(Transaction&& other) noexcept;
  Transaction& operator=(Transaction&&) = delete;

  Status Commit();

 private:
  explicit Transaction(Database* database) : database_(database) {}

  Database* database_;  // Null once committed or moved from.
};

}  // namespace weir::ledger
