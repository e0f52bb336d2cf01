// The kernel's swap as a spill device.
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <vector>

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
  // `base`: of `most_bytes` that are mapped without access.
  SwappedScratch(void* base, int64_t most_bytes)
      : most_bytes_(most_bytes),
        pagemap_(open("/proc/self/pagemap", O_RDONLY | O_CLOEXEC)),
        base_(static_cast<uint8_t*>(base)) {
    (void)madvise(base_, static_cast<size_t>(most_bytes), MADV_NOHUGEPAGE);  // Whole pages leave.
  }
  ~SwappedScratch() override {
    munmap(base_, static_cast<size_t>(most_bytes_));
    if (pagemap_ >= 0) close(pagemap_);
  }
  SwappedScratch(const SwappedScratch&) = delete;
  SwappedScratch& operator=(const SwappedScratch&) = delete;

  Status Reserve(int64_t offset, int64_t bytes) override {
    if (offset + bytes > most_bytes_) {
      return Fail(Code::kExhausted, "memory to be swapped out has reached its limit of {}; raise "
                  "--spill-limit", FormatBytes(most_bytes_));
    }
    if (mprotect(base_ + offset, static_cast<size_t>(bytes), PROT_READ | PROT_WRITE) == 0) {
      return Ok();
    }
    return Fail(Code::kExhausted, "the kernel refuses {} more to be swapped out: {}; raise "
                "vm.overcommit_ratio or spill to a file", FormatBytes(bytes),
                std::strerror(errno));
  }

  Status Write(int64_t offset, std::span<const Bytes> pieces) override {
    uint8_t* to = base_ + offset;
    for (const Bytes piece : pieces) {
      std::memcpy(to, piece.data(), piece.size());
      to += piece.size();
    }
    PageOut(offset, to - base_ - offset);
    return Ok();
  }

  Status Read(int64_t offset, std::span<uint8_t> to) override {
    std::memcpy(to.data(), base_ + offset, to.size());
    PageOut(offset, std::ssize(to));
    return Ok();
  }

  PageOuts page_outs() const override {
    return {complete_.load(), incomplete_.load(), unreclaimed_.load()};
  }

 private:
  using Present = std::vector<bool>;  // By page.

  // Asks for the pages to leave until none is here or asking does not help, and notes which stay.
  void PageOut(int64_t offset, int64_t bytes) {
    constexpr int kMostTries = 3;
    Present here(static_cast<size_t>(bytes / kScratchBlock), true);
    for (int tries = 0; tries < kMostTries; ++tries) {
      if (madvise(base_ + offset, static_cast<size_t>(bytes), MADV_PAGEOUT) != 0) break;
      here = PresentPages(offset, bytes);
      const bool stays = std::find(here.begin(), here.end(), true) != here.end();
      ++(stays ? incomplete_ : complete_);
      if (!stays) break;
    }
    Note(offset, here);
  }

  // What was noted of these pages before no longer counts.
  void Note(int64_t offset, const Present& here) {
    const std::lock_guard lock(mutex_);
    const auto first = static_cast<size_t>(offset / kScratchBlock);
    if (stayed_.size() < first + here.size()) stayed_.resize(first + here.size());
    const auto at = stayed_.begin() + static_cast<ptrdiff_t>(first);
    const auto before = std::count(at, at + std::ssize(here), true);
    std::copy(here.begin(), here.end(), at);
    unreclaimed_ += kScratchBlock * (std::count(here.begin(), here.end(), true) - before);
  }

  // As the page tables have it: what is in the swap cache too has left.
  Present PresentPages(int64_t offset, int64_t bytes) const {
    constexpr uint64_t kPresent = uint64_t{1} << 63;
    const auto first = (reinterpret_cast<uintptr_t>(base_) + static_cast<uintptr_t>(offset)) /
                       static_cast<uintptr_t>(kScratchBlock);
    std::vector<uint64_t> pages(static_cast<size_t>(bytes / kScratchBlock));
    const auto size = static_cast<ssize_t>(pages.size() * sizeof(uint64_t));
    if (pread(pagemap_, pages.data(), static_cast<size_t>(size),
              static_cast<off_t>(first * sizeof(uint64_t))) != size) {
      return Present(pages.size(), true);
    }
    Present here(pages.size());
    std::transform(pages.begin(), pages.end(), here.begin(),
                   [](uint64_t page) { return (page & kPresent) != 0; });
    return here;
  }

  const int64_t most_bytes_;
  const int pagemap_;
  uint8_t* const base_;
  std::mutex mutex_;
  Present stayed_;  // Guarded by mutex_: of all written, as it was when last asked to leave.
  std::atomic<int64_t> unreclaimed_{0};  // Of those, bytes.
  std::atomic<int64_t> complete_{0};
  std::atomic<int64_t> incomplete_{0};
};

}  // namespace

Result<std::unique_ptr<ScratchFile>> OpenSwappedScratch(int64_t most_bytes) {
  if (!HasSwap()) {
    return Fail(Code::kInvalid,
                "this machine has no swap, so that nothing could be swapped out; turn some on "
                "(swapon) or spill to a file");
  }
  void* const base = mmap(nullptr, static_cast<size_t>(most_bytes), PROT_NONE,
                          MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (base == MAP_FAILED) {
    return Fail(Code::kExhausted,
                "the kernel refuses addresses for {} to be swapped out: {}; lower --spill-limit or "
                "raise ulimit -v", FormatBytes(most_bytes), std::strerror(errno));
  }
  return std::unique_ptr<ScratchFile>(std::make_unique<SwappedScratch>(base, most_bytes));
}

}  // namespace weir::sys
