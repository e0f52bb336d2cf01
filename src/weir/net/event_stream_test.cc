#include "weir/net/event_stream.h"

#include <random>

#include "tests/support/seeds.h"

namespace weir::net {
namespace {

std::vector<ServerEvent> Read(EventParser& parser, std::string_view text) {
  std::vector<ServerEvent> events;
  const Status fed = parser.Feed(text, [&](const ServerEvent& event) { events.push_back(event); });
  EXPECT_TRUE(fed.ok());
  return events;
}

TEST(EventStream, IsReadAsBrowsersDo) {
  EventParser parser;
  EXPECT_EQ(
      Read(parser,
           "\xEF\xBB\xBF: comment\n\nretry: 10\nid: 1\r\rdata\n\n"
           "data:a\r\ndata: b\r\ndata:  c\revent: x\r\n\r\nid\ndata: d\n\ndata: lost"),
      (std::vector<ServerEvent>{
          {.data = "", .id = "1"}, {.type = "x", .data = "a\nb\n c", .id = "1"}, {.data = "d"}}));
  EXPECT_EQ(parser.last_id(), "");
}

TEST(EventStream, AnEventThatDoesNotEndIsRefused) {
  EventParser parser;
  const std::string piece = "data: " + std::string(99'990, 'x') + "\n";
  Status fed;
  int fits = 0;
  for (; fits < 100 && fed.ok(); ++fits) fed = parser.Feed(piece, [](const ServerEvent&) {});
  ASSERT_FALSE(fed.ok());
  EXPECT_EQ(fed.error().code, Code::kInvalid);
  EXPECT_EQ(fits, 11);
}

// Goal:   what is written is read back the same, wherever the stream is cut.
TEST(EventStream, AgreesWithWhatWasWritten) {
  for (const uint64_t seed : test::Seeds(300)) {
    SCOPED_TRACE(fmt::format("to repeat: WEIR_SEED={}", seed));
    std::mt19937_64 rng(seed);
    const auto text = [&](std::string_view letters, uint64_t least) {
      std::string made;
      for (uint64_t left = least + rng() % 8; left > 0; --left) {
        made.push_back(letters[rng() % letters.size()]);
      }
      return made;
    };
    std::vector<ServerEvent> events;
    std::string stream;
    for (uint64_t left = 1 + rng() % 5; left > 0; --left) {
      events.push_back(
          {.type = text("ab: ", 1) + "t", .data = text("ab: \n", 0), .id = text("01 :", 1) + "i"});
      // A reader takes one blank off the front.
      if (events.back().type.front() == ' ') events.back().type.front() = 'x';
      if (events.back().id.front() == ' ') events.back().id.front() = 'x';
      stream.append(FormatEvent(events.back()));
      if (rng() % 3 == 0) stream.append(kEventKeepAlive);
    }
    EventParser parser;
    std::vector<ServerEvent> read;
    for (size_t begin = 0; begin < stream.size();) {
      const size_t bytes = 1 + rng() % 9;
      for (ServerEvent& event : Read(parser, std::string_view(stream).substr(begin, bytes))) {
        read.push_back(std::move(event));
      }
      begin += bytes;
    }
    EXPECT_EQ(read, events);
  }
}

TEST(EventStream, NothingIsSmuggledThroughTypeAndId) {
  EventParser parser;
  EXPECT_EQ(Read(parser, FormatEvent({.type = "a\ndata: x", .data = "b", .id = "1\n\ndata: y"})),
            (std::vector<ServerEvent>{{.type = "a", .data = "b", .id = "1"}}));
}

}  // namespace
}  // namespace weir::net
