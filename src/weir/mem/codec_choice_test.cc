#include "weir/mem/codec_choice_internal.h"

#include <gtest/gtest.h>

namespace weir::mem {
namespace {

constexpr int64_t kPage = 128 << 10;

sys::Duration At(double nanos_per_byte, int64_t bytes) {
  return sys::Duration(static_cast<int64_t>(nanos_per_byte * static_cast<double>(bytes)));
}

// A device and a codec of certain rates; pages are written, and some are read back.
class CodecChoiceTest : public testing::Test {
 protected:
  /// Returns how many were compressed.
  int64_t Spill(int64_t pages) {
    int64_t compressed = 0;
    for (int64_t at = 0; at < pages; ++at) {
      int64_t stored = kPage;
      if (choice_.ShouldCompress()) {
        ++compressed;
        stored = static_cast<int64_t>(left_ * static_cast<double>(kPage));
        choice_.NotePacked(kPage, stored, At(pack_, kPage));
      }
      choice_.NoteWritten(kPage, stored, At(write_, stored));
      if (reads_ == 0 || at % static_cast<int64_t>(1 / reads_) != 0) continue;
      choice_.CountRead(kPage);
      choice_.NoteRead(stored, At(read_, stored));
      if (stored < kPage) choice_.NoteUnpacked(kPage, At(unpack_, kPage));
    }
    return compressed;
  }

  CodecChoice choice_;
  double pack_ = 2.5;  // Nanoseconds per byte, as all but the shares.
  double unpack_ = 0.5;
  double left_ = 0.6;
  double write_ = 0.5;  // 2 GB/s.
  double read_ = 0.5;
  double reads_ = 0;
};

TEST_F(CodecChoiceTest, AQuickDeviceTakesPagesAsTheyAre) {
  EXPECT_EQ(Spill(6400), 6400 / CodecChoice::kProbeEvery);
}

TEST_F(CodecChoiceTest, ASlowDeviceIsSpared) {
  write_ = 10;  // 100 MB/s: 0.4 of that is more than 2.5.
  EXPECT_GT(Spill(6400), 6390);
}

// 4 ns of writing alone are not worth it (1.6 saved of 2.5 spent); with reading they are.
TEST_F(CodecChoiceTest, WhatIsReadBackCounts) {
  write_ = 4;
  read_ = 8;
  EXPECT_LT(Spill(6400), 110);
  reads_ = 1;
  EXPECT_GT(Spill(6400), 5000);
}

TEST_F(CodecChoiceTest, BytesThatDoNotShrinkAreLeftAlone) {
  write_ = 10;
  left_ = 1;
  EXPECT_EQ(Spill(6400), 6400 / CodecChoice::kProbeEvery);
}

TEST_F(CodecChoiceTest, FollowsADeviceThatBecomesBusyAndIdleAgain) {
  Spill(6400);
  write_ = 20;
  Spill(1280);
  EXPECT_GT(Spill(6400), 6390);
  write_ = 0.5;
  Spill(6400);
  EXPECT_LT(Spill(6400), 110);
}

}  // namespace
}  // namespace weir::mem
