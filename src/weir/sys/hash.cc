#include "weir/sys/hash.h"

#include <fmt/format.h>
#include <xxhash.h>

namespace weir::sys {

struct Xxh3Stream::State {
  XXH3_state_t xxh3;
};

Xxh3Stream::Xxh3Stream() : state_(std::make_unique<State>()) { XXH3_64bits_reset(&state_->xxh3); }
Xxh3Stream::~Xxh3Stream() = default;

void Xxh3Stream::Append(Bytes bytes) {
  XXH3_64bits_update(&state_->xxh3, bytes.data(), bytes.size());
}

std::string Xxh3Stream::Hex() const {
  return fmt::format("{:016x}", XXH3_64bits_digest(&state_->xxh3));
}

uint64_t Xxh3(Bytes bytes) { return XXH3_64bits(bytes.data(), bytes.size()); }

}  // namespace weir::sys
