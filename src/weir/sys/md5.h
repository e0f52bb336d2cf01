#pragma once
// MD5, only because PostgreSQL has it built in: both sides can hash the same text. Not for secrets.
#include <cstdint>

#include "weir/base/bytes.h"

namespace weir::sys {

/// The first 64 bits of the MD5 of `bytes`, read big-endian as a signed number: what
/// ('x' || substr(md5(text), 1, 16))::bit(64)::bigint gives in PostgreSQL.
int64_t Md5Prefix(Bytes bytes);

}  // namespace weir::sys
