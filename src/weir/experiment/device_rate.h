#pragma once
// DeviceRate: how fast the disk of a folder takes and gives what a pool spills.
#include <cstdint>
#include <string>

#include "weir/base/result.h"
#include "weir/sys/clock.h"

namespace weir::experiment {

struct DeviceRate {
  double write_bytes_per_s = 0;
  double read_bytes_per_s = 0;
};

/// Writes `total_bytes` one after another into a scratch file of `folder` and reads them back, past
/// the page cache where the file system can (O_DIRECT), in blocks of 1 MiB: what a pool writes at
/// once. The bytes cannot be compressed.
/// Errors:   of sys::OpenScratchFile and sys::ScratchFile.
/// Requires: total_bytes is a multiple of 1 MiB, and not 0.
Result<DeviceRate> MeasureDeviceRate(const std::string& folder, int64_t total_bytes,
                                     sys::Clock& clock);

}  // namespace weir::experiment
