#include "weir/pg/target.h"

#include "weir/pg/table_name.h"

namespace weir::pg {
namespace {

TEST(Target, EmptyTextIsNoAddress) {
  for (const char* text : {"", " \n"}) {
    const auto target = Target::Parse(text);
    ASSERT_FALSE(target.ok());
    EXPECT_EQ(target.error().code, Code::kUsage);
  }
}

TEST(Target, DescribesWhatWasWrittenAndNoPassword) {
  const std::vector<std::pair<const char*, const char*>> written = {
      {"postgresql://ann:s3cret@db.example:6543/shop", "ann@db.example:6543/shop"},
      {"postgres://db.example", "db.example"},
      {"postgresql:///shop", "local/shop"},
      {"postgresql:///shop?host=/tmp&password=s3cret", "/tmp/shop"},
      {"host=db.example user=ann password=s3cret sslpassword=other", "ann@db.example"},
      {"hostaddr=127.0.0.1 port=5", "127.0.0.1:5"},
      {"postgresql://a:s3cret@h1:1,h2:2/shop", "a@h1,h2:1,2/shop"},
      {"postgresql://", "local"},
  };
  for (const auto& [text, described] : written) {
    const auto target = Target::Parse(text);
    ASSERT_TRUE(target.ok()) << text;
    EXPECT_EQ(target.value().Describe(), described);
  }
}

TEST(Target, PasswordsOfSpecialCharactersAreKeptExactly) {
  const std::vector<std::pair<const char*, const char*>> written = {
      {"postgresql://ann:p%40ss%2Fw%3Aord%25@h/d", "p@ss/w:ord%"},
      {"postgresql://ann:a:b%3F%23@h/d", "a:b?#"},
      {"postgresql://ann:%C3%BC%20%27%22%5C@h/d", "ü '\"\\"},
      {R"(host=h password='it\'s a \\ here')", R"(it's a \ here)"},
      {"postgresql://h/d?password=p@ss", "p@ss"},
  };
  for (const auto& [text, password] : written) {
    const auto target = Target::Parse(text);
    ASSERT_TRUE(target.ok()) << text;
    EXPECT_EQ(target.value().Get("password"), password);
    EXPECT_EQ(target.value().Describe().find(password), std::string::npos);
  }
}

// Texts in which a password or a part of it would land in another field, and so in messages.
TEST(Target, MalformedAddressesAreRefusedWithoutRepeatingThem) {
  for (const char* text : {
           "postgresql://ann:s3cret@s3cret@h/d",      // A raw @ in the password.
           "postgresql://ann:pa/s3cret@h/d",          // A raw / in the password.
           "postgresql://ann:s3cret%@h/d",            // A raw % in the password.
           "postgresql://ann:s3cret%zz@h/d",
           "postgresql://ann:s3cret/d",               // The host forgotten.
           "postgresql://h:s3cret",
           "postgresql://[::1/s3cret",
           "postgresql://ann:a?b/s3cret@h/d",
           "postgresql://ann@h/d?password",
           "postgresql://ann@h/d?s3cret=x",
           "host=h password='s3cret",                 // The quote is not closed.
           "host=h password=my s3cret",               // A space without quotes.
           "host=h port=s3cret",
           "s3cret",
           "mysql://ann:s3cret@h/d",
       }) {
    const auto target = Target::Parse(text);
    ASSERT_FALSE(target.ok()) << text;
    EXPECT_EQ(target.error().code, Code::kUsage);
    EXPECT_EQ(target.error().message.find("s3cret"), std::string::npos) << target.error().message;
    EXPECT_NE(target.error().message.find("percent-encode"), std::string::npos);
  }
}

TEST(Target, SetReplacesOrAdds) {
  Target target = Target::Parse("postgresql://ann:old@h/d").value();
  target.Set("password", "new");
  target.Set("sslmode", "require");
  EXPECT_EQ(target.Get("password"), "new");
  EXPECT_EQ(target.Get("sslmode"), "require");
  EXPECT_EQ(target.Get("sslcert"), "");
}

TEST(Target, RedactHidesEverySecret) {
  Target target = Target::Parse("postgresql://ann:p%40ss@h/d?sslpassword=key").value();
  EXPECT_EQ(target.Redact("p@ss and p@ss, ann, key"), "*** and ***, ann, ***");
  EXPECT_EQ(target.Redact("nothing to hide"), "nothing to hide");
  target.Set("password", "*");
  EXPECT_EQ(target.Redact("a*b"), "a***b");
}

TEST(Target, AnAddressInPlaceOfATableIsNotRepeated) {
  const auto name = TableName::Parse("postgresql://ann:s3cret@h/d");
  ASSERT_FALSE(name.ok());
  EXPECT_EQ(name.error().message.find("s3cret"), std::string::npos) << name.error().message;
}

}  // namespace
}  // namespace weir::pg
