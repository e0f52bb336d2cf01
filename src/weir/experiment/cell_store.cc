#include "weir/experiment/cell_store.h"

#include <sys/utsname.h>
#include <unistd.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "weir/base/fault.h"
#include "weir/base/units.h"
#include "weir/base/version.h"
#include "weir/sys/hash.h"

namespace weir::experiment {
namespace {

constexpr std::string_view kCellsName = "cells.csv";
constexpr std::string_view kSettingsName = "settings.json";
constexpr int64_t kLimitBytes = 64 * kMiB;  // A cell is about 400 bytes: 160,000 of them.

// The whole file; empty when it is not there.
Result<std::string> ReadIfThere(sys::Files& files, const std::string& path) {
  if (!files.Exists(path)) return std::string();
  return files.Read(path, kLimitBytes);
}

std::string ProcessorName() {
  sys::DiskFiles files;
  const auto text = files.Read("/proc/cpuinfo", kMiB);
  if (!text.ok()) return "unknown processor";
  const size_t line = text.value().find("model name");
  const size_t start = text.value().find(": ", line);
  if (line == std::string::npos || start == std::string::npos) return "unknown processor";
  return text.value().substr(start + 2, text.value().find('\n', start) - start - 2);
}

std::string SettingsJson(const Measurements& measurements) {
  nlohmann::ordered_json json = {{"build", measurements.origin.build},
                                 {"machine", measurements.origin.machine},
                                 {"settings", nlohmann::ordered_json::object()}};
  for (const auto& [hash, settings] : measurements.settings) {
    json["settings"][hash] = settings.values();
  }
  return json.dump(1) + "\n";
}

Status ReadSettings(const std::string& text, Measurements& measurements) {
  const auto json = nlohmann::json::parse(text, nullptr, false);
  if (!json.is_object() || !json.contains("build") || !json.contains("machine") ||
      !json.contains("settings")) {
    return Fail(Code::kCorrupt, "{} is not what a bench writes", kSettingsName);
  }
  try {
    measurements.origin = {json["build"].get<std::string>(), json["machine"].get<std::string>()};
    for (const auto& [hash, values] : json["settings"].items()) {
      for (const auto& [name, value] : values.items()) {
        measurements.settings[hash].Set(name, value.get<std::string>());
      }
    }
  } catch (const nlohmann::json::exception& error) {
    return Fail(Code::kCorrupt, "{} is not what a bench writes: {}", kSettingsName, error.what());
  }
  return Ok();
}

}  // namespace

Settings& Settings::Set(const std::string& name, std::string value) {
  values_[name] = std::move(value);
  return *this;
}

Settings& Settings::Set(const Cell& cell) {
  for (const CellKey& key : CellKeys()) {
    if (cell.Has(key.name)) Set(std::string(key.name), cell.Text(key.name));
  }
  return *this;
}

std::string Settings::Hash() const {
  sys::Xxh3Stream stream;
  for (const auto& [name, value] : values_) {
    stream.Append(AsBytes(fmt::format("{}:{}={}:{}\n", name.size(), name, value.size(), value)));
  }
  return stream.Hex();
}

std::string Settings::Get(const std::string& name) const {
  const auto found = values_.find(name);
  return found == values_.end() ? std::string() : found->second;
}

Origin ThisOrigin() {
  utsname kernel{};
  (void)uname(&kernel);
  const int64_t memory = int64_t{sysconf(_SC_PHYS_PAGES)} * sysconf(_SC_PAGESIZE);
  return {fmt::format("weir {} ({})", Version(), Commit()),
          fmt::format("{}, {} cores, {} of memory, {} {}", ProcessorName(),
                      sysconf(_SC_NPROCESSORS_ONLN), FormatBytes(memory), kernel.sysname,
                      kernel.release)};
}

Result<Measurements> ReadMeasurements(sys::Files& files, const std::string& folder) {
  const std::string cells_path = sys::JoinPath(folder, kCellsName);
  if (!files.Exists(cells_path)) {
    return Fail(Code::kNotFound, "no {} in '{}': name a folder that `weir bench` wrote to",
                kCellsName, folder);
  }
  Measurements measurements;
  WEIR_TRY(const std::string cells, files.Read(cells_path, kLimitBytes));
  WEIR_TRY(measurements.cells, ParseCells(cells), "{}", cells_path);
  const std::string settings_path = sys::JoinPath(folder, kSettingsName);
  WEIR_TRY(const std::string settings, files.Read(settings_path, kLimitBytes));
  WEIR_DO(ReadSettings(settings, measurements), "{}", folder);
  WEIR_TRY(measurements.objects, ReadObjects(files, folder));
  return measurements;
}

Result<CellStore> CellStore::Open(sys::Files& files, const std::string& folder, Origin origin) {
  WEIR_DO(files.MakeFolder(folder));
  CellStore store(files, folder);
  store.measurements_.origin = origin;
  const std::string settings_path = sys::JoinPath(folder, kSettingsName);
  WEIR_TRY(const std::string settings, ReadIfThere(files, settings_path));
  WEIR_TRY(store.written_, ReadIfThere(files, sys::JoinPath(folder, kCellsName)));
  if (settings.empty() && !store.written_.empty()) {
    return Fail(Code::kCorrupt, "'{}' has a {} without a {}: choose another folder", folder,
                kCellsName, kSettingsName);
  }
  if (settings.empty()) return store;

  WEIR_DO(ReadSettings(settings, store.measurements_), "{}", folder);
  const Origin& before = store.measurements_.origin;
  if (before.build != origin.build || before.machine != origin.machine) {
    return Fail(Code::kInvalid,
                "'{}' holds cells of {} on {}; this is {} on {}: choose another folder", folder,
                before.build, before.machine, origin.build, origin.machine);
  }
  WEIR_TRY(store.measurements_.cells, ParseCells(store.written_), "{}/{}", folder, kCellsName);
  return store;
}

const Cell* CellStore::Find(const std::string& settings_hash, int64_t trial) const {
  const std::string trial_text = std::to_string(trial);
  for (const Cell& cell : measurements_.cells) {
    if (cell.Text("settings_hash") == settings_hash && cell.Text("trial") == trial_text) {
      return &cell;
    }
  }
  return nullptr;
}

// Before the cell, so that a cell never stands without its settings.
Status CellStore::RecordSettings(const Settings& settings) {
  if (!measurements_.settings.emplace(settings.Hash(), settings).second) return Ok();
  return files_->ReplaceWhole(sys::JoinPath(folder_, kSettingsName), SettingsJson(measurements_));
}

Status CellStore::Append(Cell cell, const Settings& settings) {
  WEIR_ASSERT(cell.Text("settings_hash") == settings.Hash());
  WEIR_ASSERT(Find(settings.Hash(), static_cast<int64_t>(*cell.Number("trial"))) == nullptr);
  const std::string path = sys::JoinPath(folder_, kCellsName);
  WEIR_TRY(const std::string now, ReadIfThere(*files_, path));
  if (now != written_) {
    return Fail(Code::kInvalid, "another process writes to '{}': end it, or choose another folder",
                path);
  }
  WEIR_DO(RecordSettings(settings));
  measurements_.cells.push_back(std::move(cell));
  written_ = CsvHeader() + "\n";
  for (const Cell& each : measurements_.cells) written_ += each.CsvLine() + "\n";
  WEIR_DO(files_->ReplaceWhole(path, written_));
  return FaultPoint("cell_store.recorded");
}

}  // namespace weir::experiment
