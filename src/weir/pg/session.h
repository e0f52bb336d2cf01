#pragma once
// Session hygiene: every transaction on a source begins here, and a table is locked before it is
// looked at.
#include <string>

#include "weir/pg/catalog.h"
#include "weir/pg/connection.h"

namespace weir::pg {

enum class Isolation { kReadCommitted, kRepeatableRead };

struct SessionSettings {
  std::string application_name;     ///< See ApplicationName.
  int64_t lock_timeout_s = 30;      ///< 0: wait for ever.
  int64_t idle_timeout_s = 900;     ///< idle_in_transaction_session_timeout; 0: none.
  int64_t statement_timeout_s = 0;  ///< 0: none.
  sys::Duration reply_bound = kReplyBound;  ///< See Connection; locks have lock_timeout_s more.
};

/// How long the end of a session may take: nobody waits for what it says but to go home.
inline constexpr sys::Duration kEndBound = std::chrono::seconds(5);

/// "weir/<run id>/<table>" in at most 63 bytes: the table is shortened, the run id never, and no
/// UTF-8 character is cut in two.
std::string ApplicationName(const std::string& run_id, const std::string& table);

/// Begins a READ ONLY transaction with every setting made by SET LOCAL: poolers refuse start-up
/// parameters, and a plain SET would leak to the pooler's next client. Pins all settings that
/// change how values print.
Status BeginReadOnly(Connection& connection, Isolation isolation, const SessionSettings& settings);

/// How ACCESS SHARE on a table was come by.
enum class LockMode {
  kTable,   ///< LOCK TABLE in `connection`'s own transaction.
  kHolder,  ///< LOCK TABLE was refused; a second transaction holds it: see LockThroughSelect.
};

/// Takes ACCESS SHARE on the table in the open transaction, before any snapshot. kHolder says that
/// the relation's kind or the user's rights do not allow LOCK TABLE; the transaction has then
/// failed and must begin anew.
/// Errors: kUnavailable when lock_timeout_s passed.
Result<LockMode> LockTable(Connection& connection, const TableName& table,
                           const SessionSettings& settings = {});

/// Takes ACCESS SHARE on all that `select` reads, by running it with LIMIT 0 in `holder`'s READ
/// COMMITTED transaction, which must then stay open.
Status LockThroughSelect(Connection& holder, const std::string& select,
                         const SessionSettings& settings = {});

/// Has this session's counters flushed when its transaction ends, on servers that can (15 and
/// later).
Status FlushStatistics(Connection& connection);

/// Ends the transaction, its counters flushed, within kEndBound.
Status EndReadOnly(Connection& connection);

}  // namespace weir::pg
