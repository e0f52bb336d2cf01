// The kernel's swap as a spill device.
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <vector>

#include "weir/base/assert.h"
#include "weir/base/units.h"
#include "weir/sys/scratch_file.h"

namespace weir::sys {
namespace {

// The second line of /proc/swaps is the first device.
bool HasSwap() {
  std::FILE* const swaps = std::fopen("/proc/swaps", "re");
  if (swaps == nullptr) return false;
  char line[512];
  int lines = 0;
  while (std::fgets(line, sizeof line, swaps) != nullptr) ++lines;
  std::fclose(swaps);
  return lines > 1;
}

class SwappedScratch final : public ScratchFile {
 public:
  explicit SwappedScratch(int64_t most_bytes)
      : most_bytes_(most_bytes), pagemap_(open("/proc/self/pagemap", O_RDONLY | O_CLOEXEC)) {
    void* const base = mmap(nullptr, static_cast<size_t>(most_bytes), PROT_READ | PROT_WRITE,
                            MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    WEIR_ASSERT(base != MAP_FAILED);
    base_ = static_cast<uint8_t*>(base);
    (void)madvise(base_, static_cast<size_t>(most_bytes), MADV_NOHUGEPAGE);  // Whole pages leave.
  }
  ~SwappedScratch() override {
    munmap(base_, static_cast<size_t>(most_bytes_));
    if (pagemap_ >= 0) close(pagemap_);
  }
  SwappedScratch(const SwappedScratch&) = delete;
  SwappedScratch& operator=(const SwappedScratch&) = delete;

  Status Reserve(int64_t offset, int64_t bytes) override {
    if (offset + bytes <= most_bytes_) return Ok();
    return Fail(Code::kExhausted, "memory to be swapped out has reached its limit of {}; raise "
                "--spill-limit", FormatBytes(most_bytes_));
  }

  Status Write(int64_t offset, std::span<const Bytes> pieces) override {
    uint8_t* to = base_ + offset;
    for (const Bytes piece : pieces) {
      std::memcpy(to, piece.data(), piece.size());
      to += piece.size();
    }
    unreclaimed_ += PageOut(offset, to - base_ - offset);
    return Ok();
  }

  Status Read(int64_t offset, std::span<uint8_t> to) override {
    std::memcpy(to.data(), base_ + offset, to.size());
    (void)PageOut(offset, std::ssize(to));
    return Ok();
  }

  int64_t unreclaimed_bytes() const override { return unreclaimed_.load(); }

 private:
  // Asks for the pages to leave until none is here or asking does not help; returns the bytes of
  // those that stay.
  int64_t PageOut(int64_t offset, int64_t bytes) const {
    constexpr int kMostTries = 3;
    int64_t here = bytes;
    for (int tries = 0; here > 0 && tries < kMostTries; ++tries) {
      if (madvise(base_ + offset, static_cast<size_t>(bytes), MADV_PAGEOUT) != 0) break;
      here = PresentBytes(offset, bytes);
    }
    return here;
  }

  // As the page tables have it: what is in the swap cache too has left.
  int64_t PresentBytes(int64_t offset, int64_t bytes) const {
    constexpr uint64_t kPresent = uint64_t{1} << 63;
    const auto first = (reinterpret_cast<uintptr_t>(base_) + static_cast<uintptr_t>(offset)) /
                       static_cast<uintptr_t>(kScratchBlock);
    std::vector<uint64_t> pages(static_cast<size_t>(bytes / kScratchBlock));
    const auto size = static_cast<ssize_t>(pages.size() * sizeof(uint64_t));
    if (pread(pagemap_, pages.data(), static_cast<size_t>(size),
              static_cast<off_t>(first * sizeof(uint64_t))) != size) {
      return bytes;
    }
    return kScratchBlock * std::count_if(pages.begin(), pages.end(), [](uint64_t page) {
             return (page & kPresent) != 0;
           });
  }

  const int64_t most_bytes_;
  const int pagemap_;
  uint8_t* base_;
  std::atomic<int64_t> unreclaimed_{0};
};

}  // namespace

Result<std::unique_ptr<ScratchFile>> OpenSwappedScratch(int64_t most_bytes) {
  if (!HasSwap()) {
    return Fail(Code::kInvalid,
                "this machine has no swap, so that nothing could be swapped out; turn some on "
                "(swapon) or spill to a file");
  }
  return std::unique_ptr<ScratchFile>(std::make_unique<SwappedScratch>(most_bytes));
}

}  // namespace weir::sys
