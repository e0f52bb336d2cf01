#include "weir/pg/connection.h"

#include <libpq-fe.h>
#include <poll.h>
#include <signal.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <future>

#include "weir/pg/socket_tap_internal.h"
#include "weir/sys/thread.h"

namespace weir::pg {
namespace {

struct StateAdvice {
  std::string_view sqlstate;  // A whole SQLSTATE, or its two-character class.
  Code code;
  std::string_view advice;
};

// The first match counts, so states stand before their classes.
constexpr std::array<StateAdvice, 24> kAdvice = {{
    {"28P01", Code::kInvalid,
     "check the user and PGPASSWORD, ~/.pgpass or the password in the URL"},
    {"28000", Code::kInvalid, "check the user's name and that it may log in"},
    {"3D000", Code::kNotFound, "check the database name"},
    {"3F000", Code::kNotFound, "check the schema name"},
    {"42P01", Code::kNotFound, "check the table's name and schema"},
    {"42703", Code::kNotFound, "check the column's name"},
    {"42501", Code::kInvalid, "grant SELECT to this user, or leave the table or column out"},
    {"53300", Code::kUnavailable,
     "the server has no connection slot free; wait or run fewer at once"},
    {"53100", Code::kExhausted, "the server's disk is full"},
    {"53200", Code::kExhausted, "the server ran out of memory"},
    {"55P03", Code::kUnavailable,
     "another session holds a stronger lock; wait for it or raise "
     "lock_timeout_s in weir.yaml"},
    {"57014", Code::kInvalid,
     "someone cancelled the statement on the server, or a statement_timeout did that the role, the "
     "database or PGOPTIONS sets; find out which before running it again"},
    {"57P01", Code::kUnavailable, "the server is shutting down or ended this session; run again"},
    {"57P02", Code::kUnavailable, "the server crashed; wait for its recovery and run again"},
    {"57P03", Code::kUnavailable, "the server is starting up; wait and run again"},
    {"25P02", Code::kInvalid, ""},
    {"08", Code::kUnavailable, "check host, port and network, then run again"},
    {"40", Code::kUnavailable, "run again"},
    {"57", Code::kUnavailable, "run again"},
    {"53", Code::kExhausted, "the server lacks a resource"},
    {"58", Code::kUnavailable, "the server met a system error; see its log"},
    {"XX", Code::kCorrupt, "the server reports damaged data or a bug of its own; see its log"},
    {"28", Code::kInvalid, "check the user and password"},
    {"42", Code::kInvalid, ""},
}};

// libpq quotes the type of a message that it did not expect; a NUL there ends its text.
std::string_view CutAtNul(std::string_view text) {
  for (std::string_view before : {"got message type \"", "but received "}) {
    if (text.ends_with(before)) return "\\x00";
  }
  return "";
}

std::string FirstLine(std::string_view text) {
  std::string line(text.substr(0, text.find('\n')));
  line += CutAtNul(text);
  for (std::string_view prefix : {"ERROR:  ", "FATAL:  "}) {
    if (line.starts_with(prefix)) line.erase(0, prefix.size());
  }
  return line;
}

// Every run of white space as one space, none at the end.
std::string OneLine(std::string_view text) {
  std::string line;
  for (const char c : text) {
    const bool space = c == ' ' || c == '\n' || c == '\t' || c == '\r';
    if (!space) {
      line += c;
    } else if (!line.empty() && line.back() != ' ') {
      line += ' ';
    }
  }
  while (!line.empty() && line.back() == ' ') line.pop_back();
  line += CutAtNul(text);
  return line;
}

// The server's refusal of a connection, which gives no result to ask for its SQLSTATE.
struct Refusal {
  std::string state;
  std::string words;
};

// Finds the last "FATAL:  28P01: words" among libpq's lines; verbose messages carry the state
// there. The word before it, and the server's words, may be in any language.
std::optional<Refusal> FindRefusal(std::string_view text) {
  constexpr size_t kStateBytes = 5;
  std::optional<Refusal> found;
  while (!text.empty()) {
    const std::string_view line = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(text.size(), line.size() + 1));
    const size_t at = line.find(":  ");
    if (at == line.npos || line.size() < at + 3 + kStateBytes + 2) continue;
    const std::string_view state = line.substr(at + 3, kStateBytes);
    const bool is_state = std::all_of(state.begin(), state.end(), [](char c) {
      return (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z');
    });
    if (!is_state || line.substr(at + 3 + kStateBytes, 2) != ": ") continue;
    found = Refusal{std::string(state), std::string(line.substr(at + 3 + kStateBytes + 2))};
  }
  return found;
}

// Why there is no connection: the server's refusal, or libpq's own words when no server answered.
Error ConnectError(const PGconn* handle, const Target& target) {
  const std::string_view text = PQerrorMessage(handle);
  if (const auto refusal = FindRefusal(text)) {
    return FromSqlState(refusal->state, target.Redact(refusal->words));
  }
  const std::string reason = target.Redact(OneLine(text));
  const auto has = [&](std::string_view words) { return reason.find(words) != reason.npos; };
  if (reason.starts_with("invalid ")) {
    return Fail(Code::kUsage, "{}; correct the source's address", reason);
  }
  if (has("no password supplied")) return FromSqlState("28P01", reason);
  const bool lost = has("SYSCALL") || has("closed the connection") || has("has been closed");
  if (!lost && (has("SSL") || has("TLS") || has("certificate"))) {
    return Fail(Code::kInvalid, "{}; check sslmode, sslrootcert and the server's TLS settings",
                reason);
  }
  return FromSqlState("08", reason);
}

// As libpq takes it from URL, environment and service file: at least 2 s, none for 0 or less; 10 s
// where nobody says. libpq leaves it to whoever connects without blocking.
sys::Duration ConnectTimeout(PGconn* handle) {
  constexpr sys::Duration kDefault = std::chrono::seconds(10);
  constexpr sys::Duration kNone = std::chrono::hours(24 * 365);
  const std::unique_ptr<PQconninfoOption, decltype(&PQconninfoFree)> options(PQconninfo(handle),
                                                                             &PQconninfoFree);
  for (const PQconninfoOption* at = options.get(); at != nullptr && at->keyword != nullptr; ++at) {
    if (std::string_view(at->keyword) != "connect_timeout") continue;
    if (at->val == nullptr || *at->val == '\0') return kDefault;
    const int seconds = std::atoi(at->val);
    return seconds <= 0 ? kNone : sys::Duration(std::chrono::seconds(std::max(2, seconds)));
  }
  return kDefault;
}

// Notices, changed settings and notifications may come at any time.
bool EndsCopy(uint8_t type) { return type != 'N' && type != 'S' && type != 'A'; }

// Bytes to hand to libpq now: all of them from a message on that ends the stream, since those are
// the end of its statement; a whole message of another kind; 0 where neither is.
int64_t OtherBytes(const CopyBlock& block) {
  if (!block.at_other()) return 0;
  const int64_t received = std::ssize(block.rest());
  if (EndsCopy(block.rest()[0])) return received;
  return block.other_bytes() <= received ? block.other_bytes() : 0;
}

// As libpq takes them: texts, null for NULL. Good for as long as `parameters`.
std::vector<const char*> Values(const std::vector<std::optional<std::string>>& parameters) {
  std::vector<const char*> values;
  for (const auto& parameter : parameters)
    values.push_back(parameter ? parameter->c_str() : nullptr);
  return values;
}

}  // namespace

Error FromSqlState(std::string_view sqlstate, std::string_view message) {
  const std::string line = FirstLine(message);
  if (sqlstate == "28000" && line.find("pg_hba.conf") != line.npos) {
    return Fail(Code::kInvalid, "{}; that file must allow this user, host and TLS mode", line);
  }
  for (const StateAdvice& row : kAdvice) {
    if (!sqlstate.starts_with(row.sqlstate)) continue;
    if (row.advice.empty()) return {row.code, line};
    return Fail(row.code, "{}; {}", line, row.advice);
  }
  return {Code::kInvalid, line};
}

Connection::Connection(PGconn* handle, Target target, const sys::Stop& stop,
                       sys::Duration reply_bound)
    : handle_(handle), target_(std::move(target)), stop_(stop), reply_bound_(reply_bound) {}

void FreeResult::operator()(pg_result* result) const { PQclear(result); }

Connection::~Connection() { Close(); }

void Connection::Close() {
  RemoveTap();
  PQfinish(std::exchange(handle_, nullptr));
}

// Where the server is heard.
int Connection::socket() const { return tap_ == nullptr ? PQsocket(handle_) : tap_->fd(); }

// libpq closes its descriptor when it finds the connection lost; its number may be another's then.
void Connection::RemoveTap() {
  if (tap_ != nullptr && PQsocket(handle_) == tap_->libpq_fd()) tap_->Remove();
  tap_.reset();
}

Result<std::unique_ptr<Connection>> Connection::Open(Target target,
                                                     const std::string& application_name,
                                                     const sys::Stop& stop,
                                                     sys::Duration reply_bound) {
  const auto set_default = [&](const char* keyword, const char* value) {
    if (target.Get(keyword).empty()) target.Set(keyword, value);
  };
  set_default("keepalives_idle", "30");
  set_default("keepalives_interval", "10");
  set_default("keepalives_count", "3");
  // Names are UTF-8 here, whatever PGCLIENTENCODING says; poolers know this parameter.
  target.Set("client_encoding", "UTF8");
  // fallback_: an application_name of the user's own URL or PGAPPNAME is set again by SET LOCAL
  // anyway.
  target.Set("fallback_application_name", application_name.substr(0, 63));

  std::vector<const char*> keywords;
  std::vector<const char*> values;
  for (const auto& [keyword, value] : target.keywords()) {
    keywords.push_back(keyword.c_str());
    values.push_back(value.c_str());
  }
  keywords.push_back(nullptr);
  values.push_back(nullptr);

  std::unique_ptr<Connection> connection(
      new Connection(PQconnectStartParams(keywords.data(), values.data(), 0), std::move(target),
                     stop, reply_bound));
  WEIR_DO(connection->Connect());
  return connection;
}

// The rest of Open(), on the handle that libpq began with.
Status Connection::Connect() {
  WEIR_ASSERT(handle_ != nullptr);
  PQsetErrorVerbosity(handle_, PQERRORS_VERBOSE);  // For ConnectError.
  if (PQstatus(handle_) == CONNECTION_BAD) {
    return ConnectError(handle_, target_).In("cannot connect to " + target_.Describe());
  }
  const sys::Duration timeout = ConnectTimeout(handle_);
  const sys::Duration deadline = sys::SteadyNow() + timeout;
  for (PostgresPollingStatusType status = PGRES_POLLING_WRITING; status != PGRES_POLLING_OK;) {
    const short events = status == PGRES_POLLING_READING ? POLLIN : POLLOUT;
    const sys::Duration left = deadline - sys::SteadyNow();
    if (left.count() <= 0) {
      return Fail(Code::kUnavailable,
                  "cannot connect to {}: no answer within {} s; check host, port and firewall",
                  target_.Describe(), timeout / std::chrono::seconds(1));
    }
    auto ready = Await(left, events);
    if (!ready.ok() && ready.error().code == Code::kCancelled) return ready;
    status = PQconnectPoll(handle_);
    if (status == PGRES_POLLING_FAILED) {
      return ConnectError(handle_, target_).In("cannot connect to " + target_.Describe());
    }
  }
  cancel_ = std::shared_ptr<PGcancel>(PQgetCancel(handle_), &PQfreeCancel);
  PQsetErrorVerbosity(handle_, PQERRORS_DEFAULT);
  PQsetNoticeProcessor(handle_, [](void*, const char*) {}, nullptr);
  PQsetnonblocking(handle_, 1);  // A long statement must not wait in the kernel for its reader.
  return Ok();
}

// Errors: kCancelled when the stop was asked for, kUnavailable when `timeout` passed (zero: never).
Status Connection::Await(sys::Duration timeout, short events) {
  const sys::Duration deadline = sys::SteadyNow() + timeout;
  while (true) {
    WEIR_DO(stop_.Check());
    pollfd watched[2] = {{socket(), events, 0}, {stop_.fd(), POLLIN, 0}};
    int wait_ms = -1;
    if (timeout.count() > 0) {
      const int64_t left_ms = sys::Millis(deadline - sys::SteadyNow()) + 1;
      if (left_ms <= 0) {
        return Fail(Code::kUnavailable,
                    "the server sent nothing for {} ms; see what holds it up, or raise "
                    "statement_timeout_s in weir.yaml",
                    sys::Millis(timeout));
      }
      wait_ms = static_cast<int>(std::min<int64_t>(left_ms, 60'000));
    }
    const int ready = poll(watched, 2, wait_ms);
    if (ready < 0 && errno != EINTR)
      return Fail(Code::kUnavailable, "poll failed on the connection");
    if (ready > 0 && (watched[0].revents != 0)) return Ok();
  }
}

// Await for results, within what `patience` leaves; the server is asked to end what it does when
// that is over, or the stop was asked for.
Status Connection::AwaitReply(const Patience& patience, short events) {
  const sys::Duration start = sys::SteadyNow();
  const bool bounded = patience.deadline.count() > 0;
  if (bounded && start >= patience.deadline) return GiveUp();  // Also on a server that only talks.
  Status ready = Await(bounded ? patience.deadline - start : patience.byte_timeout, events);
  if (patience.waited != nullptr) *patience.waited += sys::SteadyNow() - start;
  if (ready.ok()) return ready;
  if (bounded && ready.error().code == Code::kUnavailable) return GiveUp();
  Cancel();
  return ready;
}

Error Connection::GiveUp() {
  Cancel();
  fell_silent_ = true;
  Close();
  return SilenceError();
}

Error Connection::SilenceError() const {
  return Fail(Code::kUnavailable,
              "{} gave no whole answer within {} ms; see what holds up the server or the network, "
              "then run again",
              target_.Describe(), sys::Millis(reply_bound_));
}

Error Connection::LastError(const char* fallback) const {
  if (fell_silent_) return SilenceError();
  if (handle_ == nullptr) {
    return Fail(Code::kUnavailable, "the connection to {} was given up before; run again",
                target_.Describe());
  }
  const std::string message = target_.Redact(PQerrorMessage(handle_));
  if (PQstatus(handle_) == CONNECTION_BAD) {
    return Fail(Code::kUnavailable, "the connection to {} was lost: {}; run again when it is back",
                target_.Describe(), message.empty() ? fallback : FirstLine(message));
  }
  return {Code::kInvalid, message.empty() ? fallback : FirstLine(message)};
}

// The server's own error, or the lost connection's when there is none.
Error Connection::ResultError(const pg_result* result) {
  const char* state = PQresultErrorField(result, PG_DIAG_SQLSTATE);
  last_sqlstate_ = state == nullptr ? "" : state;
  if (state == nullptr) return LastError("the statement failed");
  return FromSqlState(state, target_.Redact(PQresultErrorMessage(result)));
}

// Sends what waits to be sent, until the next result is there.
Status Connection::WaitForResult(const Patience& patience) {
  while (true) {
    const int unsent = PQflush(handle_);
    if (unsent < 0) return LastError("the connection was lost");
    const bool sent = (tap_ == nullptr || tap_->SendOn()) && unsent == 0;
    if (PQisBusy(handle_) == 0) return Ok();
    WEIR_DO(AwaitReply(patience, sent ? POLLIN : POLLIN | POLLOUT));
    if (tap_ != nullptr) tap_->ForwardReply();
    if (PQconsumeInput(handle_) == 0) return LastError("the connection was lost");
  }
}

Connection::Patience Connection::ForReply() const {
  if (reply_bound_ == kNoBound) return {};
  return {.deadline = sys::SteadyNow() + reply_bound_};
}

// The next result of what was sent; null after the last, when the connection is ready for another
// statement. A COPY is passed on by StartCopyOut alone: libpq would give its result for ever.
Result<ResultPtr> Connection::NextResult(const Patience& patience) {
  if (stop_.asked()) {
    Cancel();
    WEIR_DO(stop_.Check());
  }
  WEIR_DO(WaitForResult(patience));
  ResultPtr result(PQgetResult(handle_));
  const ExecStatusType status = PQresultStatus(result.get());
  if (result == nullptr ||
      (status != PGRES_COPY_OUT && status != PGRES_COPY_IN && status != PGRES_COPY_BOTH)) {
    return result;
  }
  Close();
  return Fail(Code::kCorrupt,
              "{} began a COPY that was not asked for; the connection was closed: see what answers "
              "there",
              target_.Describe());
}

Result<Rows> Connection::Query(std::string_view sql,
                               const std::vector<std::optional<std::string>>& parameters) {
  const std::vector<const char*> values = Values(parameters);
  if (PQsendQueryParams(handle_, std::string(sql).c_str(), static_cast<int>(values.size()), nullptr,
                        values.data(), nullptr, nullptr, 0) == 0) {
    return LastError("the query could not be sent");
  }
  return ReadRows();
}

// The results of what was sent, to the last one: the connection is then ready for the next
// statement.
Result<Rows> Connection::ReadRows() {
  const Patience patience = ForReply();
  Rows rows;
  std::optional<Error> failure;
  while (true) {
    WEIR_TRY(const ResultPtr result, NextResult(patience));
    if (result == nullptr) break;
    const ExecStatusType status = PQresultStatus(result.get());
    if (status == PGRES_TUPLES_OK) {
      for (int row = 0; row < PQntuples(result.get()); ++row) {
        Row& out = rows.emplace_back();
        for (int column = 0; column < PQnfields(result.get()); ++column) {
          if (PQgetisnull(result.get(), row, column) != 0) {
            out.emplace_back();
          } else {
            out.emplace_back(PQgetvalue(result.get(), row, column));
          }
        }
      }
    } else if (status != PGRES_COMMAND_OK && status != PGRES_EMPTY_QUERY && !failure) {
      failure = ResultError(result.get());
    }
  }
  if (failure) return *std::move(failure);
  return rows;
}

Status Connection::Prepare(const std::string& name, std::string_view sql) {
  if (PQsendPrepare(handle_, name.c_str(), std::string(sql).c_str(), 0, nullptr) == 0) {
    return LastError("the statement could not be sent");
  }
  WEIR_DO(ReadRows());
  return Ok();
}

Result<Rows> Connection::QueryPrepared(const std::string& name,
                                       const std::vector<std::optional<std::string>>& parameters) {
  const std::vector<const char*> values = Values(parameters);
  if (PQsendQueryPrepared(handle_, name.c_str(), static_cast<int>(values.size()), values.data(),
                          nullptr, nullptr, 0) == 0) {
    return LastError("the query could not be sent");
  }
  return ReadRows();
}

Result<Row> Connection::QueryRow(std::string_view sql,
                                 const std::vector<std::optional<std::string>>& parameters) {
  WEIR_TRY(Rows rows, Query(sql, parameters));
  if (rows.size() != 1) {
    return Fail(Code::kNotFound, "{} rows where one was expected from: {}", rows.size(), sql);
  }
  return std::move(rows[0]);
}

Status Connection::Exec(const std::string& sql) {
  if (PQsendQuery(handle_, sql.c_str()) == 0) return LastError("the statement could not be sent");
  const Patience patience = ForReply();
  std::optional<Error> failure;
  while (true) {
    WEIR_TRY(const ResultPtr result, NextResult(patience));
    if (result == nullptr) break;
    if (PQresultStatus(result.get()) == PGRES_FATAL_ERROR && !failure) {
      failure = ResultError(result.get());
    }
  }
  if (failure) return *std::move(failure);
  return Ok();
}

Result<std::vector<StatementField>> Connection::DescribeStatement(const std::string& sql) {
  if (PQsendPrepare(handle_, "", sql.c_str(), 0, nullptr) == 0) {
    return LastError("the statement could not be sent");
  }
  WEIR_DO(ReadRows());
  if (PQsendDescribePrepared(handle_, "") == 0) return LastError("the statement was not described");
  return ReadDescription();
}

Result<std::vector<StatementField>> Connection::ReadDescription() {
  const Patience patience = ForReply();
  std::vector<StatementField> fields;
  std::optional<Error> failure;
  while (true) {
    WEIR_TRY(const ResultPtr result, NextResult(patience));
    if (result == nullptr) break;
    if (PQresultStatus(result.get()) != PGRES_COMMAND_OK) {
      if (!failure) failure = ResultError(result.get());
      continue;
    }
    for (int column = 0; column < PQnfields(result.get()); ++column) {
      fields.push_back({PQfname(result.get(), column), PQftype(result.get(), column),
                        PQfmod(result.get(), column)});
    }
  }
  if (failure) return *std::move(failure);
  return fields;
}

Status Connection::StartCopyOut(const std::string& sql, sys::Duration byte_timeout,
                                sys::Duration* waited) {
  WEIR_ASSERT(tap_ == nullptr);
  const bool plain = handle_ != nullptr && PQstatus(handle_) == CONNECTION_OK &&
                     PQsslInUse(handle_) == 0 && PQgssEncInUse(handle_) == 0;
  if (plain) tap_ = SocketTap::Insert(PQsocket(handle_));
  Status started = AskForCopy(sql, {.byte_timeout = byte_timeout, .waited = waited});
  if (!started.ok()) RemoveTap();
  return started;
}

// The answer comes with the first rows: a query may work for long before it.
Status Connection::AskForCopy(const std::string& sql, const Patience& patience) {
  if (PQsendQueryParams(handle_, sql.c_str(), 0, nullptr, nullptr, nullptr, nullptr, 0) == 0) {
    return LastError("the COPY could not be sent");
  }
  WEIR_DO(WaitForResult(patience));
  const ResultPtr result(PQgetResult(handle_));
  if (result == nullptr) return LastError("the COPY gave no result");
  if (PQresultStatus(result.get()) == PGRES_COPY_OUT) return Ok();
  Error error = ResultError(result.get());
  const Patience for_rest = ForReply();
  while (true) {
    WEIR_TRY(const ResultPtr rest, NextResult(for_rest));
    if (rest == nullptr) return error;
  }
}

Status Connection::AwaitCopy(sys::Duration byte_timeout, sys::Duration* waited) {
  const sys::Duration start = sys::SteadyNow();
  Status ready = Await(byte_timeout, POLLIN);
  *waited += sys::SteadyNow() - start;
  if (!ready.ok()) Cancel();
  return ready;
}

Result<CopyProgress> Connection::ReceiveCopy(CopyBlock& block) {
  if (stop_.asked()) {
    Cancel();
    WEIR_DO(stop_.Check());
  }
  return tap_ == nullptr ? ReceiveThroughLibpq(block) : ReceivePastLibpq(block);
}

Result<CopyProgress> Connection::ReceivePastLibpq(CopyBlock& block) {
  CopyProgress progress = CopyProgress::kNothing;
  while (!block.full()) {
    if (OtherBytes(block) > 0) {
      WEIR_DO(ForwardOther(block));
      return tap_ == nullptr ? CopyProgress::kEnd : CopyProgress::kSome;
    }
    const ssize_t size = tap_->Receive(block.Room());
    if (size < 0 && errno == EAGAIN) return progress;
    if (size <= 0) {
      PQconsumeInput(handle_);  // libpq finds out, and has words for it.
      return LastError("the connection was lost");
    }
    block.Received(size);
    progress = CopyProgress::kSome;
  }
  return progress;
}

// Hands libpq a message that is no CopyData, and the rest of the stream if that ends it.
Status Connection::ForwardOther(CopyBlock& block) {
  const bool ends = EndsCopy(block.rest()[0]);
  const int64_t size = OtherBytes(block);
  for (int64_t at = 0; at < size;) {
    const int64_t piece = std::min(size - at, SocketTap::kMostForwarded);
    tap_->Forward(block.rest().subspan(static_cast<size_t>(at), static_cast<size_t>(piece)));
    if (PQconsumeInput(handle_) == 0) return LastError("the connection was lost");
    at += piece;
  }
  block.DropRest(size);
  if (ends) {
    RemoveTap();
    return AwaitCopyEnd();
  }
  char* data = nullptr;  // libpq looks at what it has read; there are no rows in it.
  const int found = PQgetCopyData(handle_, &data, 1);
  PQfreemem(data);
  return found == 0 ? Ok() : Status(LastError("the COPY stream broke"));
}

Result<CopyProgress> Connection::ReceiveThroughLibpq(CopyBlock& block) {
  // Until two reads in a row end no message: one may leave decrypted bytes where poll() does not
  // see them.
  constexpr int kMostReads = 2;
  CopyProgress progress = CopyProgress::kNothing;
  for (int reads = 0; !block.full();) {
    char* data = nullptr;
    const int size = PQgetCopyData(handle_, &data, 1);
    if (size > 0) {
      block.Append({reinterpret_cast<const uint8_t*>(data), static_cast<size_t>(size)});
      PQfreemem(data);
      progress = CopyProgress::kSome;
      reads = 0;
      continue;
    }
    if (size == -2) return LastError("the COPY stream broke");
    if (size == -1) {
      WEIR_DO(FinishCopy());
      return CopyProgress::kEnd;
    }
    if (reads++ == kMostReads) return progress;
    if (PQconsumeInput(handle_) == 0) return LastError("the connection was lost");
  }
  return progress;
}

// Of a stream whose last message libpq has, or will read itself.
Status Connection::AwaitCopyEnd() {
  const Patience patience = ForReply();
  while (true) {
    char* data = nullptr;
    const int size = PQgetCopyData(handle_, &data, 1);
    PQfreemem(data);
    if (size == -1) return FinishCopy();
    if (size != 0) return LastError("the COPY stream broke");
    WEIR_DO(AwaitReply(patience, POLLIN));
    if (PQconsumeInput(handle_) == 0) return LastError("the connection was lost");
  }
}

// After CopyDone or an error in mid-stream: the command's own result says which it was. Nothing may
// follow it.
Status Connection::FinishCopy() {
  const Patience patience = ForReply();
  std::optional<Error> failure;
  bool ended = false;
  while (true) {
    WEIR_TRY(const ResultPtr result, NextResult(patience));
    if (result == nullptr) break;
    if (PQresultStatus(result.get()) != PGRES_COMMAND_OK) {
      if (!failure) failure = ResultError(result.get());
    } else if (ended && !failure) {
      failure = Fail(Code::kCorrupt, "{} did more than the COPY; see what answers there",
                     target_.Describe());
    }
    ended = true;
  }
  if (failure) return *std::move(failure);
  if (!ended) return LastError("the COPY ended without a result");
  return Ok();
}

// PQcancel has no bound and cannot be interrupted, so it gets a thread, which shares nothing with
// this object and may outlive it.
void Connection::Cancel(sys::Duration bound) {
  if (cancel_ == nullptr) return;
  const auto done = std::make_shared<std::promise<void>>();
  auto asking = sys::StartThread([cancel = cancel_, done] {
    // PQcancel, unlike the rest of libpq, lets a server that is gone end the process.
    sigset_t pipe;
    sigemptyset(&pipe);
    sigaddset(&pipe, SIGPIPE);
    pthread_sigmask(SIG_BLOCK, &pipe, nullptr);
    char reason[256];
    PQcancel(cancel.get(), reason, sizeof reason);
    done->set_value();
  });
  if (!asking.ok()) return;  // The end of the connection will tell the server.
  const std::future<void> asked = done->get_future();
  asking.value().detach();
  asked.wait_for(bound);
}

int Connection::server_version() const { return PQserverVersion(handle_); }
int Connection::backend_pid() const { return PQbackendPID(handle_); }
bool Connection::is_alive() const { return PQstatus(handle_) == CONNECTION_OK; }

std::string Connection::QuoteName(std::string_view name) const {
  std::string quoted = "\"";
  for (const char c : name) {
    quoted += c;
    if (c == '"') quoted += '"';
  }
  return quoted + "\"";
}

std::string Connection::QuoteLiteral(std::string_view text) const {
  std::string quoted = "E'";
  for (const char c : text) {
    quoted += c;
    if (c == '\'' || c == '\\') quoted += c;
  }
  return quoted + "'";
}

}  // namespace weir::pg
