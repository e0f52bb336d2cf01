// sys::OpenSwappedScratch needs swap, which a SwapFile gives.
#include <unistd.h>

#include <algorithm>
#include <cstring>

#include "tests/support/folder.h"
#include "weir/experiment/swap_file.h"
#include "weir/sys/process.h"
#include "weir/sys/scratch_file.h"

namespace weir::experiment {
namespace {

constexpr int64_t kPiece = 1 << 20;
constexpr int64_t kPieces = 64;

TEST(SwappedScratch, IsRefusedWithoutSwap) {
  if (!ActiveSwaps().empty()) GTEST_SKIP() << "swap is on";
  const auto opened = sys::OpenSwappedScratch(kPiece);
  ASSERT_FALSE(opened.ok());
  EXPECT_EQ(opened.error().code, Code::kInvalid);
}

// What was written leaves memory, and comes back as it was.
TEST(SwappedScratch, BytesLeaveMemoryAndComeBack) {
  if (geteuid() != 0) GTEST_SKIP() << "swap is root's to turn on";
  const test::TempFolder folder;
  const auto swap = SwapFile::Make(folder.Path("swap"), 2 * kPieces * kPiece);
  if (!swap.ok()) GTEST_SKIP() << swap.error().message;  // A file system without swap files.
  const auto scratch = sys::OpenSwappedScratch(kPieces * kPiece).value();
  std::vector<uint8_t> piece(kPiece);
  const int64_t before = sys::ReadProcessUsage().anonymous_bytes;
  for (int64_t at = 0; at < kPieces; ++at) {
    std::memset(piece.data(), static_cast<int>(at + 1), piece.size());
    const Bytes bytes(piece);
    ASSERT_TRUE(scratch->Reserve(at * kPiece, kPiece).ok());
    ASSERT_TRUE(scratch->Write(at * kPiece, {&bytes, 1}).ok());
  }
  const int64_t grown = sys::ReadProcessUsage().anonymous_bytes - before;
  const sys::PageOuts outs = scratch->page_outs();
  EXPECT_LE(grown, outs.unreclaimed_bytes + (8 << 20));
  EXPECT_LT(outs.unreclaimed_bytes, kPieces * kPiece / 2);
  EXPECT_GT(outs.complete, kPieces / 2);
  EXPECT_LE(outs.complete, kPieces);
  for (int64_t at = kPieces - 1; at >= 0; --at) {
    ASSERT_TRUE(scratch->Read(at * kPiece, piece).ok());
    EXPECT_TRUE(std::all_of(piece.begin(), piece.end(),
                            [&](uint8_t byte) { return byte == static_cast<uint8_t>(at + 1); }));
  }
  EXPECT_EQ(scratch->Reserve(kPieces * kPiece, kPiece).error().code, Code::kExhausted);
}

}  // namespace
}  // namespace weir::experiment
