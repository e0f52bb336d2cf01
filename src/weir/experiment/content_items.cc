#include "weir/experiment/content_items.h"

#include <algorithm>
#include <memory>
#include <string_view>
#include <vector>

#include "weir/experiment/sql.h"
#include "weir/pg/connection.h"

namespace weir::experiment {
namespace {

constexpr std::string_view kStepLine = "-- step: ";
// Progress is told about once a second, and a stop is not kept waiting for longer.
constexpr int64_t kContentItemsRange = 20'000;
constexpr int64_t kNarrowRange = 500'000;
constexpr int64_t kWideColumnsRange = 100;

struct SeedTable {
  std::string_view name;
  std::string script;
  int64_t range_rows;
  std::string remark;  // What tells this table from others of its name and number of rows.
};

struct Step {
  std::string_view name;
  std::string_view sql;
};

// What stands between the `-- step: <name>` lines; the text before the first is a comment.
std::vector<Step> SplitSteps(std::string_view script) {
  std::vector<Step> steps;
  size_t start = script.find(kStepLine);
  while (start != script.npos) {
    script.remove_prefix(start + kStepLine.size());
    const size_t line_end = script.find('\n');
    start = script.find(kStepLine);
    const size_t end = std::min(start, script.size());
    steps.push_back({script.substr(0, line_end), script.substr(line_end, end - line_end)});
  }
  return steps;
}

void ReplaceAll(std::string& text, std::string_view from, const std::string& to) {
  for (size_t at = 0; (at = text.find(from, at)) != text.npos; at += to.size()) {
    text.replace(at, from.size(), to);
  }
}

std::string Filled(std::string_view sql, int64_t first, int64_t last) {
  std::string text(sql);
  ReplaceAll(text, ":first", std::to_string(first));
  ReplaceAll(text, ":last", std::to_string(last));
  return text;
}

// Kept as the table's comment once it is complete.
std::string Mark(const SeedTable& table, int64_t rows) {
  return fmt::format("weir seed table, rows 1 to {}{}", rows, table.remark);
}

// True when a complete table of this size is there already.
Result<bool> AlreadySeeded(pg::Connection& connection, const SeedTable& table, int64_t rows) {
  WEIR_TRY(const pg::Row row,
           connection.QueryRow("SELECT to_regclass($1)::text, obj_description(to_regclass($1))",
                               {std::string(table.name)}));
  if (!row[0]) return false;
  if (row[1] == Mark(table, rows)) return true;
  return Fail(Code::kInvalid,
              "a table of that name is there and is not a seed table of {} rows{}: drop it, or "
              "name another database",
              rows, table.remark);
}

Status InsertRows(pg::Connection& connection, const SeedTable& table, std::string_view sql,
                  int64_t rows, const SeedProgress& progress, const sys::Stop& stop) {
  for (int64_t first = 1; first <= rows; first += table.range_rows) {
    if (stop.asked()) return Fail(Code::kCancelled, "stopped after {} rows", first - 1);
    const int64_t last = std::min(rows, first + table.range_rows - 1);
    WEIR_DO(connection.Exec(Filled(sql, first, last)), "rows {} to {}", first, last);
    if (progress) progress(last, rows);
  }
  return Ok();
}

// Up to the step that commits, a failure closes the connection and so undoes everything.
Status RunScript(pg::Connection& connection, const SeedTable& table, int64_t rows,
                 const SeedProgress& progress, const sys::Stop& stop) {
  for (const Step& step : SplitSteps(table.script)) {
    if (step.name == "rows") {
      WEIR_DO(InsertRows(connection, table, step.sql, rows, progress, stop));
    } else {
      WEIR_DO(connection.Exec(Filled(step.sql, 1, rows)), "step {}", step.name);
    }
  }
  return connection.Exec(fmt::format("COMMENT ON TABLE {} IS '{}'", table.name, Mark(table, rows)));
}

Status Seed(const SeedTable& table, const std::string& url, int64_t rows,
            const SeedProgress& progress, const sys::Stop& stop) {
  if (rows <= 0) return Fail(Code::kInvalid, "a seed table of {} rows cannot be made", rows);
  WEIR_TRY(pg::Target target, pg::Target::Parse(url));
  WEIR_TRY(auto connection,
           pg::Connection::Open(std::move(target), "weir/seed", stop, pg::kNoBound));
  WEIR_TRY(const bool seeded, AlreadySeeded(*connection, table, rows), "seeding {}", table.name);
  if (seeded) return Ok();
  WEIR_DO(RunScript(*connection, table, rows, progress, stop), "seeding {}", table.name);
  return Ok();
}

}  // namespace

Status SeedContentItems(const std::string& url, int64_t rows, const SeedProgress& progress,
                        const sys::Stop& stop) {
  const SeedTable table{"content_items", std::string(sql::kContentItems), kContentItemsRange, ""};
  return Seed(table, url, rows, progress, stop);
}

Status SeedNarrow(const std::string& url, int64_t rows, const SeedProgress& progress,
                  const sys::Stop& stop) {
  const SeedTable table{"narrow", std::string(sql::kNarrow), kNarrowRange, ""};
  return Seed(table, url, rows, progress, stop);
}

Status SeedWideValue(const std::string& url, int64_t megabytes, const sys::Stop& stop) {
  SeedTable table{"wide_value", std::string(sql::kWideValue), kWideValueRows,
                  fmt::format(", one of {} MB", megabytes)};
  ReplaceAll(table.script, ":megabytes", std::to_string(megabytes));
  return Seed(table, url, kWideValueRows, nullptr, stop);
}

Status SeedWideColumns(const std::string& url, int64_t rows, const SeedProgress& progress,
                       const sys::Stop& stop) {
  const SeedTable table{"wide_columns", std::string(sql::kWideColumns), kWideColumnsRange, ""};
  return Seed(table, url, rows, progress, stop);
}

}  // namespace weir::experiment
