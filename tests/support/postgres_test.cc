#include "tests/support/postgres.h"

#include <gtest/gtest.h>

#include <unistd.h>

#include <cstdlib>

#include "tests/support/folder.h"
#include "tests/support/seeds.h"

namespace weir::test {
namespace {

TEST(TestDatabase, EachIsEmptyAndApart) {
  Database one;
  Database two;
  one.Exec("CREATE TABLE t AS SELECT 1 AS a; INSERT INTO t VALUES (2)");
  EXPECT_EQ(one.Text("SELECT count(*) FROM t"), "2");
  EXPECT_EQ(two.Text("SELECT to_regclass('t')"), "");
  EXPECT_EQ(two.Text("SELECT current_database()"), two.name());
}

TEST(TestDatabase, IsDroppedAtTheEnd) {
  std::string name;
  {
    Database gone;
    name = gone.name();
  }
  Database db;
  EXPECT_EQ(db.Text("SELECT count(*) FROM pg_database WHERE datname = '" + name + "'"), "0");
}

TEST(TestDatabaseDeathTest, FailuresNameTheStatement) {
  Database db;
  EXPECT_DEATH(db.Exec("SELECT nothing_here"), "SELECT nothing_here.*does not exist");
  EXPECT_DEATH(db.Text("SELECT 1 WHERE false"), "no row");
}

TEST(TempFolder, HoldsFilesAndGoesAway) {
  std::string path;
  {
    TempFolder folder;
    path = folder.Write("a", "text");
    EXPECT_EQ(folder.Read("a"), "text");
  }
  EXPECT_NE(access(path.c_str(), F_OK), 0);
}

TEST(Seeds, OneCanBeRunAlone) {
  for (const char* name : {"WEIR_SEED", "WEIR_SEEDS", "WEIR_LONG"}) unsetenv(name);
  EXPECT_EQ(Seeds(3), (std::vector<uint64_t>{1, 2, 3}));
  setenv("WEIR_LONG", "1", 1);
  EXPECT_EQ(Seeds(3).size(), 75U);
  setenv("WEIR_SEEDS", "1", 1);
  EXPECT_EQ(Seeds(3), (std::vector<uint64_t>{1}));
  setenv("WEIR_SEED", "42", 1);
  EXPECT_EQ(Seeds(3), (std::vector<uint64_t>{42}));
  for (const char* name : {"WEIR_SEED", "WEIR_SEEDS", "WEIR_LONG"}) unsetenv(name);
}

}  // namespace
}  // namespace weir::test
