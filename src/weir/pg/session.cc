#include "weir/pg/session.h"

#include <algorithm>

namespace weir::pg {
namespace {

constexpr size_t kNameBytes = 63;  // NAMEDATALEN - 1: the server cuts application_name there.
constexpr int kForceFlushVersion = 150000;

std::string CutUtf8(std::string text, size_t bytes) {
  if (text.size() <= bytes) return text;
  while (bytes > 0 && (static_cast<uint8_t>(text[bytes]) & 0xC0) == 0x80) --bytes;
  text.resize(bytes);
  return text;
}

// Gives the statements of one scope another reply bound.
class BoundScope {
 public:
  BoundScope(Connection& connection, sys::Duration bound)
      : connection_(connection), before_(connection.reply_bound()) {
    connection.SetReplyBound(bound);
  }
  ~BoundScope() { connection_.SetReplyBound(before_); }
  BoundScope(const BoundScope&) = delete;
  BoundScope& operator=(const BoundScope&) = delete;

 private:
  Connection& connection_;
  const sys::Duration before_;
};

// The server ends the wait for a lock itself, if it can still say so.
sys::Duration LockBound(const SessionSettings& settings) {
  if (settings.lock_timeout_s == 0 || settings.reply_bound == kNoBound) return kNoBound;
  return std::chrono::seconds(settings.lock_timeout_s) + settings.reply_bound;
}

}  // namespace

std::string ApplicationName(const std::string& run_id, const std::string& table) {
  return CutUtf8(fmt::format("weir/{}/{}", run_id, table), kNameBytes);
}

Status BeginReadOnly(Connection& connection, Isolation isolation, const SessionSettings& settings) {
  // What these pin: text forms (DateStyle to lc_monetary), row counts (row_security fails closed),
  // and the backends one reader may use (no parallel workers, no JIT compile for a plain scan).
  constexpr std::string_view kPinned =
      "SET LOCAL DateStyle = 'ISO'; SET LOCAL IntervalStyle = 'postgres'; "
      "SET LOCAL extra_float_digits = 3; SET LOCAL bytea_output = 'hex'; "
      "SET LOCAL TimeZone = 'UTC'; SET LOCAL client_encoding = 'UTF8'; "
      "SET LOCAL xmloption = 'content'; SET LOCAL row_security = off; "
      "SET LOCAL max_parallel_workers_per_gather = 0; SET LOCAL jit = off";
  const std::string_view level =
      isolation == Isolation::kRepeatableRead ? "REPEATABLE READ" : "READ COMMITTED";
  return connection.Exec(fmt::format(
      "BEGIN ISOLATION LEVEL {} READ ONLY; SET LOCAL application_name = {}; "
      "SET LOCAL lock_timeout = {}; SET LOCAL idle_in_transaction_session_timeout = {}; "
      "SET LOCAL statement_timeout = {}; {}",
      level, connection.QuoteLiteral(settings.application_name), settings.lock_timeout_s * 1000,
      settings.idle_timeout_s * 1000, settings.statement_timeout_s * 1000, kPinned));
}

Result<LockMode> LockTable(Connection& connection, const TableName& table,
                           const SessionSettings& settings) {
  const BoundScope bound(connection, LockBound(settings));
  auto locked = connection.Query(fmt::format("LOCK TABLE {}.{} IN ACCESS SHARE MODE",
                                             connection.QuoteName(table.schema),
                                             connection.QuoteName(table.name)));
  if (locked.ok()) return LockMode::kTable;
  // Refused (class 42): rights on some columns only, or a kind that cannot be locked. Not there,
  // lock timeout, cancelled and lost connection stay errors.
  const bool refused =
      locked.error().code == Code::kInvalid && connection.last_sqlstate().starts_with("42");
  if (refused) return LockMode::kHolder;
  return std::move(locked).error().In("table " + table.Display());
}

Status LockThroughSelect(Connection& holder, const std::string& select,
                         const SessionSettings& settings) {
  const BoundScope bound(holder, LockBound(settings));
  WEIR_DO(holder.Query(fmt::format("SELECT 1 FROM ({}\n) AS weir_source LIMIT 0", select)));
  return Ok();
}

Status FlushStatistics(Connection& connection) {
  if (connection.server_version() < kForceFlushVersion) return Ok();
  return connection.Exec("SELECT pg_catalog.pg_stat_force_next_flush()");
}

Status EndReadOnly(Connection& connection) {
  const sys::Duration before = connection.reply_bound();
  const BoundScope bound(connection, before == kNoBound ? kEndBound : std::min(before, kEndBound));
  auto flushed = FlushStatistics(connection);
  WEIR_DO(connection.Exec("COMMIT"));
  return flushed;
}

}  // namespace weir::pg
