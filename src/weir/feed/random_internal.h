#pragma once
// Random: numbers that depend on nothing but what they are for, so that any row can be made again.
#include <cstdint>

namespace weir::feed {

/// SplitMix64 (Steele, Lea and Flood, 2014).
class Random {
 public:
  /// Another stream for every combination of arguments.
  Random(uint64_t seed, uint64_t stream, uint64_t key, uint64_t version)
      : state_(Mix(Mix(Mix(Mix(seed) + stream) + key) + version)) {}

  uint64_t Next() { return Mix(state_ += kStep); }
  /// Uniform in [0, count). Requires: 0 < count < 2^32.
  int64_t Below(int64_t count) {
    return static_cast<int64_t>((Next() >> 32) * static_cast<uint64_t>(count) >> 32);
  }
  /// Uniform in [lowest, highest].
  int64_t Between(int64_t lowest, int64_t highest) {
    return lowest + Below(highest - lowest + 1);
  }

 private:
  static constexpr uint64_t kStep = 0x9e3779b97f4a7c15;
  static uint64_t Mix(uint64_t bits) {
    bits = (bits ^ bits >> 30) * 0xbf58476d1ce4e5b9;
    bits = (bits ^ bits >> 27) * 0x94d049bb133111eb;
    return bits ^ bits >> 31;
  }

  uint64_t state_;
};

}  // namespace weir::feed
