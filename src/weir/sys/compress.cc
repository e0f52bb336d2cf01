#include "weir/sys/compress.h"

#include <lz4.h>

#include "weir/base/assert.h"

namespace weir::sys {

int64_t Compress(Bytes from, std::span<uint8_t> to) {
  WEIR_ASSERT(from.size() <= LZ4_MAX_INPUT_SIZE);
  const int size = LZ4_compress_default(
      reinterpret_cast<const char*>(from.data()), reinterpret_cast<char*>(to.data()),
      static_cast<int>(from.size()), static_cast<int>(to.size()));
  return size;
}

bool Decompress(Bytes from, std::span<uint8_t> to) {
  const int size = LZ4_decompress_safe(
      reinterpret_cast<const char*>(from.data()), reinterpret_cast<char*>(to.data()),
      static_cast<int>(from.size()), static_cast<int>(to.size()));
  return size == static_cast<int>(to.size());
}

}  // namespace weir::sys
