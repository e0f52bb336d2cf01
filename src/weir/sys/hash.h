#pragma once
// xxh3: fast hashes of bytes, for file fingerprints. Not for secrets.
#include <memory>
#include <string>

#include "weir/base/bytes.h"

namespace weir::sys {

/// xxh3-64 of a stream of bytes, fed in any pieces.
class Xxh3Stream {
 public:
  Xxh3Stream();
  ~Xxh3Stream();
  Xxh3Stream(const Xxh3Stream&) = delete;
  Xxh3Stream& operator=(const Xxh3Stream&) = delete;

  void Append(Bytes bytes);
  /// 16 lower-case hex digits over all bytes so far.
  std::string Hex() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

uint64_t Xxh3(Bytes bytes);

}  // namespace weir::sys
