#pragma once
// PoolOptions: how a pool spills.
#include <cstdint>

namespace weir::mem {

/// What a producer does when the spill threads have not freed memory in time.
enum class SpillHandoff : uint8_t {
  kHelp,   ///< Evicts for itself.
  kBlock,  ///< Waits for a spill thread, as the pool did that this one is measured against.
};

/// Which pages of compress_min_depth and more are compressed before they are written.
enum class SpillCodec : uint8_t {
  kAlways,
  kWhereQuicker,  ///< Where a thread is done sooner so than with writing more (codec_choice.cc).
                  ///< Stored forms that stay in memory are always compressed.
};

struct PoolOptions {
  static constexpr int kNeverCompress = 255;

  bool spill = true;              ///< Off: everything stays in memory, whatever the budget.
  int spill_threads = 2;          ///< 0: producers evict for themselves.
  SpillHandoff handoff = SpillHandoff::kHelp;
  int compress_min_depth = 1;     ///< Pages of fewer merges are stored as they are.
  SpillCodec codec = SpillCodec::kAlways;
  bool eager_backing = false;     ///< Idle spill threads store pages before memory runs out.
  int64_t reserve_bytes = 16 << 20;  ///< What spill threads try to keep free.
};

}  // namespace weir::mem
