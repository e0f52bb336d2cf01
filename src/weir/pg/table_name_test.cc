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

}  // namespace
}  // namespace weir::pg
