#include "weir/experiment/warm_up.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <vector>

#include "weir/base/units.h"

namespace weir::experiment {

void TouchMemory(int64_t bytes) {
  const auto size = static_cast<size_t>(bytes);
  void* const memory = mmap(nullptr, size, PROT_READ | PROT_WRITE,
                            MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (memory == MAP_FAILED) return;
  const auto page = static_cast<size_t>(sysconf(_SC_PAGESIZE));
  auto* const first = static_cast<volatile char*>(memory);
  for (size_t at = 0; at < size; at += page) first[at] = 1;
  munmap(memory, size);
}

Status ReadThrough(const std::string& path) {
  const int fd = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (fd < 0) return Fail(Code::kNotFound, "cannot open '{}': {}", path, std::strerror(errno));
  std::vector<char> buffer(static_cast<size_t>(kMiB));
  ssize_t got = 1;
  while (got > 0) got = read(fd, buffer.data(), buffer.size());
  const int number = errno;
  close(fd);
  if (got == 0) return Ok();
  return Fail(Code::kUnavailable, "cannot read '{}': {}", path, std::strerror(number));
}

}  // namespace weir::experiment
