#include "weir/queue/job.h"

namespace weir::queue {
namespace {

TEST(JobId, ReadsWhatItWrites) {
  const std::string text = "01890a5d-ac96-774b-bcce-b302099a8057";
  const JobId id = JobId::Parse(text).value();
  EXPECT_EQ(id.bytes[0], 0x01);
  EXPECT_EQ(id.bytes[15], 0x57);
  EXPECT_EQ(id.ToString(), text);
  EXPECT_EQ(JobId::Parse("01890A5DAC96774BBCCEB302099A8057").value(), id);
}

TEST(JobId, OthersAreRefused) {
  for (const char* text :
       {"", "1", "01890a5d-ac96-774b-bcce-b302099a805", "01890a5d-ac96-774b-bcce-b302099a80577",
        "01890a5d+ac96-774b-bcce-b302099a8057", "01890a5dac96774bbcceb302099a805g",
        "01890a5d-ac96-774b-bcce-b302099a80\n7"}) {
    const auto id = JobId::Parse(text);
    ASSERT_FALSE(id.ok()) << text;
    EXPECT_EQ(id.error().code, Code::kInvalid);
    EXPECT_NE(id.error().message.find("UUID"), std::string::npos);
  }
}

}  // namespace
}  // namespace weir::queue
