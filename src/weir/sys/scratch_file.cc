#include "weir/sys/scratch_file.h"

#include <fcntl.h>
#include <sys/uio.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdlib>
#include <cstring>

#include "weir/base/assert.h"
#include "weir/sys/errno_internal.h"

namespace weir::sys {
namespace {

constexpr size_t kMostPieces = 64;

Error FromErrno(int number, std::string_view doing, const std::string& folder) {
  const Code code = CodeOfErrno(number);
  return Fail(code, "cannot {} a spill file in '{}': {}{}", doing, folder, std::strerror(number),
              code == Code::kExhausted ? "; free space there or choose another --spill-dir" : "");
}

class DiskScratchFile final : public ScratchFile {
 public:
  DiskScratchFile(int fd, std::string folder) : fd_(fd), folder_(std::move(folder)) {}
  ~DiskScratchFile() override { close(fd_); }
  DiskScratchFile(const DiskScratchFile&) = delete;
  DiskScratchFile& operator=(const DiskScratchFile&) = delete;

  Status Reserve(int64_t offset, int64_t bytes) override {
    while (fallocate(fd_, 0, offset, bytes) != 0) {
      if (errno == EINTR) continue;
      if (errno == EOPNOTSUPP) return Ok();  // Found out by the write, then.
      return FromErrno(errno, "extend", folder_);
    }
    return Ok();
  }

  Status Write(int64_t offset, std::span<const Bytes> pieces) override {
    WEIR_ASSERT(pieces.size() <= kMostPieces);
    std::array<iovec, kMostPieces> vectors;
    size_t count = 0;
    for (const Bytes piece : pieces) {
      vectors[count++] = {const_cast<uint8_t*>(piece.data()), piece.size()};
    }
    iovec* at = vectors.data();
    while (count > 0) {
      const ssize_t written = pwritev(fd_, at, static_cast<int>(count), offset);
      if (written < 0) {
        if (errno == EINTR) continue;
        return FromErrno(errno, "write to", folder_);
      }
      offset += written;
      for (auto left = static_cast<size_t>(written); left > 0 || (count > 0 && at->iov_len == 0);) {
        const size_t step = std::min(left, at->iov_len);
        at->iov_base = static_cast<uint8_t*>(at->iov_base) + step;
        at->iov_len -= step;
        left -= step;
        if (at->iov_len == 0) ++at, --count;
      }
    }
    return Ok();
  }

  Status Read(int64_t offset, std::span<uint8_t> to) override {
    while (!to.empty()) {
      const ssize_t read = pread(fd_, to.data(), to.size(), offset);
      if (read < 0) {
        if (errno == EINTR) continue;
        return FromErrno(errno, "read", folder_);
      }
      if (read == 0) {
        return Fail(Code::kUnavailable, "a spill file in '{}' ends before byte {}", folder_,
                    offset + static_cast<int64_t>(to.size()));
      }
      offset += read;
      to = to.subspan(static_cast<size_t>(read));
    }
    return Ok();
  }

 private:
  const int fd_;
  const std::string folder_;
};

// A file system without O_TMPFILE gets a name that is there for a moment only.
int MakeUnnamed(const std::string& folder) {
  int fd = open(folder.c_str(), O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
  if (fd >= 0 || (errno != EOPNOTSUPP && errno != EISDIR)) return fd;
  std::string path = folder + "/.weir-spill-XXXXXX";
  fd = mkostemp(path.data(), O_CLOEXEC);
  if (fd >= 0) unlink(path.c_str());
  return fd;
}

}  // namespace

Result<std::unique_ptr<ScratchFile>> OpenScratchFile(const std::string& folder) {
  const int fd = MakeUnnamed(folder);
  if (fd < 0) return FromErrno(errno, "make", folder);
  // Where the file system refuses (tmpfs), reads and writes go through the page cache.
  const int flags = fcntl(fd, F_GETFL);
  if (flags >= 0) (void)fcntl(fd, F_SETFL, flags | O_DIRECT);
  return std::unique_ptr<ScratchFile>(std::make_unique<DiskScratchFile>(fd, folder));
}

void FailingScratchFile::Fail(Step step, int64_t after, int64_t count) {
  const std::lock_guard lock(mutex_);
  step_ = step;
  after_ = after;
  left_ = count;
}

bool FailingScratchFile::Strikes(Step step) {
  const std::lock_guard lock(mutex_);
  if (step_ != step || left_ == 0) return false;
  if (after_ > 0) {
    --after_;
    return false;
  }
  --left_;
  ++strikes_;
  return true;
}

Status FailingScratchFile::Reserve(int64_t offset, int64_t bytes) {
  if (Strikes(Step::kReserve)) return error_;
  return below_->Reserve(offset, bytes);
}

Status FailingScratchFile::Write(int64_t offset, std::span<const Bytes> pieces) {
  if (Strikes(Step::kWrite)) return error_;
  return below_->Write(offset, pieces);
}

Status FailingScratchFile::Read(int64_t offset, std::span<uint8_t> to) {
  if (Strikes(Step::kRead)) return error_;
  WEIR_DO(below_->Read(offset, to));
  if (Strikes(Step::kCorruptRead)) to[to.size() / 2] ^= 1;
  return Ok();
}

}  // namespace weir::sys
