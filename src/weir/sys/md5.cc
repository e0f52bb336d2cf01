#include "weir/sys/md5.h"

#include <openssl/evp.h>

#include "weir/base/assert.h"

namespace weir::sys {

int64_t Md5Prefix(Bytes bytes) {
  uint8_t digest[16];
  unsigned int size = 0;
  WEIR_ASSERT(EVP_Digest(bytes.data(), bytes.size(), digest, &size, EVP_md5(), nullptr) == 1);
  uint64_t prefix = 0;
  for (int at = 0; at < 8; ++at) prefix = prefix << 8 | digest[at];
  return static_cast<int64_t>(prefix);
}

}  // namespace weir::sys
