#pragma once
// Progress: counters one export keeps up to date for whoever shows them.
#include <atomic>
#include <cstdint>

namespace weir::extract {

/// Written by the export's thread, read by any.
struct Progress {
  std::atomic<int64_t> rows{0};
  std::atomic<int64_t> read_bytes{0};     ///< Of the COPY stream.
  std::atomic<int64_t> written_bytes{0};  ///< Of the output files.
  std::atomic<int64_t> expected_rows{-1}; ///< The catalog's estimate; -1: unknown.
};

}  // namespace weir::extract
