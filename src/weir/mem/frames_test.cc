#include "weir/mem/frames.h"

#include <sys/resource.h>

#include <cstdio>
#include <cstring>

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

// Of this process, more than it has now.
void LimitAddresses(int64_t more_bytes) {
  std::FILE* const statm = std::fopen("/proc/self/statm", "re");
  long pages = 0;
  WEIR_ASSERT(std::fscanf(statm, "%ld", &pages) == 1);
  std::fclose(statm);
  const auto bytes = static_cast<rlim_t>(int64_t{pages} * 4096 + more_bytes);
  const rlimit limit{bytes, bytes};
  WEIR_ASSERT(setrlimit(RLIMIT_AS, &limit) == 0);
}

TEST(FramesDeathTest, WhereAddressesAreFewSomeAreReserved) {
  const auto use = [] {
    LimitAddresses(int64_t{4} << 30);
    Budget budget("pool", kUnlimited);
    Frames frames(budget, int64_t{1} << 40);
    for (const int64_t bytes : {int64_t{1}, kMost, 5 * kMost}) {
      uint8_t* const frame = frames.Allocate(bytes).value();
      std::memset(frame, 1, static_cast<size_t>(bytes));
      frames.Free(frame, bytes);
    }
    EXPECT_FALSE(frames.Allocate(int64_t{4} << 30).ok());
    std::free(std::malloc(int64_t{1} << 30));
    std::_Exit(testing::Test::HasFailure() ? 1 : 0);
  };
  EXPECT_EXIT(use(), testing::ExitedWithCode(0), "");
}

TEST(FramesDeathTest, WithoutAddressesTheErrorSaysWhatToRaise) {
  const auto use = [] {
    LimitAddresses(8 << 20);
    Budget budget("pool", kUnlimited);
    Frames frames(budget, int64_t{1} << 40);
    const auto refused = frames.Allocate(1);
    std::fputs(refused.ok() ? "a frame" : refused.error().message.c_str(), stderr);
    std::_Exit(0);
  };
  EXPECT_EXIT(use(), testing::ExitedWithCode(0), "raise ulimit -v");
}

}  // namespace
}  // namespace weir::mem
