#include "weir/pg/table_name.h"

namespace weir::pg {
namespace {

struct Row {
  const char* text;
  TableName want;
  const char* file_name;
};

TEST(TableName, ReadsAsPsqlDoes) {
  const Row table[] = {
      {"users", {"", "users"}, "users"},
      {"Public.Users", {"public", "users"}, "public.users"},
      {"\"Users\"", {"", "Users"}, "Users"},
      {"shop.\"Odd.\"\"Name\"\"\"", {"shop", "Odd.\"Name\""}, "shop.Odd%2E%22Name%22"},
      {"_a1$", {"", "_a1$"}, "_a1%24"},
      {"t\xc3\xa4glich", {"", "t\xc3\xa4glich"}, "t\xc3\xa4glich"},
      {"\"a/b\".\"..\"", {"a/b", ".."}, "a%2Fb.%2E%2E"},
  };
  for (const Row& row : table) {
    const auto parsed = TableName::Parse(row.text);
    ASSERT_TRUE(parsed.ok()) << parsed.error().message;
    EXPECT_EQ(parsed.value(), row.want) << row.text;
    EXPECT_EQ(parsed.value().FileName(), row.file_name);
  }
}

TEST(TableName, RefusesWhatIsNotOneName) {
  const std::pair<std::string, const char*> table[] = {
      {"", "'' is not a table's name: a part of it is empty"},
      {"a.", "'a.' is not a table's name: a part of it is empty"},
      {".a", "'.a' is not a table's name: a part of it is empty"},
      {"a.b.c", "'a.b.c' is not a table's name: it has more than two parts"},
      {"1a",
       "'1a' is not a table's name: write [schema.]name, with double quotes around odd "
       "characters"},
      {"\"a\"b",
       "'\"a\"b' is not a table's name: write [schema.]name, with double quotes around "
       "odd characters"},
      {"\"a", "'\"a' is not a table's name: a double quote is not closed"},
      {std::string(65, 'a'),
       "'aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa' is not a table's name: "
       "a part of it is longer than 63 bytes"},
  };
  for (const auto& [text, message] : table) {
    const auto parsed = TableName::Parse(text);
    ASSERT_FALSE(parsed.ok()) << text;
    EXPECT_EQ(parsed.error().code, Code::kUsage);
    EXPECT_EQ(parsed.error().message, message);
  }
}

TEST(ColumnNames, ReadAsPsqlDoes) {
  using Names = std::vector<std::string>;
  EXPECT_EQ(ParseColumnNames("id").value(), Names{"id"});
  EXPECT_EQ(ParseColumnNames("Id, price ,_x1").value(), (Names{"id", "price", "_x1"}));
  EXPECT_EQ(ParseColumnNames(R"("a,b",c)").value(), (Names{"a,b", "c"}));
  EXPECT_EQ(ParseColumnNames(R"("Odd ""name""","[x]")").value(), (Names{R"(Odd "name")", "[x]"}));
  for (const char* text : {"", ",", "a,", "a,,b", "\"a", "\"\"", "a b", "a.b", "\"a\"b", "1a"}) {
    const auto names = ParseColumnNames(text);
    ASSERT_FALSE(names.ok()) << text;
    EXPECT_EQ(names.error().code, Code::kUsage);
    EXPECT_TRUE(names.error().message.starts_with(fmt::format("'{}' is not a list of columns: ",
                                                              text)));
  }
  EXPECT_EQ(ParseColumnNames("postgresql://ann:s3cret@h/d").error().message.find("s3cret"),
            std::string::npos);
}

}  // namespace
}  // namespace weir::pg
