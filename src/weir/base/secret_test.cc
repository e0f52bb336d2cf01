#include "weir/base/secret.h"

namespace weir {
namespace {

TEST(HidePasswords, HidesThemInUrlsAndConnectionStrings) {
  const std::vector<std::pair<const char*, const char*>> texts = {
      {"", ""},
      {"no address: a@b:c", "no address: a@b:c"},
      {"postgresql://ann:s3cret@h:5432/d", "postgresql://ann:***@h:5432/d"},
      {"postgresql://ann@h:5432/d", "postgresql://ann@h:5432/d"},
      {"postgresql://h:5432/d?x=a:b@c", "postgresql://h:5432/d?x=a:b@c"},
      {"postgresql://h:5432", "postgresql://h:5432"},
      {"postgresql://h1:1,h2:2/d", "postgresql://h1:***"},
      {"postgresql://ann:p@s3cret@h/d", "postgresql://ann:***@h/d"},
      {"postgresql://ann:pa/s3:cret@h/d", "postgresql://ann:***@h/d"},
      {"postgresql://ann:s3cret", "postgresql://ann:***"},
      {"postgresql://ann:5s3cret", "postgresql://ann:***"},
      {"postgresql://ann:s3cret/d", "postgresql://ann:***"},
      {"'postgresql://ann:s3cret@h' and postgres://bob:x@i.", "'postgresql://ann:***@h' and "
                                                              "postgres://bob:***@i."},
      {"postgresql://ann@h/d?password=s3cret&x=1", "postgresql://ann@h/d?password=***&x=1"},
      {"host=h password=s3cret user=u", "host=h password=*** user=u"},
      {R"(password='it\'s s3cret' user=u)", "password=*** user=u"},
      {"sslpassword=s3cret", "sslpassword=***"},
      {"password='s3cret", "password=***"},
      {"password=", "password=***"},
  };
  for (const auto& [text, hidden] : texts) EXPECT_EQ(HidePasswords(text), hidden);
}

}  // namespace
}  // namespace weir
