#include "weir/sys/process.h"

#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <string_view>

namespace weir::sys {
namespace {

// A line "read_bytes: 4096".
void TakeBytes(const char* line, const char* key, int64_t* bytes) {
  const size_t length = std::strlen(key);
  if (std::strncmp(line, key, length) == 0) *bytes = std::strtoll(line + length, nullptr, 10);
}

int64_t Micros(const timeval& time) { return int64_t{time.tv_sec} * 1'000'000 + time.tv_usec; }

// "VmHWM:      26480 kB" -> bytes.
void TakeKilobytes(const char* line, const char* key, int64_t* bytes) {
  const size_t length = std::strlen(key);
  long long kilobytes = 0;
  if (std::strncmp(line, key, length) == 0 &&
      std::sscanf(line + length, " %lld", &kilobytes) == 1) {
    *bytes = kilobytes * 1024;
  }
}

// The first line of a file; empty where there is none.
std::string FirstLine(const std::string& path) {
  std::string text;
  if (std::FILE* file = std::fopen(path.c_str(), "re")) {
    char line[256];
    if (std::fgets(line, sizeof line, file) != nullptr) text = line;
    std::fclose(file);
  }
  return text;
}

// The least limit of a group and of all above it; "max" and what is not there are none.
int64_t LeastLimit(const std::string& mount, std::string group, const char* file) {
  int64_t least = INT64_MAX;
  while (true) {
    const std::string text = FirstLine(mount + group + "/" + file);
    char* end = nullptr;
    const long long limit = std::strtoll(text.c_str(), &end, 10);
    if (end != text.c_str() && limit > 0) least = std::min<int64_t>(least, limit);
    if (group.empty()) return least;
    group.erase(group.rfind('/'));
  }
}

// Of the process's groups: lines of "number:controllers:/path", v2 without controllers.
int64_t GroupLimit(const std::string& root) {
  int64_t least = INT64_MAX;
  const std::string mount = root + "/sys/fs/cgroup";
  std::FILE* const groups = std::fopen((root + "/proc/self/cgroup").c_str(), "re");
  if (groups == nullptr) return least;
  char line[4096];
  while (std::fgets(line, sizeof line, groups) != nullptr) {
    std::string_view text(line);
    if (text.ends_with('\n')) text.remove_suffix(1);
    const size_t controllers = text.find(':');
    const size_t path = controllers == text.npos ? text.npos : text.find(':', controllers + 1);
    if (path == text.npos) continue;
    const std::string_view names = text.substr(controllers + 1, path - controllers - 1);
    std::string group(text.substr(path + 1));
    if (group == "/") group.clear();
    if (!group.empty() && group[0] != '/') continue;
    if (names.empty()) least = std::min(least, LeastLimit(mount, group, "memory.max"));
    if (names == "memory") {
      least = std::min(least, LeastLimit(mount + "/memory", group, "memory.limit_in_bytes"));
    }
  }
  std::fclose(groups);
  return least;
}

}  // namespace

int64_t UsableMemoryBytes(const std::string& root) {
  const int64_t machine = int64_t{sysconf(_SC_PHYS_PAGES)} * sysconf(_SC_PAGESIZE);
  return std::min(machine, GroupLimit(root));
}

ProcessUsage ReadProcessUsage() {
  ProcessUsage usage;
  if (std::FILE* status = std::fopen("/proc/self/status", "re")) {
    char line[256];
    while (std::fgets(line, sizeof line, status) != nullptr) {
      TakeKilobytes(line, "VmRSS:", &usage.rss_bytes);
      TakeKilobytes(line, "VmHWM:", &usage.peak_rss_bytes);
      TakeKilobytes(line, "RssAnon:", &usage.anonymous_bytes);
    }
    std::fclose(status);
  }
  if (std::FILE* io = std::fopen("/proc/self/io", "re")) {
    char line[256];
    while (std::fgets(line, sizeof line, io) != nullptr) {
      TakeBytes(line, "read_bytes:", &usage.device_read_bytes);
      TakeBytes(line, "write_bytes:", &usage.device_written_bytes);
    }
    std::fclose(io);
  }
  rusage self{};
  if (getrusage(RUSAGE_SELF, &self) == 0) {
    usage.user_micros = Micros(self.ru_utime);
    usage.system_micros = Micros(self.ru_stime);
    usage.major_faults = self.ru_majflt;
  }
  return usage;
}

int64_t RaiseDescriptorLimit() {
  rlimit limit{};
  if (getrlimit(RLIMIT_NOFILE, &limit) != 0) return 0;
  const rlim_t before = limit.rlim_cur;
  limit.rlim_cur = limit.rlim_max;
  const bool raised = setrlimit(RLIMIT_NOFILE, &limit) == 0;
  return static_cast<int64_t>(raised ? limit.rlim_max : before);
}

Duration ThreadCpuTime() {
  timespec spent{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &spent);
  return std::chrono::seconds(spent.tv_sec) + std::chrono::nanoseconds(spent.tv_nsec);
}

Duration ThreadTimeInLine() {
  long long ran = 0;
  long long in_line = 0;
  if (std::FILE* file = std::fopen("/proc/thread-self/schedstat", "re")) {
    if (std::fscanf(file, "%lld %lld", &ran, &in_line) != 2) in_line = 0;
    std::fclose(file);
  }
  return Duration(in_line);
}

}  // namespace weir::sys
