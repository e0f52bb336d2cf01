#include "weir/experiment/object_times.h"

#include <charconv>

#include "weir/base/units.h"

namespace weir::experiment {
namespace {

constexpr const char* kHeader =
    "sf,scenario,flavor,object,object_kind,trial,hydration_seconds,time_ns,pressure,settings_hash";
// Columns of the header that are read back.
constexpr size_t kObject = 3;
constexpr size_t kTrial = 5;
constexpr size_t kHydrationSeconds = 6;
constexpr size_t kTimeNanos = 7;
constexpr size_t kSettingsHash = 9;
constexpr size_t kColumns = 10;
constexpr int64_t kMostBytes = 64 * kMiB;  // A line is about 100 bytes.

std::string PathIn(const std::string& folder) { return sys::JoinPath(folder, "objects.csv"); }

Result<std::string> ReadLines(sys::Files& files, const std::string& folder) {
  if (!files.Exists(PathIn(folder))) return std::string();
  WEIR_TRY(std::string all, files.Read(PathIn(folder), kMostBytes));
  const size_t header = all.find('\n');
  if (header == all.npos || all.compare(0, header, kHeader) != 0) {
    return Fail(Code::kCorrupt, "'{}' has another header than '{}': choose another folder",
                PathIn(folder), kHeader);
  }
  return all.substr(header + 1);
}

std::string LineOf(const ObjectCell& cell, const ObjectTime& time) {
  return fmt::format("{},{},{},{},index,{},{:.6f},{},{},{}\n", cell.scale_factor, cell.scenario,
                     cell.rung, time.object, cell.trial, time.hydration_s, time.time_ns,
                     cell.pressure, cell.settings_hash);
}

std::vector<std::string_view> FieldsOf(std::string_view line) {
  std::vector<std::string_view> fields;
  while (true) {
    const size_t comma = line.find(',');
    fields.push_back(line.substr(0, comma));
    if (comma == line.npos) return fields;
    line.remove_prefix(comma + 1);
  }
}

template <typename T>
bool ReadNumber(std::string_view text, T& number) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  return error == std::errc() && end == text.data() + text.size();
}

Result<RecordedObject> ReadLine(std::string_view line) {
  const std::vector<std::string_view> fields = FieldsOf(line);
  RecordedObject object;
  if (fields.size() != kColumns || !ReadNumber(fields[kTrial], object.trial) ||
      !ReadNumber(fields[kHydrationSeconds], object.time.hydration_s) ||
      !ReadNumber(fields[kTimeNanos], object.time.time_ns)) {
    return Fail(Code::kCorrupt, "'{}' is no line of objects.csv: choose another folder", line);
  }
  object.time.object = fields[kObject];
  object.settings_hash = fields[kSettingsHash];
  return object;
}

// Calls `take` with each line.
template <typename Take>
Status ForEachLine(std::string_view lines, Take take) {
  while (!lines.empty()) {
    const std::string_view line = lines.substr(0, lines.find('\n'));
    lines.remove_prefix(std::min(lines.size(), line.size() + 1));
    WEIR_DO(take(line));
  }
  return Ok();
}

}  // namespace

Status RecordObjects(sys::Files& files, const std::string& folder, const ObjectCell& cell,
                     const std::vector<ObjectTime>& objects) {
  WEIR_TRY(const std::string before, ReadLines(files, folder));
  std::string all = fmt::format("{}\n", kHeader);
  WEIR_DO(ForEachLine(before, [&](std::string_view line) -> Status {
    WEIR_TRY(const RecordedObject other, ReadLine(line));
    const bool same = other.settings_hash == cell.settings_hash && other.trial == cell.trial;
    if (!same) all += fmt::format("{}\n", line);
    return Ok();
  }));
  for (const ObjectTime& time : objects) all += LineOf(cell, time);
  return files.ReplaceWhole(PathIn(folder), all);
}

Result<std::vector<RecordedObject>> ReadObjects(sys::Files& files, const std::string& folder) {
  WEIR_TRY(const std::string lines, ReadLines(files, folder));
  std::vector<RecordedObject> objects;
  WEIR_DO(ForEachLine(lines, [&](std::string_view line) -> Status {
    WEIR_TRY(RecordedObject object, ReadLine(line));
    objects.push_back(std::move(object));
    return Ok();
  }));
  return objects;
}

}  // namespace weir::experiment
