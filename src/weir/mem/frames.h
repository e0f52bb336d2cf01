#pragma once
// Frames: memory in power-of-two sizes, charged to a budget and recycled while warm.
#include <array>
#include <atomic>
#include <cstdint>
#include <mutex>
#include <vector>

#include "weir/mem/address_range_internal.h"
#include "weir/mem/budget.h"

namespace weir::mem {

/// What Frames has done so far, and holds now.
struct FrameCounters {
  int64_t warm_bytes = 0;    ///< Free, still backed by memory and charged.
  int64_t warm_reuses = 0;   ///< Frames handed out that way: no page fault, no system call.
  int64_t fresh_frames = 0;  ///< Frames whose memory the kernel had to find.
  int64_t releases = 0;      ///< Times that warm memory went back to the kernel.
};

enum class FrameSource : uint8_t {
  kReserved,  ///< A range of addresses for each size; free frames stay warm.
  kHeap,      ///< malloc and free, a call for each frame: what the other is measured against.
};

/// Hands out frames of 64 KiB to 8 MiB. A freed frame stays warm and charged, for the next of its
/// size; when the budget refuses a frame, warm ones of other sizes go back to the kernel for it.
/// More than 8 MiB is a chain of 8 MiB frames that lie one after another.
///
/// Addresses come from one reserved range per size; frames of 2 MiB and more ask for huge pages.
///
/// Alignment: the frame's size, at most 2 MiB. Threads: any.
class Frames {
 public:
  static constexpr int64_t kLeastBytes = 64 << 10;
  static constexpr int64_t kMostBytes = 8 << 20;
  static constexpr int kClassCount = 8;

  /// `reserve_bytes` of addresses are reserved per size: no more than that can be out at once.
  /// Where the kernel refuses so many (ulimit -v), about half of what it has is for all sizes.
  Frames(Budget& budget, int64_t reserve_bytes, FrameSource source = FrameSource::kReserved);
  ~Frames();  ///< Aborts when frames are still out.
  Frames(const Frames&) = delete;
  Frames& operator=(const Frames&) = delete;

  /// The size of the frame for `bytes`: what is charged, and usable in full.
  static int64_t FrameBytes(int64_t bytes);

  /// A frame of FrameBytes(bytes), not zeroed.
  /// Errors: kExhausted from the budget when no warm frame can be given up for it, or when the
  ///         addresses are used up or the kernel refuses memory; it names what to raise then.
  Result<uint8_t*> Allocate(int64_t bytes);
  /// `bytes` is what the frame was asked for.
  void Free(uint8_t* frame, int64_t bytes);

  /// Gives warm frames back to the kernel until `bytes` are uncharged or none is left. Returns the
  /// bytes uncharged.
  int64_t ReleaseWarm(int64_t bytes);
  /// Charges the budget, for which warm frames are given up. Errors: kExhausted.
  Status Charge(int64_t bytes);

  Budget& budget() { return budget_; }
  FrameCounters counters() const;

 private:
  struct SizeClass {
    int64_t frame_bytes = 0;
    mutable std::mutex mutex;
    AddressRange range;          // In it a frame is taken while it is out or warm.
    std::vector<uint8_t*> warm;  // The last one freed is the first to go out again.
  };

  static int ClassOf(int64_t bytes);
  void ReserveWhatThereIs();
  bool ReserveEach(int64_t bytes);
  Error NoAddresses(int64_t bytes) const;
  Result<uint8_t*> AllocateFromHeap(int64_t bytes);
  uint8_t* TakeWarm(SizeClass& in);
  uint8_t* TakeCold(SizeClass& in, int64_t frames);
  Result<uint8_t*> AllocateChain(int64_t bytes);
  void AddCold(SizeClass& in, const uint8_t* frame, int64_t frames);
  void FreeChain(uint8_t* frame, int64_t bytes);
  bool ReleaseOne(SizeClass& in);

  Budget& budget_;
  const int64_t reserve_bytes_;
  int64_t reserved_bytes_ = 0;  // Of addresses, per size.
  const FrameSource source_;
  std::array<SizeClass, kClassCount> classes_;
  std::atomic<int64_t> out_{0};
  std::atomic<int64_t> warm_bytes_{0};
  std::atomic<int64_t> warm_reuses_{0};
  std::atomic<int64_t> fresh_frames_{0};
  std::atomic<int64_t> releases_{0};
};

}  // namespace weir::mem
