#include "weir/experiment/swap_file.h"

#include <fcntl.h>
#include <sys/swap.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "weir/base/log.h"
#include "weir/base/units.h"
#include "weir/sys/files.h"

namespace weir::experiment {
namespace {

constexpr int64_t kMostProcSwapsBytes = kMiB;

// The first page of swap, as mkswap(8) writes it.
constexpr size_t kVersionOffset = 1024;
constexpr size_t kLastPageOffset = 1028;
constexpr size_t kLabelOffset = 1052;
constexpr std::string_view kLabel = "weir bench";  // By which we know ours.
constexpr std::string_view kMagic = "SWAPSPACE2";  // The last bytes of the page.

size_t PageBytes() { return static_cast<size_t>(sysconf(_SC_PAGESIZE)); }

std::vector<char> SwapHeader(int64_t bytes) {
  const size_t page_bytes = PageBytes();
  std::vector<char> page(page_bytes);
  const uint32_t version = 1;
  const auto last_page = static_cast<uint32_t>(bytes / static_cast<int64_t>(page_bytes) - 1);
  std::memcpy(page.data() + kVersionOffset, &version, sizeof version);
  std::memcpy(page.data() + kLastPageOffset, &last_page, sizeof last_page);
  std::memcpy(page.data() + kLabelOffset, kLabel.data(), kLabel.size());
  std::memcpy(page.data() + page_bytes - kMagic.size(), kMagic.data(), kMagic.size());
  return page;
}

Error FromErrno(int number, const std::string& path, std::string_view doing) {
  if (number == ENOSPC || number == EDQUOT) {
    return Fail(Code::kExhausted, "cannot {} swap file '{}': {}; free space there", doing, path,
                std::strerror(number));
  }
  if (number == EPERM) {
    return Fail(Code::kInvalid, "cannot {} swap file '{}': {}; a container may lack the right: run "
                                "it outside", doing, path, std::strerror(number));
  }
  return Fail(Code::kInvalid,
              "cannot {} swap file '{}': {}; choose a folder on a local disk with ext4 or xfs",
              doing, path, std::strerror(number));
}

bool IsOurs(const std::string& path) {
  const int fd = open(path.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
  if (fd < 0) return false;
  std::string page(PageBytes(), '\0');
  const ssize_t got = pread(fd, page.data(), page.size(), 0);
  close(fd);
  return got == std::ssize(page) && page.ends_with(kMagic) &&
         page.compare(kLabelOffset, kLabel.size() + 1, kLabel.data(), kLabel.size() + 1) == 0;
}

// Makes the file, with its header and all its blocks, or none.
Status Write(const std::string& path, int64_t bytes) {
  const int fd = open(path.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
  if (fd < 0) return FromErrno(errno, path, "make");
  const std::vector<char> header = SwapHeader(bytes);
  int failure = pwrite(fd, header.data(), header.size(), 0) < 0 ? errno : 0;
  if (failure == 0) failure = posix_fallocate(fd, 0, bytes);
  if (failure == 0 && fsync(fd) != 0) failure = errno;
  close(fd);
  if (failure == 0) return Ok();
  unlink(path.c_str());
  return FromErrno(failure, path, "write");
}

Status TurnOffAndRemove(const std::string& path) {
  // EINVAL: it is not on.
  if (swapoff(path.c_str()) != 0 && errno != EINVAL) {
    return Fail(Code::kInvalid, "cannot turn off swap file '{}': {}; turn it off with swapoff",
                path, std::strerror(errno));
  }
  if (unlink(path.c_str()) != 0) return FromErrno(errno, path, "remove");
  return Ok();
}

// "a\040b" -> "a b".
std::string Unescaped(std::string_view text) {
  std::string plain;
  for (size_t at = 0; at < text.size(); ++at) {
    if (text[at] == '\\' && at + 3 < text.size()) {
      plain += static_cast<char>((text[at + 1] - '0') * 64 + (text[at + 2] - '0') * 8 +
                                 (text[at + 3] - '0'));
      at += 3;
    } else {
      plain += text[at];
    }
  }
  return plain;
}

}  // namespace

Result<std::unique_ptr<SwapFile>> SwapFile::Make(const std::string& path, int64_t bytes) {
  if (geteuid() != 0) {
    return Fail(Code::kUsage, "only root can turn swap on: run it as root, or without a limit");
  }
  WEIR_DO(RemoveStale(path));
  WEIR_DO(Write(path, bytes / kMiB * kMiB));
  std::unique_ptr<SwapFile> file(new SwapFile(path));  // Removes it, should what follows fail.
  if (swapon(path.c_str(), 0) != 0) return FromErrno(errno, path, "turn on");
  return file;
}

SwapFile::~SwapFile() {
  const Status removed = TurnOffAndRemove(path_);
  if (!removed.ok()) LogWarn("{}", removed.error().message);
}

Status SwapFile::RemoveStale(const std::string& path) {
  if (access(path.c_str(), F_OK) != 0) return Ok();
  if (IsOurs(path)) return TurnOffAndRemove(path);
  return Fail(Code::kInvalid,
              "'{}' is in the place of the bench's swap and was not made by it; move it away, or "
              "choose another folder",
              path);
}

std::vector<std::string> SwapsIn(std::string_view proc_swaps) {
  std::vector<std::string> paths;
  bool heading = true;
  while (!proc_swaps.empty()) {
    const std::string_view line = proc_swaps.substr(0, proc_swaps.find('\n'));
    proc_swaps.remove_prefix(std::min(proc_swaps.size(), line.size() + 1));
    const std::string_view path = line.substr(0, line.find_first_of(" \t"));
    if (!heading && !path.empty()) paths.push_back(Unescaped(path));
    heading = false;
  }
  return paths;
}

std::vector<std::string> ActiveSwaps() {
  sys::DiskFiles files;
  const auto text = files.Read("/proc/swaps", kMostProcSwapsBytes);
  return text.ok() ? SwapsIn(text.value()) : std::vector<std::string>();
}

}  // namespace weir::experiment
