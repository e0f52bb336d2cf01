#include "weir/mem/frames.h"

namespace weir::mem {
namespace {

constexpr int64_t kMost = Frames::kMostBytes;

// Chains of many lengths share few addresses, which join again when they are freed.
TEST(Frames, FreedChainsJoinForLongerOnes) {
  Budget budget("pool", kUnlimited);
  Frames frames(budget, 6 * kMost);
  for (int round = 0; round < 3; ++round) {
    uint8_t* const two = frames.Allocate(2 * kMost).value();
    uint8_t* const three = frames.Allocate(3 * kMost).value();
    uint8_t* const one = frames.Allocate(kMost).value();
    EXPECT_EQ(frames.Allocate(2 * kMost).error().code, Code::kExhausted);
    frames.Free(two, 2 * kMost);
    frames.Free(one, kMost);
    frames.Free(three, 3 * kMost);
    EXPECT_EQ(frames.ReleaseWarm(kUnlimited), kMost);
    frames.Free(frames.Allocate(6 * kMost).value(), 6 * kMost);
  }
}

}  // namespace
}  // namespace weir::mem
