#include "weir/net/target.h"

#include <random>

#include "tests/support/seeds.h"
#include "tests/support/text_fits.h"

namespace weir::net {
namespace {

using test::TextFits;

std::string Reason(std::string_view target) {
  const auto parsed = ParseTarget(target);
  if (parsed.ok()) return "accepted";
  EXPECT_EQ(parsed.error().code, Code::kInvalid);
  return parsed.error().message;
}

TEST(Target, IsDecodedSegmentBySegment) {
  const auto target = ParseTarget("/a%2Fb//c+d/%C3%A4/?q=1+2&&x&=y&z=%3D=").value();
  EXPECT_EQ(target.segments, (std::vector<std::string>{"a/b", "", "c+d", "ä", ""}));
  EXPECT_EQ(target.query,
            (std::vector<QueryPair>{{"q", "1 2"}, {"x", ""}, {"", "y"}, {"z", "=="}}));
  EXPECT_EQ(target.path(), "/a/b//c+d/ä/");
  EXPECT_EQ(ParseTarget("/").value().segments, std::vector<std::string>{""});
  EXPECT_EQ(ParseTarget("http://h:1/a?b").value(), ParseTarget("/a?b").value());
  EXPECT_EQ(ParseTarget("HTTPS://h").value(), ParseTarget("/").value());
  EXPECT_EQ(ParseTarget("/...").value().segments, std::vector<std::string>{"..."});
}

TEST(Target, IsRefusedWithAReason) {
  const struct {
    std::string target;
    std::string reason;
  } rows[] = {
      {"", "slash"},
      {"a", "slash"},
      {"*", "slash"},
      {"/%", "percent"},
      {"/%4", "percent"},
      {"/%4g", "percent"},
      {"/a?b=%", "percent"},
      {"/%00", "control"},
      {"/%0a", "control"},
      {"/?%7F", "control"},
      {"/\x01", "control"},
      {"/%ff", "UTF-8"},
      {"/%C3/%A4", "UTF-8"},
      {"/?%ED%A0%80", "UTF-8"},
      {"/\xC0\xAF", "UTF-8"},
      {"/.", "segment"},
      {"/a/../b", "segment"},
      {"/%2e%2e/", "segment"},
      {"/a#b", "fragment"},
      {"http:///a", "host"},
      {"http://a:b/", "port"},
      {"http://u@h/", "host"},
      {std::string(65, '/'), "more than 64 segments"},
      {"/?" + std::string(514, 'a').replace(1, 513, std::string(513, '&')), "accepted"},
      {"/" + std::string(kMostTargetBytes, 'a'), "over 8192 bytes"},
  };
  for (const auto& row : rows) EXPECT_TRUE(TextFits(Reason(row.target), {.has = {row.reason}}));
  std::string pairs = "/?";
  for (size_t at = 0; at <= kMostQueryPairs; ++at) pairs.append("a&");
  EXPECT_TRUE(TextFits(Reason(pairs), {.has = {"more than 256 pairs"}}));
}

// Goal:   what is written is read back the same.
// Method: random segments and pairs of any characters but control ones.
TEST(Target, AgreesWithWhatWasWritten) {
  const auto text = [](std::mt19937_64& rng) {
    constexpr std::string_view kCharacters[] = {"a", "Z", "0", "/", "?", "#",  "&", "=", "+",  "%",
                                                " ", ".", "~", "ä", "€", "😀", "{", "}", "\"", ":"};
    std::string made;
    for (uint64_t left = rng() % 6; left > 0; --left) {
      made.append(kCharacters[rng() % std::size(kCharacters)]);
    }
    return made == "." || made == ".." ? "dots" : made;
  };
  for (const uint64_t seed : test::Seeds(500)) {
    SCOPED_TRACE(fmt::format("to repeat: WEIR_SEED={}", seed));
    std::mt19937_64 rng(seed);
    Target target;
    for (uint64_t left = 1 + rng() % 5; left > 0; --left) target.segments.push_back(text(rng));
    for (uint64_t left = rng() % 4; left > 0; --left) {
      // A pair without a character in it would be no pair.
      target.query.push_back({text(rng) + "n", text(rng)});
    }
    const auto again = ParseTarget(FormatTarget(target));
    ASSERT_TRUE(again.ok()) << FormatTarget(target) << ": " << again.error().message;
    EXPECT_EQ(again.value(), target) << FormatTarget(target);
  }
}

TEST(Url, HasItsParts) {
  const auto plain = ParseUrl("http://Example.test").value();
  EXPECT_EQ(plain, (Url{.tls = false, .host = "example.test", .port = 80, .path = ""}));
  EXPECT_EQ(plain.authority(), "example.test");
  const auto full = ParseUrl("HTTPS://[::1]:8640/base/x/").value();
  EXPECT_EQ(full, (Url{.tls = true, .host = "::1", .port = 8640, .path = "/base/x"}));
  EXPECT_EQ(full.authority(), "[::1]:8640");
  EXPECT_EQ(ParseUrl("https://a:443/").value().authority(), "a");
}

TEST(Url, IsRefusedWithAReasonAndWithoutItsPassword) {
  const struct {
    std::string_view url;
    std::string reason;
  } rows[] = {
      {"", "http://"},
      {"example.test:80", "http://"},
      {"file:///a", "http://"},
      {"http://", "no host"},
      {"http://:80", "no host"},
      {"http://a:65536", "65535"},
      {"http://a:", "65535"},
      {"http://a:0", "port 0"},
      {"http://[::1", "bracket"},
      {"http://[::1]x", "port"},
      {"http://::1", "no host"},
      {"http://a b", "neither a name"},
      {"http://a/?x", "query"},
      {"http://a#x", "fragment"},
      {"http://a/ b", "encoded"},
      {"http://u:hush@a", "password"},
  };
  for (const auto& row : rows) {
    const auto url = ParseUrl(row.url);
    ASSERT_FALSE(url.ok()) << row.url;
    EXPECT_EQ(url.error().code, Code::kInvalid);
    EXPECT_TRUE(TextFits(url.error().message, {.has = {row.reason}, .lacks = {"hush"}}));
  }
}

TEST(Endpoint, IsHostAndPort) {
  EXPECT_EQ(ParseEndpoint("127.0.0.1:8640").value(), (Endpoint{"127.0.0.1", 8640}));
  EXPECT_EQ(ParseEndpoint("[::1]:0").value(), (Endpoint{"::1", 0}));
  for (const std::string_view text : {"", "8640", "a", ":1", "a:1:2", "http://a:1", "a:-1"}) {
    const auto endpoint = ParseEndpoint(text);
    ASSERT_FALSE(endpoint.ok()) << text;
    EXPECT_EQ(endpoint.error().code, Code::kUsage);
    EXPECT_TRUE(TextFits(endpoint.error().message, {.has = {"127.0.0.1:8640"}}));
  }
}

}  // namespace
}  // namespace weir::net
