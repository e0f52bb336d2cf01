#include "weir/mem/extent_store.h"

namespace weir::mem {
namespace {

constexpr int64_t kSegment = ExtentStore::kSegmentBytes;

// Only room: nothing is written here.
class RoomOnly final : public sys::ScratchFile {
 public:
  Status Reserve(int64_t offset, int64_t bytes) override {
    EXPECT_EQ(offset, reserved_);
    reserved_ += bytes;
    return Ok();
  }
  Status Write(int64_t, std::span<const Bytes>) override { return Ok(); }
  Status Read(int64_t, std::span<uint8_t>) override { return Ok(); }
  int64_t reserved() const { return reserved_; }

 private:
  int64_t reserved_ = 0;
};

class ExtentStoreTest : public testing::Test {
 protected:
  Extent Take(int64_t segments) { return store_.Allocate(segments * kSegment).value(); }

  RoomOnly* file_ = new RoomOnly;
  ExtentStore store_{std::unique_ptr<sys::ScratchFile>(file_), 8 * kSegment};
};

// Wide and narrow extents in turn: the file grows to what they take at once, and stays so.
TEST_F(ExtentStoreTest, SegmentsJoinForWideExtents) {
  for (int round = 0; round < 10; ++round) {
    store_.Free(Take(6));
    std::vector<Extent> narrow;
    for (int at = 0; at < 6; ++at) narrow.push_back(Take(1));
    for (const size_t at : {3, 0, 5, 1, 4, 2}) store_.Free(narrow[at]);
  }
  EXPECT_EQ(file_->reserved(), 6 * kSegment);
}

TEST_F(ExtentStoreTest, TheFileGrowsByWhatItsLastFreeSegmentsLack) {
  const Extent first = Take(1);
  store_.Free(Take(3));
  const Extent wide = Take(7);
  EXPECT_EQ(wide.offset, kSegment);
  EXPECT_EQ(file_->reserved(), 8 * kSegment);
  EXPECT_EQ(store_.Allocate(kSegment).error().code, Code::kExhausted);
  store_.Free(first);
  const Extent again = Take(1);
  EXPECT_EQ(again.offset, 0);
  store_.Free(again);
  store_.Free(wide);
}

}  // namespace
}  // namespace weir::mem
