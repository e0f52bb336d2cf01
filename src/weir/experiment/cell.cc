#include "weir/experiment/cell.h"

#include <algorithm>
#include <charconv>
#include <nlohmann/json.hpp>

namespace weir::experiment {
namespace {

constexpr CellKey kKeys[] = {
    {"ladder", true},
    {"rung", true},
    {"kind", true},
    {"mode", true},
    {"policy", true},
    {"scale_factor"},
    {"rows"},
    {"jobs"},
    {"workers"},
    {"subworkers"},
    {"pressure"},
    {"concurrency"},
    {"trial"},
    {"wall_s"},
    {"span_s"},
    {"geomean_s"},
    {"sum_time_ns"},
    {"rows_per_s"},
    {"jobs_per_s"},
    {"pull_statements_per_job"},
    {"commits_per_job"},
    {"tuples_returned"},
    {"tuples_returned_per_job"},
    {"snapshot_hold_ms"},
    {"slept_ms"},
    {"source_wait_ms"},
    {"encode_ms"},
    {"peak_rss_bytes"},
    {"peak_swap_bytes"},
    {"utime_s"},
    {"stime_s"},
    {"stall_s"},
    {"major_faults"},
    {"extent_bytes_written"},
    {"restarts"},
    {"objects_done"},
    {"digest", true},
    {"settings_hash", true},
    {"objects", true},
    {"order", true},
    {"scenario", true},
    {"complete", true},
    {"memory_bytes"},
    {"spill_threads"},
    {"spill_handoff", true},
    {"floor_per_s"},
    {"floor_ratio"},
    {"batches"},
    {"rows_per_batch"},
    {"planned_sleep_ms"},
    {"output_bytes"},
    {"blks_read"},
    {"blks_hit"},
    {"temp_files"},
    {"longest_statement_ms"},
    {"buffers_evicted"},
    {"longest_statistic_bytes"},
    {"decode_s"},
    {"exchange_s"},
    {"sort_s"},
    {"merge_s"},
    {"copy_s"},
    {"codec_s"},
    {"io_s"},
    {"row_encode_s"},  // This and the next: of folders written before the split was finer.
    {"seal_s"},
    {"peak_anonymous_bytes"},
    {"encode_s"},
    {"other_s"},
    {"uncounted_s"},
    {"cpu_split_ratio"},
    {"wait_spill_s"},
    {"wait_read_s"},
    {"wait_budget_s"},
    {"wait_meet_s"},
    {"wait_fault_s"},
    {"device_read_bytes"},
    {"device_written_bytes"},
    {"fewest_busy_cores"},
    {"spill_pinned_s"},
    {"ledger_gap_bytes"},
    {"update_bytes"},
    {"extent_raw_bytes_written"},
    {"extent_bytes_read"},
    {"limit_bytes"},
    {"peak_usage_bytes"},
    {"peak_working_set_bytes"},
    {"write_bytes_per_s"},
    {"read_bytes_per_s"},
    {"probe_sorted_per_s"},
    {"probe_random_per_s"},
    {"probe_digest", true},
    {"content_hash", true},
    {"budget_fraction"},
    {"eager_backing", true},
    {"compress_min_depth"},
    {"spill_codec", true},
    {"void", true},
    {"objects_compared"},
    {"geomean_ratio"},
    {"median_ratio"},
    {"large_geomean_ratio"},
    {"large_median_ratio"},
};

size_t IndexOf(std::string_view key) {
  const auto* found = std::find_if(std::begin(kKeys), std::end(kKeys),
                                   [&](const CellKey& known) { return known.name == key; });
  if (found == std::end(kKeys)) AssertionFailed(std::string(key).c_str(), __FILE__, __LINE__);
  return static_cast<size_t>(found - std::begin(kKeys));
}

std::optional<double> ReadNumber(const std::string& text) {
  double number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return number;
}

std::string Quoted(const std::string& text) {
  if (text.find_first_of(",\"") == text.npos) return text;
  std::string quoted = "\"";
  for (const char c : text) quoted.append(c == '"' ? 2 : 1, c);
  return quoted + "\"";
}

std::vector<std::string> SplitLine(std::string_view line) {
  std::vector<std::string> fields(1);
  bool inside = false;
  for (size_t at = 0; at < line.size(); ++at) {
    const char c = line[at];
    const bool doubled = inside && c == '"' && at + 1 < line.size() && line[at + 1] == '"';
    if (doubled) {
      fields.back() += c;
      ++at;
    } else if (c == '"') {
      inside = !inside;
    } else if (c == ',' && !inside) {
      fields.emplace_back();
    } else {
      fields.back() += c;
    }
  }
  return fields;
}

// The indices of the header's columns in kKeys.
Result<std::vector<size_t>> ReadHeader(std::string_view line) {
  std::vector<size_t> columns;
  for (const std::string& name : SplitLine(line)) {
    const auto* found = std::find_if(std::begin(kKeys), std::end(kKeys),
                                     [&](const CellKey& key) { return key.name == name; });
    if (found == std::end(kKeys)) {
      return Fail(Code::kInvalid,
                  "column '{}' is not known to this weir: use the one that wrote it", name);
    }
    columns.push_back(static_cast<size_t>(found - std::begin(kKeys)));
  }
  return columns;
}

Result<Cell> ReadCell(std::string_view line, const std::vector<size_t>& columns) {
  const std::vector<std::string> fields = SplitLine(line);
  if (fields.size() != columns.size()) {
    return Fail(Code::kCorrupt, "{} fields; the header has {}", fields.size(), columns.size());
  }
  Cell cell;
  for (size_t index = 0; index < fields.size(); ++index) {
    const CellKey& key = kKeys[columns[index]];
    if (!key.is_text && !fields[index].empty() && !ReadNumber(fields[index])) {
      return Fail(Code::kCorrupt, "{} is '{}', which is no number", key.name, fields[index]);
    }
    cell.Set(key.name, fields[index]);
  }
  return cell;
}

}  // namespace

std::span<const CellKey> CellKeys() { return kKeys; }

Cell::Cell() : values_(std::size(kKeys)) {}

Cell& Cell::Set(std::string_view key, std::string text) {
  WEIR_ASSERT(text.find('\n') == text.npos);
  values_[IndexOf(key)] = std::move(text);
  return *this;
}

Cell& Cell::Set(std::string_view key, int64_t number) { return Set(key, std::to_string(number)); }

Cell& Cell::Set(std::string_view key, double number) {
  std::string text = fmt::format("{:.6f}", number);
  text.erase(text.find_last_not_of('0') + 1);
  if (text.back() == '.') text.pop_back();
  return Set(key, std::move(text));
}

Cell& Cell::Merge(const Cell& other) {
  for (size_t index = 0; index < values_.size(); ++index) {
    if (!other.values_[index].empty()) values_[index] = other.values_[index];
  }
  return *this;
}

const std::string& Cell::Text(std::string_view key) const { return values_[IndexOf(key)]; }

std::optional<double> Cell::Number(std::string_view key) const { return ReadNumber(Text(key)); }

std::string Cell::CsvLine() const {
  std::string line;
  for (const std::string& value : values_) {
    if (&value != values_.data()) line += ',';
    line += Quoted(value);
  }
  return line;
}

std::string Cell::JsonLine() const {
  nlohmann::ordered_json json;
  for (size_t index = 0; index < values_.size(); ++index) {
    auto& field = json[std::string(kKeys[index].name)];
    if (values_[index].empty()) continue;  // Null.
    if (kKeys[index].is_text) {
      field = values_[index];
    } else {
      field = nlohmann::ordered_json::parse(values_[index]);
    }
  }
  return json.dump();
}

std::string CsvHeader() {
  std::string line;
  for (const CellKey& key : kKeys) {
    if (!line.empty()) line += ',';
    line += key.name;
  }
  return line;
}

Result<std::vector<Cell>> ParseCells(std::string_view text) {
  std::vector<Cell> cells;
  std::vector<size_t> columns;
  size_t end = 0;
  for (int number = 1; (end = text.find('\n')) != text.npos; ++number) {
    const std::string_view line = text.substr(0, end);
    text.remove_prefix(end + 1);
    if (number == 1) {
      WEIR_TRY(columns, ReadHeader(line), "line 1");
    } else {
      WEIR_TRY(Cell cell, ReadCell(line, columns), "line {}", number);
      cells.push_back(std::move(cell));
    }
  }
  return cells;
}

}  // namespace weir::experiment
