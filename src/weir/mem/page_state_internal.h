#pragma once
// PageState: what a pool knows of one page.
#include <list>
#include <mutex>

#include "weir/mem/extent_store.h"

namespace weir::mem {

enum class Residency : uint8_t { kUnbacked, kWriting, kBacked, kEvicted };

struct PageState {
  // ---- fixed
  int64_t bytes = 0;
  uint8_t depth = 0;
  // ---- guarded by mutex
  std::mutex mutex;
  Residency residency = Residency::kUnbacked;
  bool touched = false;  ///< Read since the scan last looked.
  bool freed = false;    ///< Its owner is gone; whoever writes it destroys it.
  int32_t pins = 0;
  uint8_t* frame = nullptr;  ///< Null when evicted.
  int64_t frame_bytes = 0;
  Extent extent;             ///< Of no bytes until it is backed.
  int64_t stored_bytes = 0;  ///< Of the extent, before rounding up.
  uint64_t checksum = 0;     ///< xxh3 of those.
  bool compressed = false;
  // ---- guarded by the pool's queue
  bool queued = false;
  bool wanted = false;  ///< In line to be brought back.
  std::list<PageState*>::iterator place;
};

}  // namespace weir::mem
