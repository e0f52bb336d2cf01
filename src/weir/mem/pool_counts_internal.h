#pragma once
// What a pool counts while it works.
#include <atomic>

#include "weir/mem/pool.h"

namespace weir::mem {

struct Pool::Atomics {
  std::atomic<int64_t> inserts{0};
  std::atomic<int64_t> frees{0};
  std::atomic<int64_t> resident_bytes{0};
  std::atomic<int64_t> freed_bytes{0};  // Of frames that pages gave up: grows as memory is freed.
  std::atomic<int64_t> writes_elided{0};
  std::atomic<int64_t> evictions_compress{0};
  std::atomic<int64_t> evictions_cheap{0};
  std::atomic<int64_t> extent_bytes_written{0};
  std::atomic<int64_t> extent_raw_bytes_written{0};
  std::atomic<int64_t> extent_bytes_read{0};
  std::atomic<int64_t> loads{0};
  std::atomic<int64_t> spill_scheduled{0};
  std::atomic<int64_t> spill_cancelled{0};
  std::atomic<int64_t> spill_in_flight{0};
  std::atomic<int64_t> eager_backs{0};
  std::atomic<int64_t> producer_evictions{0};
  std::atomic<int64_t> admissions_budget{0};
  std::atomic<int64_t> admissions_steal{0};
  std::atomic<int64_t> admissions_denied{0};
};

}  // namespace weir::mem
