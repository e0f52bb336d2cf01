#pragma once
// AddressRange: addresses that are reserved at once and become memory as they are taken.
#include <cstdint>

#include "weir/mem/free_runs_internal.h"

namespace weir::mem {

/// Addresses are reserved without access, so that they count for nothing where the kernel promises
/// no more memory than it has (vm.overcommit_memory=2), and are opened from the front.
///
/// Alignment: 2 MiB at its front. Threads: one at a time; GiveBack any.
class AddressRange {
 public:
  AddressRange() = default;
  ~AddressRange() { Unreserve(); }
  AddressRange(const AddressRange&) = delete;
  AddressRange& operator=(const AddressRange&) = delete;

  /// `bytes` of addresses, to be taken by units of `unit_bytes`; `advice` is madvise's. What was
  /// reserved before goes. False: the kernel refuses, and there are none.
  bool Reserve(int64_t bytes, int64_t unit_bytes, int advice);
  void Unreserve();

  /// Units that lie one after another; null: so many are not left, or the kernel refuses memory.
  uint8_t* Take(int64_t units);
  /// They may be taken again. Requires: GiveBack() was called for them.
  void Free(const uint8_t* first, int64_t units);
  /// Gives the memory back to the kernel; the addresses stay taken.
  static void GiveBack(uint8_t* memory, int64_t bytes);

 private:
  bool OpenTo(int64_t bytes);

  void* mapped_ = nullptr;
  uint8_t* base_ = nullptr;
  int64_t bytes_ = 0;
  int64_t unit_bytes_ = 1;
  int64_t open_bytes_ = 0;  // From the front, with access.
  int64_t used_units_ = 0;  // Ever taken: the rest was never touched.
  FreeRuns free_;           // Of those.
};

}  // namespace weir::mem
