#pragma once
// CellStore: the cells of a bench folder, with the settings that each was measured under.
#include <map>
#include <string>
#include <vector>

#include "weir/experiment/cell.h"
#include "weir/experiment/object_times.h"
#include "weir/sys/files.h"

namespace weir::experiment {

/// All that determines what a cell measures, by name; the build and the machine apart, so that two
/// of them can be compared.
class Settings {
 public:
  Settings& Set(const std::string& name, std::string value);
  /// Takes over every value of `cell` as a setting.
  Settings& Set(const Cell& cell);

  /// 16 hex digits; another value of any setting gives another hash.
  std::string Hash() const;
  /// The value, or empty.
  std::string Get(const std::string& name) const;
  const std::map<std::string, std::string>& values() const { return values_; }

  friend bool operator==(const Settings&, const Settings&) = default;

 private:
  std::map<std::string, std::string> values_;
};

/// What one bench folder says about itself.
struct Origin {
  std::string build;    ///< Version and commit of weir.
  std::string machine;  ///< Processor, cores, memory, kernel.
};

/// This build on this machine.
Origin ThisOrigin();

/// Everything in a bench folder.
struct Measurements {
  Origin origin;
  std::map<std::string, Settings> settings;  ///< By their hash.
  std::vector<Cell> cells;                   ///< In the order in which they ended.
  std::vector<RecordedObject> objects;       ///< Of the cells of hydrate ladders.
};

/// Errors: kNotFound when no bench wrote to `folder`; kCorrupt and kInvalid as ParseCells;
///         kCorrupt as ReadObjects.
Result<Measurements> ReadMeasurements(sys::Files& files, const std::string& folder);

/// A bench folder being written to.
///
/// Shape:   cells.csv      one line per finished cell
///          settings.json  the origin, and the settings of each hash
/// Durable: a cell whose Append() returned survives a power cut. Each Append() writes the whole of
///          cells.csv, some hundred kilobytes at most, under a new name and puts it in place.
/// Threads: one.
class CellStore {
 public:
  /// Opens `folder`, which is made if missing.
  /// Errors: kInvalid when another build or machine wrote the cells in it; kCorrupt as ParseCells.
  static Result<CellStore> Open(sys::Files& files, const std::string& folder, Origin origin);

  /// The cell of this trial under these settings, if an earlier run finished it.
  const Cell* Find(const std::string& settings_hash, int64_t trial) const;

  /// Records a finished cell. Fault point: cell_store.recorded.
  /// Errors:   kInvalid when another process wrote to the folder since it was opened.
  /// Requires: the cell has its settings_hash and trial, and Find() does not find them.
  Status Append(Cell cell, const Settings& settings);

  const Measurements& measurements() const { return measurements_; }

 private:
  CellStore(sys::Files& files, std::string folder) : files_(&files), folder_(std::move(folder)) {}
  Status RecordSettings(const Settings& settings);

  sys::Files* files_;
  std::string folder_;
  Measurements measurements_;
  std::string written_;  // What cells.csv holds.
};

}  // namespace weir::experiment
