#pragma once
// ScratchFile: room on disk for what does not fit in memory, gone when the process is.
#include <atomic>
#include <memory>
#include <mutex>
#include <span>
#include <string>

#include "weir/base/bytes.h"
#include "weir/base/result.h"

namespace weir::sys {

/// Offsets, sizes and addresses of reads and writes are multiples of this, so that they can bypass
/// the page cache.
inline constexpr int64_t kScratchBlock = 4096;

/// What became of asking the kernel to swap memory out.
struct PageOuts {
  int64_t complete = 0;           ///< Times that nothing stayed.
  int64_t incomplete = 0;         ///< Times that some did.
  int64_t unreclaimed_bytes = 0;  ///< What is in memory still.
};

/// A file without a name, read and written at any place.
///
/// Errors:  kExhausted when the disk or the quota is full, kUnavailable for device failures; both
///          name the folder.
/// Threads: any.
class ScratchFile {
 public:
  virtual ~ScratchFile() = default;

  /// Makes sure that bytes [offset, offset + bytes) can be written without running out of disk.
  virtual Status Reserve(int64_t offset, int64_t bytes) = 0;
  /// Writes the pieces one after another, beginning at `offset`. Requires: at most 64 pieces.
  virtual Status Write(int64_t offset, std::span<const Bytes> pieces) = 0;
  /// Fills all of `to` from `offset`. Errors: also kUnavailable when the file ends before.
  virtual Status Read(int64_t offset, std::span<uint8_t> to) = 0;
  /// Nothing but of memory that the kernel swaps out.
  virtual PageOuts page_outs() const { return {}; }
};

/// A file on the disk of `folder`, with mode 0600, unlinked from the start. The page cache is
/// bypassed where the file system can (O_DIRECT).
/// Errors: kNotFound, kInvalid: the folder is missing or may not be written to.
Result<std::unique_ptr<ScratchFile>> OpenScratchFile(const std::string& folder);

/// Memory that the kernel is told to swap out as soon as it is written, and again after it was read
/// (MADV_PAGEOUT): the kernel's swap as a spill device. At most `most_bytes` of it.
/// Errors: kInvalid when the machine has no swap: nothing would ever leave memory.
Result<std::unique_ptr<ScratchFile>> OpenSwappedScratch(int64_t most_bytes);

/// Passes every call on to `below`, but for those that Fail() picks, which fail with `error`.
class FailingScratchFile final : public ScratchFile {
 public:
  enum class Step : uint8_t { kNone, kReserve, kWrite, kRead, kCorruptRead };

  FailingScratchFile(std::unique_ptr<ScratchFile> below, Error error)
      : below_(std::move(below)), error_(std::move(error)) {}

  /// From the n-th call of this kind on (0: the next one), `count` calls fail; kCorruptRead flips a
  /// bit of what was read instead.
  void Fail(Step step, int64_t after, int64_t count);
  /// Calls that failed, or flipped a bit.
  int64_t strikes() const { return strikes_.load(); }

  Status Reserve(int64_t offset, int64_t bytes) override;
  Status Write(int64_t offset, std::span<const Bytes> pieces) override;
  Status Read(int64_t offset, std::span<uint8_t> to) override;

 private:
  bool Strikes(Step step);

  const std::unique_ptr<ScratchFile> below_;
  const Error error_;
  std::mutex mutex_;
  Step step_ = Step::kNone;
  int64_t after_ = 0;
  int64_t left_ = 0;
  std::atomic<int64_t> strikes_{0};
};

}  // namespace weir::sys
