#include "weir/sys/hash.h"

namespace weir::sys {
namespace {

TEST(Xxh3, IsTheSameForAnyPieces) {
  std::string text;
  for (int at = 0; at < 5000; ++at) text += static_cast<char>('a' + at % 23);
  Xxh3Stream whole;
  whole.Append(AsBytes(text));
  for (size_t piece : {size_t{1}, size_t{7}, size_t{256}, size_t{4999}}) {
    Xxh3Stream pieces;
    for (size_t at = 0; at < text.size(); at += piece) {
      pieces.Append(AsBytes(std::string_view(text).substr(at, piece)));
    }
    EXPECT_EQ(pieces.Hex(), whole.Hex()) << "pieces of " << piece;
  }
  EXPECT_EQ(whole.Hex().size(), 16u);
}

TEST(Xxh3, GivesThePublishedValues) {
  // Fingerprints stand in files that other programs check: they must be xxh3-64 with seed 0.
  EXPECT_EQ(Xxh3(AsBytes("")), 0x2d06800538d394c2u);
  EXPECT_EQ(Xxh3Stream().Hex(), "2d06800538d394c2");
  EXPECT_EQ(Xxh3(AsBytes("abc")), 0x78af5f94892f3950u);
}

TEST(Xxh3, TellsOneChangedBit) {
  EXPECT_NE(Xxh3(AsBytes("weir")), Xxh3(AsBytes("weis")));
}

}  // namespace
}  // namespace weir::sys
