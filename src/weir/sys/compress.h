#pragma once
// LZ4 blocks, for bytes that this process reads back (the door to lz4).
#include <span>

#include "weir/base/bytes.h"

namespace weir::sys {

/// Bytes written to `to`; 0 when the compressed form does not fit there.
/// Requires: at most 1 GiB.
int64_t Compress(Bytes from, std::span<uint8_t> to);

/// Whether `from` is the compressed form of exactly to.size() bytes, now in `to`.
bool Decompress(Bytes from, std::span<uint8_t> to);

}  // namespace weir::sys
