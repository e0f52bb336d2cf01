#include "weir/extract/source.h"

#include <algorithm>
#include <set>

#include "weir/base/log.h"

namespace weir::extract {
namespace {

constexpr uint32_t kJsonbOid = 3802;

bool Contains(const std::vector<std::string>& names, const std::string& name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

std::string Join(const std::vector<std::string>& words) {
  std::string text;
  for (const std::string& word : words) text += (text.empty() ? "" : ", ") + word;
  return text;
}

// Names that people wrote but the source does not have.
Status CheckNamed(const std::vector<std::string>& asked, const std::vector<pg::CatalogColumn>& all,
                  const std::string& source) {
  for (const std::string& name : asked) {
    const bool known = std::any_of(all.begin(), all.end(),
                                   [&](const auto& column) { return column.name == name; });
    if (known) continue;
    std::vector<std::string> have;
    for (const auto& column : all) have.push_back(column.name);
    return Fail(Code::kNotFound, "{} has no column '{}'; it has {}", source, name, Join(have));
  }
  return Ok();
}

// All columns asked for, in the order asked, else in the table's.
std::vector<pg::CatalogColumn> Pick(const SourceRequest& request,
                                    const std::vector<pg::CatalogColumn>& all) {
  std::vector<pg::CatalogColumn> picked;
  if (request.columns.empty()) picked = all;
  for (const std::string& name : request.columns) {
    picked.push_back(*std::find_if(all.begin(), all.end(),
                                   [&](const auto& column) { return column.name == name; }));
  }
  std::erase_if(picked, [&](const auto& column) { return Contains(request.exclude, column.name); });
  return picked;
}

bool IsJsonb(const pg::CatalogType& type) {
  return type.oid == kJsonbOid || type.element_oid == kJsonbOid;
}

}  // namespace

Result<std::unique_ptr<Source>> Source::Open(const SourceRequest& request, const sys::Stop& stop) {
  std::unique_ptr<Source> source(new Source());
  WEIR_DO(source->Begin(request, stop));
  return source;
}

std::string_view Source::leave_out() const {
  return asked_by_ == AskedBy::kFlags
             ? "leave the column out with --exclude"
             : "write a query that leaves the column out or casts it to text";
}

Status Source::Begin(const SourceRequest& request, const sys::Stop& stop) {
  asked_by_ = request.asked_by;
  WEIR_TRY(connection_,
           pg::Connection::Open(request.target, request.settings.application_name, stop,
                                request.settings.reply_bound));
  return request.table.has_value() ? BeginTable(request, stop) : BeginQuery(request, stop);
}

Status Source::BeginTable(const SourceRequest& request, const sys::Stop& stop) {
  WEIR_TRY(const pg::TableName table, pg::ResolveTable(*connection_, *request.table));
  name_ = table.Display();
  WEIR_DO(pg::BeginReadOnly(*connection_, pg::Isolation::kRepeatableRead, request.settings));
  WEIR_TRY(const pg::LockMode lock, pg::LockTable(*connection_, table, request.settings));
  if (lock == pg::LockMode::kHolder) {
    WEIR_DO(connection_->Exec("ROLLBACK"));
    WEIR_DO(OpenHolder(request, stop));
    // SELECT without a column list asks for rights on any one column only.
    const std::string probe = pg::SelectSql(*holder_, {.table = table, .query = {}, .columns = {},
                                                       .where = {}, .limit = {}});
    WEIR_DO(pg::LockThroughSelect(*holder_, probe, request.settings), "table {}", name_);
    WEIR_DO(pg::BeginReadOnly(*connection_, pg::Isolation::kRepeatableRead, request.settings));
  }
  WEIR_DO(Snapshot());
  WEIR_TRY(const pg::TableInfo info, pg::DescribeTable(*connection_, table));
  if (info.row_security) {
    return Fail(Code::kInvalid,
                "{}: row security hides rows from this user; read it as its owner or as a role "
                "with BYPASSRLS",
                name_);
  }
  WEIR_TRY(size_, pg::MeasureTable(*connection_, info.oid));
  primary_key_ = info.primary_key;
  WEIR_DO(ChooseColumns(request, info.columns));
  std::vector<std::string> names;
  for (const auto& column : columns_) names.push_back(column.column.name);
  select_ = pg::SelectSql(*connection_, {.table = table, .query = {}, .columns = names,
                                         .where = request.where, .limit = request.limit});
  // Parsed ahead, so that what is wrong with the condition is said of the condition.
  if (!request.where.empty()) WEIR_DO(connection_->DescribeStatement(select_), "--where");
  return Ok();
}

// Which tables a query reads is known only once it was parsed, so the holder parses it first.
Status Source::BeginQuery(const SourceRequest& request, const sys::Stop& stop) {
  name_ = "query";
  WEIR_DO(OpenHolder(request, stop));
  WEIR_DO(pg::LockThroughSelect(*holder_, request.query, request.settings), "query");
  WEIR_DO(pg::BeginReadOnly(*connection_, pg::Isolation::kRepeatableRead, request.settings));
  WEIR_DO(Snapshot());
  WEIR_TRY(const auto all, pg::DescribeQuery(*connection_, request.query), "query");
  WEIR_DO(ChooseColumns(request, all));
  const bool whole = request.columns.empty() && request.exclude.empty() && request.where.empty() &&
                     !request.limit.has_value();
  std::vector<std::string> names;
  for (const auto& column : columns_) names.push_back(column.column.name);
  select_ = whole ? request.query
                  : pg::SelectSql(*connection_, {.table = {},
                                                 .query = request.query,
                                                 .columns = names,
                                                 .where = request.where,
                                                 .limit = request.limit});
  return Ok();
}

Status Source::OpenHolder(const SourceRequest& request, const sys::Stop& stop) {
  WEIR_TRY(holder_, pg::Connection::Open(request.target, request.settings.application_name, stop,
                                         request.settings.reply_bound));
  pg::SessionSettings settings = request.settings;
  settings.idle_timeout_s = 0;  // It is idle for as long as the read takes.
  return pg::BeginReadOnly(*holder_, pg::Isolation::kReadCommitted, settings);
}

Status Source::Snapshot() {
  WEIR_TRY(mark_, pg::TakeSnapshot(*connection_), "snapshot");
  snapshot_at_ = sys::SteadyNow();
  return Ok();
}

Status Source::ChooseColumns(const SourceRequest& request,
                             const std::vector<pg::CatalogColumn>& all) {
  WEIR_DO(CheckNamed(request.columns, all, name_));
  WEIR_DO(CheckNamed(request.exclude, all, name_));
  std::vector<std::string> refused;
  std::vector<std::string> denied;
  std::set<std::string> names;
  for (const pg::CatalogColumn& column : Pick(request, all)) {
    if (!names.insert(column.name).second) {
      return Fail(Code::kInvalid, "{}: two columns are named {}; name each once", name_,
                  column.name);
    }
    if (!column.readable) denied.push_back(column.name);
    auto type = pg::MapType(column.type);
    if (!type.ok()) {
      refused.push_back(fmt::format("{} ({})", column.name, type.error().message));
      continue;
    }
    columns_.push_back({{.name = column.name,
                         .attnum = column.attnum,
                         .pg_type = column.type.name,
                         .typmod = column.type.typmod,
                         .nullable = !column.not_null,
                         .type = std::move(type).value(),
                         .policy = {}},
                        IsJsonb(column.type)});
  }
  if (!denied.empty()) {
    return Fail(Code::kInvalid, "{}: this user may not SELECT {}; grant it, or {}", name_,
                Join(denied),
                asked_by_ == AskedBy::kFlags ? "leave these out with --exclude"
                                             : "write a query without these");
  }
  if (!refused.empty()) {
    return Fail(Code::kInvalid, "{}: column {}; {}", name_, Join(refused), leave_out());
  }
  if (columns_.empty()) return Fail(Code::kInvalid, "{}: no columns are left to read", name_);
  return Ok();
}

table::Schema Source::schema() const {
  table::Schema schema;
  for (const auto& column : columns_) schema.columns.push_back(column.column);
  return schema;
}

Status Source::Close() {
  auto ended = pg::EndReadOnly(*connection_);
  closed_at_ = sys::SteadyNow();
  // Without the holder's answer nobody knows that its locks were held all the while.
  if (holder_ != nullptr) WEIR_DO(pg::EndReadOnly(*holder_));
  if (!connection_->fell_silent()) return ended;
  // The end of the COPY was confirmed: the rows are whole, whatever becomes of the transaction.
  LogWarn("{}: {}; all rows had come", name_, ended.error().message);
  return Ok();
}

sys::Duration Source::snapshot_hold() const {
  return (closed_at_.count() == 0 ? sys::SteadyNow() : closed_at_) - snapshot_at_;
}

}  // namespace weir::extract
