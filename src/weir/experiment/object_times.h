#pragma once
// ObjectTimes: objects.csv, every object of every cell of a hydrate ladder.
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "weir/base/result.h"
#include "weir/sys/files.h"

namespace weir::experiment {

/// The cell that objects belong to. Numbers as they stand in cells.csv.
struct ObjectCell {
  std::string scale_factor;
  std::string scenario;
  std::string rung;
  std::string pressure;
  std::string settings_hash;
  int64_t trial = 0;
};

struct ObjectTime {
  std::string object;
  double hydration_s = 0;  ///< From the start of its hydration to its end.
  int64_t time_ns = 0;     ///< From its creation until it can be read.
};

/// One object of one cell, as a report reads it back.
struct RecordedObject {
  std::string settings_hash;
  int64_t trial = 0;
  ObjectTime time;
};

/// Puts the objects of a cell into folder/objects.csv, in place of those that it had there: of a
/// cell that was measured and not recorded.
/// Errors: of sys::Files.
Status RecordObjects(sys::Files& files, const std::string& folder, const ObjectCell& cell,
                     const std::vector<ObjectTime>& objects);

/// Everything in folder/objects.csv; nothing when it is not there.
/// Errors: kCorrupt with the line.
Result<std::vector<RecordedObject>> ReadObjects(sys::Files& files, const std::string& folder);

}  // namespace weir::experiment
