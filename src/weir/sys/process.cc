#include "weir/sys/process.h"

#include <sys/resource.h>
#include <time.h>

#include <cstdio>
#include <cstring>

namespace weir::sys {
namespace {

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

}  // namespace

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
  rusage self{};
  if (getrusage(RUSAGE_SELF, &self) == 0) {
    usage.user_micros = Micros(self.ru_utime);
    usage.system_micros = Micros(self.ru_stime);
    usage.major_faults = self.ru_majflt;
  }
  return usage;
}

Duration ThreadCpuTime() {
  timespec spent{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &spent);
  return std::chrono::seconds(spent.tv_sec) + std::chrono::nanoseconds(spent.tv_nsec);
}

}  // namespace weir::sys
