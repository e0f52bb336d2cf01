#include "weir/net/request.h"

namespace weir::net {
namespace {

TEST(Request, MethodsHaveNames) {
  for (const Method method : kMethods) EXPECT_EQ(ParseMethod(MethodName(method)), method);
  for (const std::string_view word : {"", "get", "OPTIONS", "CONNECT", "GETX"}) {
    EXPECT_EQ(ParseMethod(word), std::nullopt) << word;
  }
}

TEST(Response, ErrorsAreJsonWhateverTheySay) {
  const Response response = ErrorResponse(404, "no \"x\\y\" in\n\x01 \xFF ä");
  EXPECT_EQ(response.status, 404);
  EXPECT_EQ(response.body, "{\"error\": \"no \\\"x\\\\y\\\" in\\u000a\\u0001 \\ufffd ä\"}\n");
}

TEST(Response, StatusesHaveWords) {
  EXPECT_EQ(StatusWords(200), "OK");
  EXPECT_EQ(StatusWords(100), "Continue");
  EXPECT_EQ(StatusWords(505), "HTTP Version Not Supported");
  EXPECT_EQ(StatusWords(99), "Status");
  EXPECT_EQ(StatusWords(418), "Status");
  EXPECT_EQ(StatusWords(599), "Status");
}

TEST(HeaderList, FindsTheFirstOfAName) {
  HeaderList headers;
  headers.Add("X-Name", "1");
  headers.Add("x-NAME", "2");
  headers.Add("", "");
  EXPECT_EQ(headers.Find("x-name"), "1");
  EXPECT_EQ(headers.Find("other"), "");
  EXPECT_EQ(headers.Count("x-name"), 2u);
  const HeaderList moved = std::move(headers);
  EXPECT_EQ(moved.value(1), "2");
  EXPECT_EQ(moved.name(1), "x-name");
}

TEST(HeaderList, KnowsWhatMayStandInAHead) {
  EXPECT_TRUE(IsToken("X-a_1"));
  for (const std::string_view text : {"", "a b", "a:", "ä", "a\n"}) EXPECT_FALSE(IsToken(text));
  EXPECT_TRUE(IsFieldValue("a\tä \"b\""));
  for (const std::string_view text : {"\n", "a\r", "\x7F", "\x01"}) {
    EXPECT_FALSE(IsFieldValue(text));
  }
}

}  // namespace
}  // namespace weir::net
