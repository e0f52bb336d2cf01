#pragma once
// Connection: one session with PostgreSQL. The only class that talks to libpq.
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "weir/base/bytes.h"
#include "weir/base/result.h"
#include "weir/pg/copy_block.h"
#include "weir/pg/target.h"
#include "weir/sys/clock.h"
#include "weir/sys/stop.h"

typedef struct pg_conn PGconn;
typedef struct pg_cancel PGcancel;
struct pg_result;

namespace weir::pg {

class SocketTap;

/// A result's values as text; nullopt is NULL.
using Row = std::vector<std::optional<std::string>>;
using Rows = std::vector<Row>;

/// One column of a statement's result.
struct StatementField {
  std::string name;
  uint32_t type_oid = 0;
  int32_t typmod = -1;
};

/// Frees what libpq allocated.
struct FreeResult {
  void operator()(pg_result* result) const;
};
using ResultPtr = std::unique_ptr<pg_result, FreeResult>;

/// A failure the server reported, mapped to a reaction by its SQLSTATE:
///   kNotFound     3D000, 42P01, 3F000, 42703    kExhausted    53xxx but too many connections
///   kInvalid      28xxx, 42xxx, 57014, the rest kUnavailable  08xxx, 53300, 55P03, 57xxx, 40xxx
Error FromSqlState(std::string_view sqlstate, std::string_view message);

/// How long Cancel() keeps its caller: connecting may lose two packets (1 s and 2 s until they are
/// sent again), and the server starts a process for the request.
inline constexpr std::chrono::seconds kCancelBound{5};

/// How long a statement's whole answer may take, where nobody says else: the statements that read a
/// catalog or set something up take milliseconds, and a server that needs a minute for one is gone
/// as far as a run is concerned.
inline constexpr sys::Duration kReplyBound = std::chrono::seconds(60);
/// The bound that is none, for statements that work for long (making a table).
inline constexpr sys::Duration kNoBound{0};

/// What ReceiveCopy found.
enum class CopyProgress { kNothing, kSome, kEnd };

/// One session.
///
/// Bounds:  a statement whose answer is not whole within the reply bound fails with kUnavailable,
///          and the session is closed: what comes later would pass for the next one's answer. The
///          COPY stream has bounds of its own.
/// Errors:  every call returns FromSqlState's codes; kUnavailable when the link is lost; kCancelled
///          when the stop was asked for; kCorrupt when the server begins a COPY that nobody asked
///          for, which closes the session too. Messages never hold a password.
/// Threads: one at a time, but Cancel() from any.
class Connection {
 public:
  /// Connects with keepalives, a connect timeout (10 s for all hosts together, unless the target,
  /// PGCONNECT_TIMEOUT or a service says else), and application_name for pg_stat_activity. `stop`
  /// must outlive the connection.
  static Result<std::unique_ptr<Connection>> Open(Target target,
                                                  const std::string& application_name,
                                                  const sys::Stop& stop,
                                                  sys::Duration reply_bound = kReplyBound);
  ~Connection();
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;

  /// The reply bound of the statements that follow; kNoBound: none.
  void SetReplyBound(sys::Duration bound) { reply_bound_ = bound; }
  sys::Duration reply_bound() const { return reply_bound_; }

  /// Runs one statement with text parameters $1, $2, ... The server refuses text that holds more
  /// than one, so this is the way for whatever a user wrote.
  Result<Rows> Query(std::string_view sql,
                     const std::vector<std::optional<std::string>>& parameters = {});
  /// Query that must give exactly one row.
  Result<Row> QueryRow(std::string_view sql,
                       const std::vector<std::optional<std::string>>& parameters = {});
  /// Has the server parse a statement once, for QueryPrepared() by that name on this session.
  Status Prepare(const std::string& name, std::string_view sql);
  Result<Rows> QueryPrepared(const std::string& name,
                             const std::vector<std::optional<std::string>>& parameters);
  /// Runs statements separated by semicolons; results are dropped. For texts of weir's own only.
  Status Exec(const std::string& sql);

  /// The result columns of a statement, which is parsed but not run.
  Result<std::vector<StatementField>> DescribeStatement(const std::string& sql);

  /// Starts a COPY ... TO STDOUT, one statement as in Query; read it with ReceiveCopy until it
  /// ends. Waits for its answer, which comes with the first rows, as AwaitCopy does.
  /// Requires: no COPY is under way.
  Status StartCopyOut(const std::string& sql, sys::Duration byte_timeout = sys::Duration{0},
                      sys::Duration* waited = nullptr);
  /// Puts what the server has sent into `block`, without waiting, until that is full. After kEnd
  /// the connection is ready for another statement, and `block` may hold the last rows.
  Result<CopyProgress> ReceiveCopy(CopyBlock& block);
  /// Waits until there is more to receive, at most `byte_timeout` (zero: for ever); time spent
  /// waiting is added to `waited`.
  /// Errors: kUnavailable also when `byte_timeout` passed; the server's query is then cancelled.
  Status AwaitCopy(sys::Duration byte_timeout, sys::Duration* waited);

  /// Asks the server to end what this session runs, and waits up to `bound` until it took that in.
  /// A request that takes longer, as on a dead network, is left to a thread of its own until the
  /// kernel gives its connection up. Errors are of no use to anyone and dropped.
  void Cancel(sys::Duration bound = kCancelBound);

  /// SQLSTATE of the last failure that the server reported; empty before one.
  const std::string& last_sqlstate() const { return last_sqlstate_; }

  int server_version() const;  ///< 150018 for 15.18.
  int backend_pid() const;
  bool is_alive() const;
  /// True once an answer did not come within the reply bound.
  bool fell_silent() const { return fell_silent_; }

  /// `name` as an SQL identifier, `text` as an SQL literal.
  std::string QuoteName(std::string_view name) const;
  std::string QuoteLiteral(std::string_view text) const;

 private:
  /// How long to wait for a result: for each next byte, or until a moment; zero: for ever.
  struct Patience {
    sys::Duration byte_timeout{0};
    sys::Duration deadline{0};  // By sys::SteadyNow().
    sys::Duration* waited = nullptr;
  };

  Connection(PGconn* handle, Target target, const sys::Stop& stop, sys::Duration reply_bound);
  Status Connect();
  Error LastError(const char* fallback) const;
  Error ResultError(const pg_result* result);
  Status Await(sys::Duration timeout, short events);
  Status AwaitReply(const Patience& patience, short events);
  Error GiveUp();
  Error SilenceError() const;
  Status WaitForResult(const Patience& patience);
  Result<ResultPtr> NextResult(const Patience& patience);
  Patience ForReply() const;
  Status AskForCopy(const std::string& sql, const Patience& patience);
  int socket() const;
  void RemoveTap();
  Result<CopyProgress> ReceivePastLibpq(CopyBlock& block);
  Result<CopyProgress> ReceiveThroughLibpq(CopyBlock& block);
  Status ForwardOther(CopyBlock& block);
  Status AwaitCopyEnd();
  Status FinishCopy();
  Result<std::vector<StatementField>> ReadDescription();
  Result<Rows> ReadRows();
  void Close();

  PGconn* handle_;  // Null once closed; libpq takes that for a lost connection.
  Target target_;
  const sys::Stop& stop_;
  sys::Duration reply_bound_;
  bool fell_silent_ = false;
  std::unique_ptr<SocketTap> tap_;  // During a COPY that libpq need not decrypt.
  std::string last_sqlstate_;
  std::shared_ptr<PGcancel> cancel_;  // Made when connected: any thread may use it.
};

}  // namespace weir::pg
