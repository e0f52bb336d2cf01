#pragma once
// What this process has used of the machine: memory, CPU time, I/O, faults.
#include <cstdint>
#include <string>

#include "weir/sys/clock.h"

namespace weir::sys {

struct ProcessUsage {
  int64_t rss_bytes = 0;        ///< Resident now, file-backed pages included.
  int64_t peak_rss_bytes = 0;   ///< Highest rss_bytes since the process began (VmHWM).
  int64_t anonymous_bytes = 0;  ///< Resident now and not backed by a file (RssAnon).
  int64_t user_micros = 0;
  int64_t system_micros = 0;
  int64_t major_faults = 0;
  int64_t device_read_bytes = 0;     ///< Of block devices, swap-ins included.
  int64_t device_written_bytes = 0;  ///< To block devices; swap-outs are the kernel's.
};

/// Reads /proc/self and getrusage. A value the kernel does not tell is 0. Cost: about 20 µs.
ProcessUsage ReadProcessUsage();

/// What this process may hold in memory: the machine's, or the least that its control groups (v1 or
/// v2) and those above them allow. Swap does not count. `root`: in front of /proc and /sys, for
/// tests.
int64_t UsableMemoryBytes(const std::string& root = "");

/// Raises how many descriptors this process may have to as many as it may grant itself; returns how
/// many that is. Systems start programs with 1,024, for the sake of old ones that call select(2).
int64_t RaiseDescriptorLimit();

/// What the calling thread has spent of the processors, user and system. Cost: about 0.3 µs.
Duration ThreadCpuTime();
/// Time for which the calling thread could have run and no processor was free; 0 where the kernel
/// does not tell (/proc/thread-self/schedstat). Cost: about 5 µs.
Duration ThreadTimeInLine();

}  // namespace weir::sys
