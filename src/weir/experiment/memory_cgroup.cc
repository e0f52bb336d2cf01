#include "weir/experiment/memory_cgroup.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstring>

#include "weir/base/log.h"
#include "weir/base/units.h"
#include "weir/sys/files.h"
#include "weir/sys/thread.h"

namespace weir::experiment {
namespace {

constexpr std::string_view kName = "weir-bench";
constexpr sys::Duration kInterval = std::chrono::milliseconds(20);
constexpr int64_t kMostBytes = kMiB;  // Of a file of the kernel's; memory.stat has some kilobytes.

std::string TextOf(const std::string& folder, std::string_view name) {
  sys::DiskFiles files;
  const auto text = files.Read(sys::JoinPath(folder, name), kMostBytes);
  return text.ok() ? text.value() : std::string();
}

int64_t NumberIn(std::string_view text) {
  int64_t number = 0;
  std::from_chars(text.data(), text.data() + text.size(), number);
  return number;
}

// The value of a line "key value".
int64_t ValueOf(const std::string& text, const std::string& key) {
  const std::string start = key + " ";
  const size_t at = text.starts_with(start) ? 0 : text.find("\n" + start);
  if (at == text.npos) return 0;
  return NumberIn(std::string_view(text).substr(text.find(' ', at) + 1));
}

// Not through sys::Files, which makes new files only: the kernel's are there already.
Status WriteControl(const std::string& path, const std::string& text) {
  const int fd = open(path.c_str(), O_WRONLY | O_CLOEXEC);
  const bool written =
      fd >= 0 && write(fd, text.data(), text.size()) == static_cast<ssize_t>(text.size());
  const int number = errno;
  if (fd >= 0) close(fd);
  if (written) return Ok();
  return Fail(Code::kInvalid, "cannot write {} to '{}': {}; is the hierarchy mounted read-only?",
              text, path, std::strerror(number));
}

MemoryUse Highest(const MemoryUse& a, const MemoryUse& b) {
  return {std::max(a.usage, b.usage), std::max(a.working_set, b.working_set),
          std::max(a.swap, b.swap), std::max(a.anonymous, b.anonymous)};
}

Status MakeGroup(const CgroupMount& mount, const std::string& folder) {
  if (mount.version == CgroupVersion::kV2) {
    WEIR_DO(WriteControl(sys::JoinPath(mount.folder, "cgroup.subtree_control"), "+memory"));
  }
  rmdir(folder.c_str());  // What a process that was killed left; refused while it has processes.
  if (mkdir(folder.c_str(), 0755) == 0) return Ok();
  return Fail(Code::kInvalid, "cannot make control group '{}': {}{}", folder, std::strerror(errno),
              errno == EEXIST ? "; another bench runs in it: wait for its end" : "");
}

}  // namespace

MemoryUse ReadMemoryUse(const std::string& folder, CgroupVersion version) {
  const bool v1 = version == CgroupVersion::kV1;
  const std::string stat = TextOf(folder, "memory.stat");
  MemoryUse use;
  use.usage = NumberIn(TextOf(folder, v1 ? "memory.usage_in_bytes" : "memory.current"));
  use.working_set =
      std::max<int64_t>(0, use.usage - ValueOf(stat, v1 ? "total_inactive_file" : "inactive_file"));
  use.swap = v1 ? ValueOf(stat, "total_swap") : NumberIn(TextOf(folder, "memory.swap.current"));
  use.anonymous = ValueOf(stat, v1 ? "total_rss" : "anon");
  return use;
}

Result<CgroupMount> FindCgroupMount() {
  const std::string v1 = "/sys/fs/cgroup/memory";
  if (access((v1 + "/memory.stat").c_str(), F_OK) == 0) return CgroupMount{CgroupVersion::kV1, v1};
  for (const char* v2 : {"/sys/fs/cgroup", "/sys/fs/cgroup/unified"}) {
    if (TextOf(v2, "cgroup.controllers").find("memory") != std::string::npos) {
      return CgroupMount{CgroupVersion::kV2, v2};
    }
  }
  return Fail(Code::kNotFound,
              "no memory controller below /sys/fs/cgroup: mount one, or measure without a limit");
}

Result<std::unique_ptr<MemoryCgroup>> MemoryCgroup::Make(int64_t limit_bytes, sys::Clock& clock) {
  if (geteuid() != 0) {
    return Fail(Code::kUsage,
                "only root can make a control group: run it as root, or without a limit");
  }
  WEIR_TRY(CgroupMount mount, FindCgroupMount());
  WEIR_DO(MakeGroup(mount, sys::JoinPath(mount.folder, kName)));
  std::unique_ptr<MemoryCgroup> group(new MemoryCgroup(std::move(mount), clock));
  if (limit_bytes > 0) {
    const bool v1 = group->version_ == CgroupVersion::kV1;
    WEIR_DO(WriteControl(
        sys::JoinPath(group->folder_, v1 ? "memory.limit_in_bytes" : "memory.max"),
        std::to_string(limit_bytes)));
  }
  WEIR_TRY(group->watcher_, sys::StartThread([self = group.get()] { self->Watch(); }));
  return group;
}

MemoryCgroup::MemoryCgroup(CgroupMount mount, sys::Clock& clock)
    : version_(mount.version), folder_(sys::JoinPath(mount.folder, kName)), clock_(clock) {}

MemoryCgroup::~MemoryCgroup() {
  done_.Ask();
  if (watcher_.joinable()) watcher_.join();
  if (rmdir(folder_.c_str()) != 0) {
    LogWarn("cannot remove control group '{}': {}", folder_, std::strerror(errno));
  }
}

std::string MemoryCgroup::procs_path() const { return sys::JoinPath(folder_, "cgroup.procs"); }

MemoryUse MemoryCgroup::peaks() {
  const MemoryUse now = ReadMemoryUse(folder_, version_);
  const bool v1 = version_ == CgroupVersion::kV1;
  const std::string kernels = TextOf(folder_, v1 ? "memory.max_usage_in_bytes" : "memory.peak");
  const std::lock_guard lock(mutex_);
  peaks_ = Highest(peaks_, now);
  peaks_.usage = std::max(peaks_.usage, NumberIn(kernels));
  return peaks_;
}

void MemoryCgroup::Watch() {
  while (!done_.asked()) {
    peaks();
    clock_.Wait(kInterval, done_);
  }
}

}  // namespace weir::experiment
