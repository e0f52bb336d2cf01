#include "weir/queue/migrations.h"

#include <thread>

#include "tests/support/postgres.h"

namespace weir::queue {
namespace {

class MigrationsTest : public testing::Test {
 protected:
  std::unique_ptr<pg::Connection> Connect() {
    return pg::Connection::Open(pg::Target::Parse(database_.url()).value(), "weir test", stop_)
        .value();
  }
  int64_t Objects() {
    return std::stoll(database_.Text(
        "SELECT count(*) FROM pg_depend d JOIN pg_namespace n ON d.refobjid = n.oid "
        "WHERE nspname = 'weir_queue' AND refclassid = 'pg_namespace'::regclass"));
  }

  test::Database database_;
  sys::Stop stop_;
};

// Each step down takes away all that its step up made, also where jobs are.
TEST_F(MigrationsTest, GoUpAndDownStepByStep) {
  const auto connection = Connect();
  const int latest = static_cast<int>(Migrations().size());
  EXPECT_EQ(CheckSchema(*connection).error().code, Code::kInvalid);
  ASSERT_TRUE(MigrateTo(*connection, 0).ok());
  std::vector<int64_t> objects = {Objects()};
  for (int version = 1; version <= latest; ++version) {
    const Status done = MigrateTo(*connection, version);
    ASSERT_TRUE(done.ok()) << done.error().message;
    EXPECT_EQ(SchemaVersion(*connection).value(), version);
    objects.push_back(Objects());
  }
  ASSERT_TRUE(CheckSchema(*connection).ok());
  database_.Text("SELECT weir_queue.enqueue('noop', tag => 'a')");
  for (int version = latest - 1; version >= 0; --version) {
    const Status done = MigrateTo(*connection, version);
    ASSERT_TRUE(done.ok()) << done.error().message;
    EXPECT_EQ(Objects(), objects[static_cast<size_t>(version)]) << version;
  }
  ASSERT_TRUE(Migrate(*connection).ok());
  ASSERT_TRUE(Migrate(*connection).ok());
  EXPECT_EQ(SchemaVersion(*connection).value(), latest);
}

TEST_F(MigrationsTest, ManyAtOnceMigrateOnce) {
  std::vector<std::thread> threads;
  for (int at = 0; at < 4; ++at) {
    threads.emplace_back([&] {
      const Status done = Migrate(*Connect());
      EXPECT_TRUE(done.ok()) << done.error().message;
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_TRUE(CheckSchema(*Connect()).ok());
}

TEST_F(MigrationsTest, AStepThatFailsChangesNothing) {
  const auto connection = Connect();
  ASSERT_TRUE(MigrateTo(*connection, 1).ok());
  const int64_t before = Objects();
  database_.Exec("CREATE FUNCTION weir_queue.wake(integer) RETURNS void LANGUAGE sql AS ''");
  const Status refused = Migrate(*connection);
  ASSERT_FALSE(refused.ok());
  EXPECT_NE(refused.error().message.find("schema version 2"), std::string::npos);
  EXPECT_EQ(SchemaVersion(*connection).value(), 1);
  EXPECT_EQ(Objects(), before + 1);
  database_.Exec("DROP FUNCTION weir_queue.wake(integer)");
  EXPECT_TRUE(Migrate(*connection).ok());
}

TEST_F(MigrationsTest, ANewerSchemaAndAForeignOneAreLeftAlone) {
  const auto connection = Connect();
  ASSERT_TRUE(Migrate(*connection).ok());
  database_.Exec("UPDATE weir_queue.schema_version SET version = 1000");
  for (const Status& refused : {Migrate(*connection), CheckSchema(*connection)}) {
    ASSERT_FALSE(refused.ok());
    EXPECT_EQ(refused.error().code, Code::kInvalid);
    EXPECT_NE(refused.error().message.find("use the newer weir"), std::string::npos);
  }
  database_.Exec("DROP SCHEMA weir_queue CASCADE; CREATE SCHEMA weir_queue");
  const Status foreign = Migrate(*connection);
  ASSERT_FALSE(foreign.ok());
  EXPECT_NE(foreign.error().message.find("not weir's"), std::string::npos);
  EXPECT_EQ(Objects(), 0);
}

}  // namespace
}  // namespace weir::queue
